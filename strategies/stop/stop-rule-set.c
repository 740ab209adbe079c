/* Several rules as one, and the series that a rule may read. */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/stop/stop-options.h"
#include "strategies/stopper.h"

/* ---- the series of a rule ----------------------------------------------- */

/*
 * What a rule with the options "metric" or "by" reads in place of the curves of
 * the objective: the curves of one metric, by the steps of the trial, by the
 * seconds that its attempts ran, or by the cents that they cost.  The rule
 * itself is the same: seconds and cents are the steps of these curves.
 *
 * Two reports of a trial in the same second or cent are one point, the newer
 * one; it was judged when the first one came.  The best completed trial is that
 * of the study, so that a guard protects the trial that the study looks for.
 */

enum stop_axis { STOP_BY_STEPS, STOP_BY_SECONDS, STOP_BY_CENTS };

struct stop_series {
	char *metric; /* owned */
	char *against; /* a second metric on the same axis, or NULL; owned */
	enum stop_axis axis;
	struct history *curves; /* of metric */
	struct history *against_curves; /* NULL without against */
};

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

/* "step", "second", "cent" */
static const char *
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

/*
 * The series that these options of the rule name; *out is NULL when they name
 * none: the rule reads the objective by steps.  rule_env gets what the rule is
 * opened with.  ERR_USAGE: the goal of the metric is missing, or a share is
 * given of what has no known total.
 */
static int
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

static void
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

/* Whether it has curves of this metric. */
static bool
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

/*
 * Add a report of any metric.  True: it is of the metric, and the newest point
 * of the trial; *at is its position.
 */
static bool
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

/* The trial has ended in the history of the study, or runs again. */
static void
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

/* The newest position of the trial, or -1. */
static int64_t
stop_series_at(const struct stop_series *s, int64_t trial)
{
	struct curve c = { 0 };

	if (trial <= history_count(s->curves))
		c = history_curve(s->curves, trial);
	return c.n > 0 ? curve_step(&c, c.n - 1) : -1;
}

/* ---- the rules of a study ----------------------------------------------- */

struct member {
	const struct stopper *rule;
	void *state;
	bool veto;
	struct stop_series *series; /* NULL: it reads the objective by steps */
};

struct stop_rule_set {
	struct member *members;
	size_t n;
	const char **metrics; /* of all series, each once, closed by NULL */
	size_t n_metrics;
	bool compares_nothing;
};

struct stop_rule_set *
stop_rule_set_new(void)
{
	struct stop_rule_set *set = xcalloc(1, sizeof(*set));

	set->metrics = xcalloc(1, sizeof(*set->metrics));
	return set;
}

/* Add a name to the metrics that are read; NULL: none. */
static void
set_add_metric(struct stop_rule_set *set, const char *metric)
{
	size_t i;

	if (metric == NULL)
		return;
	for (i = 0; i < set->n_metrics; i++)
		if (strcmp(set->metrics[i], metric) == 0)
			return;
	set->metrics = xreallocarray(
	    set->metrics, set->n_metrics + 2, sizeof(*set->metrics));
	set->metrics[set->n_metrics++] = metric;
	set->metrics[set->n_metrics] = NULL;
}

int
stop_rule_set_add(struct stop_rule_set *set, const struct stopper *rule,
    const struct option_value *values, const struct stopper_env *env, bool veto,
    struct err *e)
{
	struct member m = { .rule = rule, .veto = veto };
	struct stopper_env rule_env;

	if (stop_series_new(&m.series, &rule_env, rule->name, values, env, e) !=
	    0)
		return -1;
	if (rule->open(&m.state, values, &rule_env, e) == -1) {
		stop_series_free(m.series);
		return -1;
	}
	if (m.series != NULL) {
		set_add_metric(set, m.series->metric);
		set_add_metric(set, m.series->against);
	}
	set->members =
	    xreallocarray(set->members, set->n + 1, sizeof(*set->members));
	set->members[set->n++] = m;
	return 0;
}

void
stop_rule_set_free(struct stop_rule_set *set)
{
	size_t i;

	if (set == NULL)
		return;
	for (i = 0; i < set->n; i++) {
		set->members[i].rule->close(set->members[i].state);
		stop_series_free(set->members[i].series);
	}
	free(set->members);
	free(set->metrics);
	free(set);
}

void
stop_rule_set_compare_nothing(struct stop_rule_set *set)
{
	set->compares_nothing = true;
}

void
stop_rule_set_observe(struct stop_rule_set *set, const struct history *h,
    int64_t trial, int64_t step)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		if (set->members[i].series == NULL)
			set->members[i].rule->observe(
			    set->members[i].state, h, trial, step);
}

const char *const *
stop_rule_set_metrics(const struct stop_rule_set *set)
{
	return set->metrics;
}

bool
stop_rule_set_reads_spent(const struct stop_rule_set *set)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		if (set->members[i].series != NULL &&
		    set->members[i].series->axis != STOP_BY_STEPS)
			return true;
	return false;
}

bool
stop_rule_set_report(struct stop_rule_set *set, const struct stop_report *r)
{
	const struct member *m;
	bool due = false;
	int64_t at;
	size_t i;

	for (i = 0; i < set->n; i++) {
		m = &set->members[i];
		if (m->series == NULL ||
		    !stop_series_reads(m->series, r->metric))
			continue;
		if (stop_series_report(m->series, r, &at))
			due = true;
		if (at >= 0 && strcmp(m->series->metric, r->metric) == 0)
			m->rule->observe(
			    m->state, m->series->curves, r->trial, at);
	}
	return due;
}

void
stop_rule_set_ended(
    struct stop_rule_set *set, const struct history *h, int64_t trial)
{
	size_t i;

	const struct member *m;

