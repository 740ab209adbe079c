/* Several rules as one. */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "strategies/stop/stop-series.h"
#include "strategies/stopper.h"

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

void
stop_rule_set_read_metric(struct stop_rule_set *set, const char *metric)
{
	set_add_metric(set, metric);
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
		/*
		 * Of rules that keep the trial, the first one's numbers are
		 * shown.
		 */
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
