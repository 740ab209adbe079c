/* Verdicts common to all families: too late, not finite, suspended. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/model/history/history.h"
#include "strategies/stop/stop-verdict.h"

bool
stop_is_late(const struct stopper_env *env, const struct curve *c, size_t i)
{
	int64_t last = env->last_step > 0 ? env->last_step : env->max_steps;

	return env->max_steps > 0 &&
	       (curve_step(c, i) >= last || i + 1 >= (size_t)env->max_steps);
}

const char *
stop_unit(const struct stopper_env *env)
{
	return env->unit != NULL ? env->unit : "step";
}

bool
stop_diverged(struct judgement *j, const struct stopper_env *env,
    const struct curve *c, size_t i, int64_t after)
{
	size_t n = 0;

	if (after <= 0)
		return false;
	while (n <= i && !isfinite(curve_value(c, i - n)))
		n++;
	if (n < (size_t)after)
		return false;
	j->verdict = VERDICT_STOP;
	j->diverged = true;
	j->value = curve_value(c, i);
	snprintf(j->why, sizeof(j->why),
	    "%zu report%s in a row %s not finite, up to %s %lld", n,
	    n > 1 ? "s" : "", n > 1 ? "are" : "is", stop_unit(env),
	    (long long)curve_step(c, i));
	return true;
}

double
stop_least(const struct curve *c, size_t from, size_t to)
{
	double best = INFINITY;

	for (; from < to; from++)
		if (isfinite(curve_value(c, from)) &&
		    curve_value(c, from) < best)
			best = curve_value(c, from);
	return best;
}

int64_t
stop_guard_find(
    const struct history *h, int64_t guard, stop_guard_test *test, void *rule)
{
	int64_t best[STOP_GUARD_MAX];
	size_t i, n;

	if (guard == 0)
		return 0;
	n = history_bests(h, best, (size_t)guard);
	for (i = 0; i < n; i++)
		if (test(rule, h, best[i]))
			return best[i];
	return 0;
}

void
stop_suspend(const struct history *h, int64_t trial, struct judgement *j)
{
	char test[sizeof(j->why)];

	memcpy(test, j->why, sizeof(test));
	snprintf(j->why, sizeof(j->why),
	    "%.120s, but the rule would have stopped trial %lld, %s", test,
	    (long long)trial,
	    trial == history_best(h) ? "the best" : "one of the best");
	j->verdict = VERDICT_SUSPENDED;
}
