/*
 * Selects how a strategy is asked, and asks those that answer in this process.
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/engine/suggest/suggest-internal.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/plugins/plugins.h"
#include "strategies/strategy.h"

/* The answer to the next question, computed before it is asked. */
struct ahead {
	bool asked, ready; /* in hpotune-worker; answered */
	bool declined; /* there is none for this question */
	struct suggest_question q;
	struct suggest_use use;
	int64_t best; /* trial, then */
	struct suggest_answer answer; /* values is an array of its own */
};

struct suggester {
	struct suggest_env env;
	const struct suggest_way
	    *way; /* to a strategy that is slow or outside */
	void *program; /* of it, or NULL: not opened yet */
	bool pending; /* the last question is not answered */
	struct suggest_question q; /* the last one */
	struct suggest_use use; /* for it */
	struct ahead ahead;
	/* The worker failed: the study continues without slow strategies. */
	bool no_worker;
};

bool
suggest_question_same(
    const struct suggest_question *a, const struct suggest_question *b)
{
	return a->trial == b->trial && a->n_enqueued == b->n_enqueued &&
	       a->redraw == b->redraw && a->convergence == b->convergence;
}

void
suggest_answer_decode(
    struct suggest_answer *out, const struct suggest_env *env, double *x)
{
	space_snap(env->study->space, x);
	space_decode(env->study->space, x, out->values);
}

void
suggest_exit_text(int status, char *text, size_t n)
{
	if (WIFSIGNALED(status))
		(void)snprintf(
		    text, n, "was killed by signal %d", WTERMSIG(status));
	else if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		(void)snprintf(
		    text, n, "ended with status %d", WEXITSTATUS(status));
	else
		(void)snprintf(text, n, "ended");
}

char *
suggest_log_path(const struct suggest_env *env)
{
	return env->state_dir != NULL
		   ? xasprintf("%s/strategy.log", env->state_dir)
		   : NULL;
}

int
suggest_check(
    const struct plugins *plugins, const struct study *study, struct err *e)
{
	if (plugins->strategy->outside)
		return suggest_external.check(plugins, study, e);
	if ((!plugins->strategy->slow && plugins->convergence == NULL) ||
	    suggest_worker.check(plugins, study, e) == 0)
		return 0;
	return plugins->strategy->slow
		   ? err_add(e, "the strategy %s", plugins->strategy->name)
		   : err_add(e, "limits.convergence");
}

int
suggest_open(
    struct suggester **out, const struct suggest_env *env, struct err *e)
{
	struct suggester *a = xcalloc(1, sizeof *a);
	int rc = 0;

	a->env = *env;
	a->ahead.answer.values =
	    xcalloc(env->study->space->n, sizeof *a->ahead.answer.values);
	/* Writing to a program that has exited must not end the server. */
	(void)signal(SIGPIPE, SIG_IGN);
	a->way = env->plugins->strategy->outside ? &suggest_external
						 : &suggest_worker;
	if (env->plugins->strategy->outside || env->plugins->strategy->slow)
		rc = a->way->open(&a->program, &a->env, e);
	if (rc != 0) {
		suggest_close(a);
		return -1;
	}
	*out = a;
	return 0;
}

void
suggest_close(struct suggester *a)
{
	if (a == NULL)
		return;
	a->way->close(a->program);
	free(a->ahead.answer.values);
	free(a);
}

static struct strategy_ask
ask_of(const struct suggester *a)
{
	return (struct strategy_ask){
		.space = a->env.study->space,
		.history = a->env.history,
		.seed = a->env.seed,
		.trial = a->q.trial,
		.n_enqueued = a->q.n_enqueued,
		.redraw = a->q.redraw,
		.max_steps = a->env.study->trial.max_steps,
		.n_known = a->q.n_known,
		.trial_seconds = a->q.trial_seconds,
		.time_limited = a->q.time_limited,
		.time_used = a->q.time_used,
		.no_worker = a->no_worker,
	};
}

static void
use_choose(struct suggester *a)
{
	const struct strategy *own = a->env.plugins->strategy;
	struct strategy_ask ask;

	a->use = (struct suggest_use){ .strategy = own };
	a->q.n_known = 0;
	if (own->choose == NULL || a->q.convergence)
		return;
	ask = ask_of(a);
	a->use.strategy = own->choose(&ask, &a->use.why);
	a->q.n_known = ask.n_known;
}

/* In this process, at once. */
static enum suggest_result
ask_here(struct suggester *a, struct suggest_answer *out, struct err *e)
{
	const struct suggest_env *env = &a->env;
	const struct plugins *plugins = env->plugins;
	const struct space *space = env->study->space;
	const struct strategy *strategy = a->use.strategy;
	struct strategy_ask ask = ask_of(a);
	struct option_value *defaults = NULL;
	struct suggestion s = { .made_by = "cpu" };
	int64_t began = loop_wall_us(env->loop), took;
	int rc = 0;

	s.x = xcalloc(space->n, sizeof *s.x);
	if (strategy != plugins->strategy)
		rc = plugin_options_read(
		    &defaults, strategy->options, NULL, NULL, e);
	if (rc == 0)
		rc = strategy_suggest(strategy, &s, &ask,
		    strategy == plugins->strategy ? plugins->strategy_options
						  : defaults,
		    e);
	plugin_options_free(defaults);
	if (rc == 0) {
		suggest_answer_decode(out, env, s.x);
		out->from = s.from;
		out->member = s.member;
		out->until = s.until;
		out->fits = s.fits;
		out->memory = s.memory;
		(void)snprintf(
		    out->made_by, sizeof out->made_by, "%s", s.made_by);
		took = loop_wall_us(env->loop) - began;
		out->seconds = took > 0 ? (double)took / 1e6 : 0;
	}
	free(s.x);
	return rc == 0	 ? SUGGEST_POINT
	       : rc == 1 ? SUGGEST_EXHAUSTED
	       : rc > 1	 ? SUGGEST_LATER
			 : SUGGEST_FAILED;
}

