/*
 * Which way a strategy is asked, and the short one: a call.  Knows plugs and
 * clocks; refuses to know trials.
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/server/suggest/suggest-internal.h"
#include "src/server/plugins/plugins.h"
#include "strategies/strategy.h"

struct asker {
	struct asker_env env;
	struct ask_worker *worker; /* or NULL */
	struct ask_child *child; /* or NULL */
};

bool
question_same(const struct question *a, const struct question *b)
{
	return a->trial == b->trial && a->n_enqueued == b->n_enqueued &&
	       a->redraw == b->redraw && a->convergence == b->convergence;
}

void
answer_decode(struct answer *out, const struct asker_env *env, double *x)
{
	space_snap(env->study->space, x);
	space_decode(env->study->space, x, out->values);
}

void
ask_tell_status(int status, char *text, size_t n)
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
ask_log(const struct asker_env *env)
{
	return env->state_dir != NULL
		   ? xasprintf("%s/strategy.log", env->state_dir)
		   : NULL;
}

int
asker_check(const struct plugs *plugs, const struct study *study, struct err *e)
{
	if (plugs->strategy->outside)
		return ask_child_check(plugs, e);
	if ((!plugs->strategy->slow && plugs->convergence == NULL) ||
	    ask_worker_check(study, e) == 0)
		return 0;
	return plugs->strategy->slow
		   ? err_add(e, "the strategy %s", plugs->strategy->name)
		   : err_add(e, "limits.convergence");
}

int
asker_open(struct asker **out, const struct asker_env *env, struct err *e)
{
	struct asker *a = xcalloc(1, sizeof *a);
	int rc = 0;

	a->env = *env;
	/* A program that has ended is no reason to end. */
	(void)signal(SIGPIPE, SIG_IGN);
	if (env->plugs->strategy->outside)
		rc = ask_child_open(&a->child, &a->env, e);
	else if (env->plugs->strategy->slow)
		rc = ask_worker_open(&a->worker, &a->env, e);
	if (rc != 0) {
		asker_close(a);
		return -1;
	}
	*out = a;
	return 0;
}

void
asker_close(struct asker *a)
{
	if (a == NULL)
		return;
	ask_worker_close(a->worker);
	ask_child_close(a->child);
	free(a);
}

/* In this process, at once. */
static enum asked
ask_here(const struct asker_env *env, const struct question *q,
    struct answer *out, struct err *e)
{
	const struct plugs *plugs = env->plugs;
	const struct space *space = env->study->space;
	struct strategy_ask ask = {
		.space = space,
		.history = env->history,
		.seed = env->seed,
		.trial = q->trial,
		.n_enqueued = q->n_enqueued,
		.redraw = q->redraw,
		.max_steps = env->study->trial.max_steps,
	};
	struct suggestion s = { .made_by = "cpu" };
	int64_t began = loop_wall_us(env->loop), took;
	int rc;

	s.x = xcalloc(space->n, sizeof *s.x);
	rc = plugs->strategy->suggest(&s, &ask, plugs->strategy_options, e);
	if (rc == 0) {
		answer_decode(out, env, s.x);
		out->from = s.from;
		out->member = s.member;
		out->until = s.until;
		(void)snprintf(
		    out->made_by, sizeof out->made_by, "%s", s.made_by);
		took = loop_wall_us(env->loop) - began;
		out->seconds = took > 0 ? (double)took / 1e6 : 0;
	}
	free(s.x);
	return rc == 0	 ? ASKED_POINT
	       : rc == 1 ? ASKED_EMPTY
	       : rc > 1	 ? ASKED_LATER
			 : ASKED_FAILED;
}

enum asked
asker_ask(struct asker *a, const struct question *q, struct answer *out,
    struct err *e)
{
	out->from = out->member = out->until = 0;
	out->seconds = 0;
	*out->made_by = '\0';
	if (a->worker != NULL)
		return ask_worker_ask(a->worker, q, out, e);
	if (a->child != NULL)
		return ask_child_ask(a->child, q, out, e);
	return ask_here(&a->env, q, out, e);
}

/* What asker_wait keeps while the loop runs. */
struct wait {
	struct asker *asker;
	const struct question *q;
	struct answer *out;
	struct err *err;
	enum asked asked;
};

static void
on_turn(void *arg)
{
	struct wait *w = arg;

	w->asked = asker_ask(w->asker, w->q, w->out, w->err);
	if (w->asked != ASKED_LATER)
		loop_stop(w->asker->env.loop);
}

enum asked
asker_wait(struct asker *a, const struct question *q, struct answer *out,
    struct err *e)
{
	struct wait w = { .asker = a, .q = q, .out = out, .err = e };

	loop_run(a->env.loop, on_turn, &w);
	return w.asked;
}

void
asker_drop(struct asker *a)
{
	if (a->worker != NULL)
		ask_worker_drop(a->worker);
	if (a->child != NULL)
		ask_child_drop(a->child);
}
