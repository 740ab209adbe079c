/*
 * The series of a rule: what a rule with the options "metric" or "by" reads in
 * place of the curves of the objective, which are the curves of one metric, by
 * the steps of the trial, by the seconds that its attempts ran, or by the cents
 * that they cost.  The rule itself is the same: seconds and cents are the steps
 * of these curves.
 *
 * Two reports of a trial in the same second or cent are one point, the newer
 * one; it was judged when the first one came.  The best completed trial is that
 * of the study, so that a guard protects the trial that the study looks for.
 */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/stop/stop-options.h"
#include "strategies/stop/stop-series.h"
#include "strategies/stopper.h"

const char *const stop_goal_choices[] = { "minimize", "maximize", NULL };
const char *const stop_by_choices[] = { "steps", "seconds", "cost", NULL };

/* The value of an option that not every rule has, or NULL. */
static const struct option_value *
series_option(const struct option_value *values, const char *name)
{
	for (; values != NULL && values->name != NULL; values++)
		if (strcmp(values->name, name) == 0)
			return values;
	return NULL;
}

static const char *
series_text(const struct option_value *values, const char *name)
{
	const struct option_value *v = series_option(values, name);

	return v != NULL && v->is_set ? v->text : NULL;
}

static enum stop_axis
series_axis(const struct option_value *values)
{
	const char *by = series_text(values, "by");

	if (by == NULL || strcmp(by, "steps") == 0)
		return STOP_BY_STEPS;
	return strcmp(by, "seconds") == 0 ? STOP_BY_SECONDS : STOP_BY_CENTS;
}

/* Nothing is known of how many seconds or cents a whole trial takes. */
static int
series_check_shares(
    enum stop_axis axis, const struct option_value *values, struct err *e)
{
	for (; values->name != NULL && axis != STOP_BY_STEPS; values++)
		if (values->given && values->is_share)
			return err_set(e, ERR_USAGE,
			    "%s: a share of trial.max_steps is a number of "
			    "steps, and this rule counts %s: expected a number "
			    "of them",
			    values->name,
			    axis == STOP_BY_SECONDS ? "seconds" : "cents");
	return 0;
}

/* Whether the metric is maximized. */
static int
series_goal(bool *maximize, const char *rule, const char *metric,
    const struct option_value *values, const struct stopper_env *env,
    struct err *e)
{
	const char *goal = series_text(values, "goal");
	bool own = series_text(values, "metric") == NULL ||
		   (env->metric != NULL && strcmp(metric, env->metric) == 0);

	*maximize = env->maximize;
	if (goal != NULL && own &&
	    (strcmp(goal, "maximize") == 0) != env->maximize)
		return err_set(e, ERR_USAGE,
		    "rule \"%s\": study.json says that the objective %s "
		    "is %s",
		    rule, metric, env->maximize ? "maximized" : "minimized");
	if (goal != NULL)
		*maximize = strcmp(goal, "maximize") == 0;
	else if (!own && strcmp(rule, "threshold") != 0)
		return err_set(e, ERR_USAGE,
		    "rule \"%s\": whether %s is minimized or maximized is "
		    "missing: expected \"goal\"",
		    rule, metric);
	return 0;
}

const char *
stop_series_unit(const struct stop_series *s)
{
	switch (s->axis) {
	case STOP_BY_STEPS:
		return "step";
	case STOP_BY_SECONDS:
		return "second";
	case STOP_BY_CENTS:
		return "cent";
	}
	return "";
}

int
stop_series_new(struct stop_series **out, struct stopper_env *rule_env,
    const char *rule, const struct option_value *values,
    const struct stopper_env *env, struct err *e)
{
	const char *metric = series_text(values, "metric");
	const char *against = series_text(values, "against");
	enum stop_axis axis = series_axis(values);
	struct stop_series *s;
	bool maximize;

	*out = NULL;
	*rule_env = *env;
	if (series_option(values, "by") == NULL)
		return 0;
	if (metric == NULL)
		metric = env->metric != NULL ? env->metric : "";
	if (series_goal(&maximize, rule, metric, values, env, e) != 0 ||
	    series_check_shares(axis, values, e) != 0)
		return -1;
	if (axis == STOP_BY_STEPS && against == NULL &&
	    (*metric == '\0' ||
		(env->metric != NULL && strcmp(metric, env->metric) == 0)))
		return 0;
	if (against != NULL && strcmp(against, metric) == 0)
		return err_set(e, ERR_USAGE,
		    "rule \"%s\" compares two metrics: against is %s, too",
		    rule, metric);
	s = xcalloc(1, sizeof(*s));
	s->metric = xstrdup(metric);
	s->axis = axis;
	s->curves = history_new(0, maximize, HISTORY_CURVES);
	if (against != NULL) {
		s->against = xstrdup(against);
		s->against_curves = history_new(0, maximize, HISTORY_CURVES);
	}
	rule_env->maximize = maximize;
	rule_env->series = s->metric;
	rule_env->against = s->against_curves;
	if (axis != STOP_BY_STEPS) {
		rule_env->unit = stop_series_unit(s);
		rule_env->max_steps = rule_env->last_step = 0;
	}
	*out = s;
	return 0;
}

void
stop_series_free(struct stop_series *s)
{
	if (s == NULL)
		return;
	history_free(s->curves);
	history_free(s->against_curves);
	free(s->metric);
	free(s->against);
	free(s);
}

bool
stop_series_reads(const struct stop_series *s, const char *metric)
{
	return strcmp(metric, s->metric) == 0 ||
	       (s->against != NULL && strcmp(metric, s->against) == 0);
}

/* The trial, pending, in the curves. */
static void
series_trial(struct history *h, int64_t trial)
{
	if (trial > history_count(h) ||
	    history_state(h, trial) == TRIAL_WAITING)
		history_add(h, trial, NULL);
}

/* Where a report is on the axis; -1: nothing is known of it. */
static int64_t
series_at(const struct stop_series *s, const struct stop_report *r)
{
	double at = (double)r->step;

	if (s->axis == STOP_BY_SECONDS)
		at = floor(r->spent.seconds);
	else if (s->axis == STOP_BY_CENTS)
		at = floor(r->spent.dollars * 100);
	return at >= 0 && at <= (double)TRIAL_STEP_MAX ? (int64_t)at : -1;
}

bool
stop_series_report(
    struct stop_series *s, const struct stop_report *r, int64_t *at)
{
	bool own = strcmp(r->metric, s->metric) == 0, is_new;
	struct history *h = own ? s->curves : s->against_curves;
	struct curve c;

	*at = series_at(s, r);
	if (*at < 0)
		return false;
	series_trial(h, r->trial);
	is_new = history_report(h, r->trial, *at, r->value);
	c = history_curve(h, r->trial);
	return own && is_new && curve_step(&c, c.n - 1) == *at;
}

void
stop_series_ended(struct stop_series *s, const struct history *h, int64_t trial)
{
	double loss = history_loss(h, trial);

	series_trial(s->curves, trial);
	if (history_state(h, trial) == TRIAL_RUNNING) {
		history_retry(s->curves, trial);
		return;
	}
	if (history_violation(h, trial) > 0)
		loss = NAN;
	history_end(s->curves, trial, history_state(h, trial),
	    history_flip_sign(s->curves, loss));
}

int64_t
stop_series_at(const struct stop_series *s, int64_t trial)
{
	struct curve c = { 0 };

	if (trial <= history_count(s->curves))
		c = history_curve(s->curves, trial);
	return c.n > 0 ? curve_step(&c, c.n - 1) : -1;
}