static enum suggest_result
ask_used(struct suggester *a, struct suggest_answer *out, struct err *e)
{
	const struct strategy *use = a->use.strategy;

	if (!use->slow && !use->outside)
		return ask_here(a, out, e);
	if (a->program == NULL && a->way->open(&a->program, &a->env, e) != 0)
		return SUGGEST_FAILED;
	return a->way->ask(a->program, &a->q, use, out, e);
}

/* The study's strategy selects others: continue with a fast one. */
static void
worker_give_up(struct suggester *a, struct err *e)
{
	const char *slow = a->use.strategy->name;
	char *text;

	a->way->close(a->program);
	a->program = NULL;
	a->no_worker = true;
	use_choose(a);
	text = xasprintf("%s cannot be used, %s is: %s", slow,
	    a->use.strategy->name, e->text);
	a->env.event(a->env.arg, LOG_LEVEL_WARN, text);
	free(text);
	*e = (struct err)ERR_INIT;
}

static void
ahead_drop(struct suggester *a)
{
	if (a->ahead.asked && !a->ahead.ready && a->program != NULL)
		a->way->cancel(a->program);
	a->ahead.asked = a->ahead.ready = a->ahead.declined = false;
}

static size_t
trials_running(const struct history *h)
{
	int64_t i, count = history_count(h);
	size_t n = 0;

	for (i = 1; i <= count; i++)
		n += history_state(h, i) == TRIAL_RUNNING;
	return n;
}

/* Whether the answer that is computed ahead may be the one to this question. */
static bool
ahead_is_good(const struct suggester *a, const struct suggest_question *q)
{
	const struct ahead *h = &a->ahead;

	return h->asked && suggest_question_same(q, &h->q) &&
	       q->ended - h->q.ended <= 1 &&
	       (q->ended == h->q.ended ||
		   history_best(a->env.history) == h->best);
}

/* Whether the question may be computed before there is room for its answer. */
static bool
ahead_can(const struct suggester *a)
{
	return a->way == &suggest_worker && a->use.strategy->slow &&
	       a->use.strategy->ahead && trials_running(a->env.history) > 1;
}

static void
ahead_begin(struct suggester *a, const struct suggest_question *q)
{
	struct ahead *h = &a->ahead;

	/*
	 * A question that was asked while there was room goes on, unless a
	 * trial has ended since.
	 */
	bool same = a->pending && suggest_question_same(q, &a->q) &&
		    q->ended == a->q.ended;

	if (a->pending && !same)
		suggest_cancel(a);
	if (!same) {
		a->q = *q;
		use_choose(a);
	}
	a->pending = false;
	h->q = a->q;
	h->use = a->use;
	h->best = history_best(a->env.history);
	h->asked = same || ahead_can(a);
	h->declined = !h->asked;
}

bool
suggest_ahead(struct suggester *a, const struct suggest_question *q)
{
	struct ahead *h = &a->ahead;
	struct err e = ERR_INIT;
	enum suggest_result rc;

	if ((h->asked || h->declined) &&
	    (!suggest_question_same(q, &h->q) || q->ended != h->q.ended))
		ahead_drop(a);
	if (!h->asked && !h->declined)
		ahead_begin(a, q);
	if (!h->asked || h->ready)
		return h->ready;
	rc = ask_used(a, &h->answer, &e);
	h->ready = rc == SUGGEST_POINT;
	if (!h->ready && rc != SUGGEST_LATER) {
		/* The question itself will show the error. */
		h->asked = false;
		h->declined = true;
	}
	return h->ready;
}

/* Whether the answer is there already. */
static bool
ahead_take(struct suggester *a, const struct suggest_question *q,
    struct suggest_answer *out)
{
	struct ahead *h = &a->ahead;
	struct value *values = out->values;
	bool ready;

	if (!ahead_is_good(a, q)) {
		ahead_drop(a);
		return false;
	}
	ready = h->ready;
	a->q = h->q;
	a->use = h->use;
	a->pending = !ready;
	if (ready) {
		*out = h->answer;
		out->values = values;
		memcpy(values, h->answer.values,
		    a->env.study->space->n * sizeof *values);
	}
	h->asked = h->ready = false;
	return ready;
}

enum suggest_result
suggest_ask(struct suggester *a, const struct suggest_question *q,
    struct suggest_answer *out, struct err *e)
{
	enum suggest_result rc;

	out->from = out->member = out->until = 0;
	out->seconds = out->fits = out->memory = 0;
	*out->made_by = '\0';
	if (!a->pending && ahead_take(a, q, out)) {
		out->strategy = a->use.strategy->name;
		out->why = a->use.why;
		return SUGGEST_POINT;
	}
	if (!a->pending || !suggest_question_same(q, &a->q)) {
		a->q = *q;
		use_choose(a);
	}
	rc = ask_used(a, out, e);
	if (rc == SUGGEST_FAILED && a->use.strategy->slow &&
	    a->env.plugins->strategy->choose != NULL) {
		worker_give_up(a, e);
		rc = ask_used(a, out, e);
	}
	a->pending = rc == SUGGEST_LATER;
	out->strategy = a->use.strategy->name;
	out->why = a->use.why;
	return rc;
}

void
suggest_cancel(struct suggester *a)
{
	a->pending = false;
	ahead_drop(a);
	if (a->program != NULL)
		a->way->cancel(a->program);
}
