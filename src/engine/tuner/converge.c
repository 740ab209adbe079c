/*
 * limits.convergence: whether the search has converged.  Checked when there is
 * room for a trial and others have ended since the last check.  The answer
 * depends only on ended trials, so it is not recorded: a restart computes it
 * again.
 */

#include <inttypes.h>
#include <stdio.h>

#include "src/base/err.h"
#include "src/engine/suggest/suggest.h"
#include "src/engine/tuner/converge.h"
#include "src/engine/tuner/limits.h"
#include "src/engine/tuner/paused.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "strategies/strategy.h"

void
converge_open(struct convergence *c)
{
	*c = (struct convergence){ .at = -1 };
}

void
converge_close(struct convergence *c)
{
	suggest_close(c->suggester);
}

static void
converge_on_event(void *arg, enum log_level level, const char *text)
{
	/* Events about the device of the computation are not recorded. */
	(void)arg;
	(void)level;
	(void)text;
}

static enum suggest_result
converge_ask(struct tuner *t, struct err *e)
{
	struct suggest_env env = {
		.loop = t->env.loop,
		.study = t->study,
		.history = t->history,
		.seed = t->row.seed,
		.state_dir = t->env.state_dir,
		.event = converge_on_event,
		.arg = t,
	};
	struct suggest_question q = { .trial = t->outcomes.n_news,
		.convergence = true };
	struct suggest_answer unused = { .values = NULL };

	t->convergence.plugins =
	    (struct plugins){ .strategy = &strategy_convergence,
		    .strategy_options = t->plugins.convergence };
	env.plugins = &t->convergence.plugins;
	if (t->convergence.suggester == NULL &&
	    suggest_open(&t->convergence.suggester, &env, e) != 0)
		return SUGGEST_FAILED;
	return suggest_ask(t->convergence.suggester, &q, &unused, e);
}

/* Store the result for the trials ended so far. */
static void
converge_settle(struct tuner *t, bool converged)
{
	t->convergence.at = t->outcomes.n_news;
	t->convergence.converged = converged;
	t->suggesting = false;
}

bool
converge_known(struct tuner *t)
{
	struct err e = ERR_INIT;
	double least;

	if (t->plugins.convergence == NULL || t->convergence.broken ||
	    t->convergence.at == t->outcomes.n_news ||
	    (!limits_allow_new(t) && t->paused_set.n == 0))
		return true;
	least = plugin_option_number(t->plugins.convergence, "min_trials");
	if ((double)t->outcomes.n_news < least) {
		converge_settle(t, false);
		return true;
	}
	switch (converge_ask(t, &e)) {
	case SUGGEST_POINT:
		converge_settle(t, false);
		return true;
	case SUGGEST_EXHAUSTED:
		converge_settle(t, true);
		(void)snprintf(t->convergence.why, sizeof t->convergence.why,
		    "converged after %" PRId64
		    " trials (limits.convergence): %.170s",
		    t->outcomes.n_news, e.text);
		tuner_event(
		    t, LOG_LEVEL_INFO, "study", 0, 0, "%s", t->convergence.why);
		return true;
	case SUGGEST_LATER:
		t->suggesting = true;
		return false;
	case SUGGEST_FAILED:
		break;
	}
	/* After a failure only the other limits end the study. */
	t->convergence.broken = true;
	t->suggesting = false;
	tuner_event(t, LOG_LEVEL_WARN, "study", 0, 0,
	    "limits.convergence is no longer checked: %s", e.text);
	return true;
}
