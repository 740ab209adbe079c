/*
 * Slow strategies: in the simulator every strategy exists twice, unchanged and
 * as a slow one, "slow-random". hpotune-worker is simulated here: a request is
 * answered from the history at that moment, but delivered later on the virtual
 * clock, and sometimes its process dies and the request is repeated.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/engine/suggest/suggest-internal.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/plugins/plugins.h"
#include "strategies/strategy.h"

extern const struct strategy strategy_grid, strategy_pbt, strategy_random,
    strategy_sobol;

static struct strategy slow[3];
const struct strategy *const strategies[] = { &strategy_random, &strategy_sobol,
	&strategy_grid, &slow[0], &slow[1], &slow[2], &strategy_pbt, NULL };

const struct strategy *
strategy_find(const char *name)
{
	static const char *const names[] = { "slow-random", "slow-sobol",
		"slow-grid" };
	size_t i;

	for (i = 0; i < 3; i++) {
		slow[i] = *strategies[i];
		slow[i].name = names[i];
		slow[i].slow = slow[i].ahead = true;
	}
	for (i = 0; strategies[i] != NULL; i++)
		if (strcmp(strategies[i]->name, name) == 0)
			return strategies[i];
	return NULL;
}

struct suggest_worker {
	const struct suggest_env *env;
	struct loop_timer *timer;
	struct rng dice;
	bool asked, told;
	struct suggest_question q;
	double *x;
	int rc;
};

static void
on_told(void *arg)
{
	struct suggest_worker *w = arg;

	w->told = true;
}

static int
worker_check(
    const struct plugins *plugins, const struct study *study, struct err *e)
{
	(void)plugins;
	(void)study;
	(void)e;
	return 0;
}

static int
worker_open(void **out, const struct suggest_env *env, struct err *e)
{
	struct suggest_worker *w = xcalloc(1, sizeof *w);

	(void)e;
	w->env = env;
	w->timer = loop_timer_new(env->loop, on_told, w);
	w->x = xcalloc(env->study->space->n, sizeof *w->x);
	rng_init(&w->dice, env->seed, (uint64_t)loop_now_ms(env->loop));
	*out = w;
	return 0;
}

static void
worker_close(void *arg)
{
	struct suggest_worker *w = arg;

	if (w == NULL)
		return;
	loop_timer_free(w->timer);
	free(w->x);
	free(w);
}

static void
put(struct suggest_worker *w, const struct suggest_question *q)
{
	const struct plugins *plugins = w->env->plugins;
	struct strategy_ask ask = { .space = w->env->study->space,
		.history = w->env->history,
		.seed = w->env->seed,
		.trial = q->trial,
		.n_enqueued = q->n_enqueued,
		.redraw = q->redraw };
	struct suggestion s = { .x = w->x, .made_by = "cpu" };
	int64_t delay;

	w->asked = true;
	w->told = false;
	w->q = *q;
	w->rc = plugins->strategy->suggest(
	    &s, &ask, plugins->strategy_options, NULL);
	delay = 1 + (int64_t)rng_below(&w->dice, 500);
	/* So long that the slot is used for second looks. */
	if (w->env->seed % 3 == 0)
		delay *= 40;
	loop_timer_set(w->timer, delay);
}

static enum suggest_result
worker_ask(void *arg, const struct suggest_question *q,
    const struct strategy *strategy, struct suggest_answer *out, struct err *e)
{
	struct suggest_worker *w = arg;

	(void)strategy;
	(void)e;
	if (!w->asked || !suggest_question_same(q, &w->q) ||
	    rng_uniform(&w->dice) < 0.02)
		put(w, q);
	if (!w->told)
		return SUGGEST_LATER;
	w->asked = false;
	if (w->rc != 0)
		return SUGGEST_EXHAUSTED;
	suggest_answer_decode(out, w->env, w->x);
	return SUGGEST_POINT;
}

static void
worker_cancel(void *arg)
{
	struct suggest_worker *w = arg;

	w->asked = false;
	loop_timer_stop(w->timer);
}

const struct suggest_way suggest_worker = {
	.check = worker_check,
	.open = worker_open,
	.close = worker_close,
	.ask = worker_ask,
	.cancel = worker_cancel,
};