	for (i = 0; i < set->n; i++) {
		m = &set->members[i];
		if (m->series != NULL)
			stop_series_ended(m->series, h, trial);
		m->rule->ended(
		    m->state, m->series != NULL ? m->series->curves : h, trial);
	}
}

bool
stop_rule_set_median(struct stop_rule_set *set, const struct history *h,
    int64_t step, int64_t *trials, double *median)
{
	const struct member *m;
	size_t i;

	for (i = 0; i < set->n; i++) {
		m = &set->members[i];
		if (m->series == NULL && m->rule->median != NULL &&
		    m->rule->median(m->state, h, step, trials, median))
			return true;
	}
	return false;
}

/*
 * The verdict of one rule at its newest report; a series without one keeps the
 * trial.
 */
static void
member_judge(const struct member *m, const struct history *h, int64_t trial,
    int64_t step, struct judgement *j)
{
	const struct stop_series *s = m->series;
	char why[sizeof(j->why)];

	if (s == NULL) {
		m->rule->judge(m->state, h, trial, step, j);
		return;
	}
	*j = (struct judgement){ .verdict = VERDICT_KEEP,
		.rule = m->rule->name,
		.value = NAN,
		.threshold = NAN };
	step = stop_series_at(s, trial);
	if (step >= 0)
		m->rule->judge(m->state, s->curves, trial, step, j);
	j->metric = s->metric;
	j->unit = stop_series_unit(s);
	j->at = step;
	memcpy(why, j->why, sizeof(why));
	if (*why != '\0')
		snprintf(
		    j->why, sizeof(j->why), "%.40s: %.140s", s->metric, why);
}

static bool
verdict_ends(enum verdict v)
{
	return v == VERDICT_STOP || v == VERDICT_PAUSE;
}

/*
 * Whether the rule may judge what is not to be compared: only what diverges,
 * unless it compares nothing.
 */
static bool
member_may(const struct stop_rule_set *set, const struct member *m,
    const struct history *h, int64_t trial)
{
	struct curve c;

	if (!set->compares_nothing || m->rule->alone)
		return true;
	if (m->series != NULL && stop_series_at(m->series, trial) < 0)
		return false;
	c = history_curve(m->series != NULL ? m->series->curves : h, trial);
	return c.n > 0 && !isfinite(curve_value(&c, c.n - 1));
}

/* A veto rule allows a stop if it would stop the trial itself. */
static void
set_veto(struct stop_rule_set *set, const struct history *h, int64_t trial,
    int64_t step, struct judgement *j)
{
	struct judgement second;
	char why[sizeof(j->why)];
	size_t i;

	for (i = 0; i < set->n; i++) {
		if (!set->members[i].veto ||
		    !member_may(set, &set->members[i], h, trial))
			continue;
		member_judge(&set->members[i], h, trial, step, &second);
		if (verdict_ends(second.verdict))
			continue;
		memcpy(why, j->why, sizeof(why));
		snprintf(j->why, sizeof(j->why), "%.140s, but %s keeps it", why,
		    second.rule);
		j->verdict = VERDICT_SUSPENDED;
		return;
	}
}

/* How much a verdict counts beside those of other rules. */
static int
verdict_weight(enum verdict v)
{
	switch (v) {
	case VERDICT_KEEP:
		return 0;
	case VERDICT_SUSPENDED:
		return 1;
	case VERDICT_PAUSE:
		return 2;
	case VERDICT_STOP:
		return 3;
	}
	return 0;
}

/*
 * The rules that read the series of this metric; NULL: those that read the
 * objective by steps.
 */
static void
set_judge(struct stop_rule_set *set, const struct history *h, int64_t trial,
    int64_t step, const char *metric, struct judgement *j)
{
	const struct member *m;
	struct judgement one;
	bool any = false;
	size_t i;

	*j = (struct judgement){ .verdict = VERDICT_KEEP,
		.rule = "none",
		.value = NAN,
		.threshold = NAN };
	for (i = 0; i < set->n && j->verdict != VERDICT_STOP; i++) {
		m = &set->members[i];
		if (m->veto || (m->series == NULL) != (metric == NULL) ||
		    (metric != NULL &&
			strcmp(m->series->metric, metric) != 0) ||
		    !member_may(set, m, h, trial))
			continue;
		member_judge(m, h, trial, step, &one);
		if (set->compares_nothing && !m->rule->alone && !one.diverged)
			continue;
		if (verdict_ends(one.verdict) && !one.diverged)
			set_veto(set, h, trial, step, &one);
		/* Of those that keep it, the first one's numbers are shown. */
		if (!any ||
		    verdict_weight(one.verdict) > verdict_weight(j->verdict))
			*j = one;
		any = true;
	}
}

void
stop_rule_set_judge(struct stop_rule_set *set, const struct history *h,
    int64_t trial, int64_t step, struct judgement *j)
{
	set_judge(set, h, trial, step, NULL, j);
}

void
stop_rule_set_judge_metric(struct stop_rule_set *set, const struct history *h,
    int64_t trial, const char *metric, struct judgement *j)
{
	struct curve c = history_curve(h, trial);

	set_judge(
	    set, h, trial, c.n > 0 ? curve_step(&c, c.n - 1) : 0, metric, j);
}

int64_t
stop_rule_set_promote(struct stop_rule_set *set, const struct history *h,
    const struct stopper_paused *paused, size_t n, struct judgement *j)
{
	const struct member *m;
	int64_t trial = 0;
	size_t i;

	for (i = 0; i < set->n && trial == 0; i++) {
		m = &set->members[i];
		if (m->rule->promote != NULL && !m->veto)
			trial = m->rule->promote(m->state, h, paused, n, j);
	}
	return trial;
}
