/*
 * What a trial has come to after one of its attempts: its curve, its objective,
 * and whether that is its whole result.  From the ledger of the world alone.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "src/model/study/study.h"
#include "tests/sim/sim.h"

enum { STEPS = 64 };

/* The value of each step, later reports of it counting. */
struct worth {
	double by_step[STEPS];
	bool has[STEPS];
};

static void
sim_worth_add(struct worth *w, const struct pretend_attempt *a)
{
	int64_t step;
	size_t i;

	for (i = 0; i < a->n_reports; i++) {
		step = a->reports[i].has_step ? a->reports[i].step
					      : (int64_t)i + 1;
		w->by_step[step] = a->reports[i].value;
		w->has[step] = true;
	}
}

static void
sim_worth_read(
    const struct sim *s, int64_t trial, int64_t attempt, struct worth *w)
{
	const struct pretend_attempt *a;
	size_t i;

	*w = (struct worth){ 0 };
	for (i = 0; i < pretend_world_count(s->world); i++) {
		a = pretend_world_get(s->world, i);
		if (a->trial == trial && a->attempt <= attempt)
			sim_worth_add(w, a);
	}
}

static double
sim_worth_value(const struct sim *s, const struct worth *w)
{
	double best = NAN;
	int i;

	for (i = 0; i < STEPS; i++) {
		if (!w->has[i])
			continue;
		if (s->study->value_last)
			best = w->by_step[i];
		else if (isfinite(w->by_step[i]) &&
			 (isnan(best) ||
			     (s->study->maximize ? w->by_step[i] > best
						 : w->by_step[i] < best)))
			best = w->by_step[i];
	}
	return best;
}

double
sim_worth(const struct sim *s, int64_t trial, int64_t attempt)
{
	struct worth w;

	sim_worth_read(s, trial, attempt, &w);
	return sim_worth_value(s, &w);
}

static int64_t
sim_worth_last(const struct worth *w)
{
	int64_t i, last = 0;

	for (i = 0; i < STEPS; i++)
		if (w->has[i])
			last = i;
	return last;
}

int64_t
sim_worth_steps(const struct sim *s, int64_t trial, int64_t attempt)
{
	struct worth w;

	sim_worth_read(s, trial, attempt, &w);
	return sim_worth_last(&w);
}

bool
sim_worth_whole(struct sim *s, int64_t trial, int64_t attempt, int64_t until)
{
	int64_t max = s->study->trial.max_steps, n = 0, i;
	char number[24];
	struct worth w;

	if (study_has_own_steps(&s->study->trial)) {
		(void)snprintf(number, sizeof number, "%" PRId64, trial);
		max = sim_number(
		    s, "SELECT own_steps FROM t_trial WHERE trial = ?", number);
	}
	sim_worth_read(s, trial, attempt, &w);
	for (i = 0; i < STEPS; i++)
		n += w.has[i];
	/* The other metrics are in each report, and finite. */
	if (!isfinite(sim_worth_value(s, &w)))
		return false;
	if (until > 0)
		return sim_worth_last(&w) >= until;
	return max > 0 && (n >= max || sim_worth_last(&w) >= max);
}
