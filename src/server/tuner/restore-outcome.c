/*
 * Reads outcomes back at a start: of ended trials, what outcome.c recorded; of
 * the others, their last reports so far.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/fail.h"
#include "src/base/mem.h"
#include "src/model/pareto-front.h"
#include "src/model/study/study.h"
#include "src/server/tuner/live-trial.h"
#include "src/server/tuner/outcome.h"
#include "src/server/tuner/restore-outcome.h"
#include "src/server/tuner/tuner-internal.h"

struct restored_outcomes {
	struct tuner *tuner;
	size_t n; /* trials */
	double *values; /* each tuner->outcomes.n_aims */
	enum end_class *last;
	bool *better;
};

static bool
restore_outcomes_has(const struct restored_outcomes *o, int64_t trial)
{
	return trial >= 1 && (uint64_t)trial <= o->n;
}

static int
on_value(void *arg, int64_t trial, size_t i, double value)
{
	struct restored_outcomes *o = arg;
	size_t n = o->tuner->outcomes.n_aims;

	if (restore_outcomes_has(o, trial) && i < n)
		o->values[(size_t)(trial - 1) * n + i] = value;
	return 0;
}

static int
on_failed(void *arg, int64_t trial, enum end_class last)
{
	struct restored_outcomes *o = arg;

	if (restore_outcomes_has(o, trial) && !fail_bug("bug.forget_blame"))
		o->last[trial - 1] = last;
	return 0;
}

/* Call after the values were read. */
static int
on_front(void *arg, int64_t trial, bool inside, bool better)
{
	struct restored_outcomes *o = arg;
	struct tuner *t = o->tuner;
	double losses[STUDY_OBJECTIVES_MAX], value;
	size_t i;

	if (!restore_outcomes_has(o, trial) || t->outcomes.front == NULL)
		return 0;
	o->better[trial - 1] = better;
	for (i = 0; i < t->study->n_objectives; i++) {
		value = o->values[(size_t)(trial - 1) * t->outcomes.n_aims + i];
		losses[i] = t->study->objectives[i].maximize ? -value : value;
	}
	if (inside)
		pareto_front_load(t->outcomes.front, trial, losses);
	return 0;
}

int
restore_outcomes_load(
    struct restored_outcomes **out, struct tuner *t, struct err *e)
{
	struct restored_outcomes *o = xcalloc(1, sizeof *o);
	size_t i;
	int rc;

	*out = o;
	o->tuner = t;
	o->n = (size_t)t->n_trials;
	o->last = xcalloc(o->n + 1, sizeof *o->last);
	rc = store_walk_failed(t->store, on_failed, o, e);
	if (rc != 0 || t->outcomes.n_aims == 0)
		return rc;
	o->values = xcalloc(o->n + 1, t->outcomes.n_aims * sizeof *o->values);
	for (i = 0; i < o->n * t->outcomes.n_aims; i++)
		o->values[i] = NAN;
	o->better = xcalloc(o->n + 1, sizeof *o->better);
	rc = store_walk_outcomes(t->store, on_value, o, e);
	if (rc == 0)
		rc = store_walk_front(t->store, on_front, o, e);
	return rc;
}

void
restore_outcomes_free(struct restored_outcomes *o)
{
	if (o == NULL)
		return;
	free(o->values);
	free(o->last);
	free(o->better);
	free(o);
}

void
restore_outcomes_ended(struct restored_outcomes *o, int64_t trial,
    enum trial_state state, double objective)
{
	size_t i = (size_t)(trial - 1);
	struct outcome one = {
		.trial = trial,
		.state = state,
		.last = o->last[i],
		.objective = objective,
		.values = o->values != NULL
			      ? o->values + i * o->tuner->outcomes.n_aims
			      : NULL,
		.known = true,
		.better = o->better != NULL && o->better[i],
	};

	outcome_ended(o->tuner, &one);
}

int
restore_outcome_live(struct tuner *t, struct live_trial *l, struct err *e)
{
	const struct study *s = t->study;
	const char *metric;
	int64_t step;
	double value;
	size_t i;
	int rc;

	for (i = 1; i < t->outcomes.n_aims; i++) {
		metric = i < s->n_objectives
			     ? s->objectives[i].metric
			     : s->constraints[i - s->n_objectives].metric;
		rc = store_metric_last(
		    t->store, l->row.number, metric, &step, &value, e);
		if (rc < 0)
			return -1;
		if (rc > 0 && !fail_bug("bug.forget_aims"))
			outcome_report(t, l, metric, step, value);
	}
	return 0;
}
