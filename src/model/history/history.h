/*
 * The data that strategies and stopping rules read: points, curves and results,
 * in the order they were recorded.  Losses and curve values have their sign
 * flipped where the goal is to maximize, so that smaller is better.  Flat
 * arrays; a finished trial costs 24 bytes and two, four or eight per report
 * (curve-pack.h; eight more when its steps follow no stride), and only what the
 * strategy or the rule requires is stored.
 */

#ifndef HPOTUNE_HISTORY_H
#define HPOTUNE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/history/curve-pack.h"
#include "src/model/trial.h"

enum history_keep {
	HISTORY_POINTS = 1, /* for strategies that use points */
	HISTORY_CURVES = 2, /* for rules that use curves */
	HISTORY_LAST = 4 /* of history_serialize: of curves the last reports */
};

struct history;

/* One curve: n reports, steps ascending, one value per step. */
struct curve {
	size_t n;
	const int64_t *steps; /* NULL: first, first + stride, … */
	int64_t first;
	int64_t stride; /* at least 1 */
	/* Read them with curve_value.  NULL: they are packed, as below. */
	const double *plain;
	const void *packed;
	double units; /* curve_pack_units */
	uint8_t form; /* enum curve_pack_form */
};

/* dims = parameters of the space; keep = enum history_keep, or-ed. */
struct history *history_new(size_t dims, bool maximize, unsigned keep);
void history_free(struct history *);
/*
 * Call right after history_new when there are several objectives or a
 * constraint: the goals of all objectives (the first as in history_new), and
 * the number of constraints.
 */
void history_set_objectives(struct history *, size_t objectives,
    const bool *maximize, size_t constraints);
/*
 * Call before the first trial: n trials of other studies precede, with the
 * numbers 1 - n to 0.  Strategies use them; rules start at trial 1.
 */
void history_add_prior(struct history *, size_t n);

/*
 * Add a trial that was placed, or placed again: it becomes pending.  Trials are
 * numbered from history_first (1 when there are none of other studies) and
 * added in the order of their numbers; a skipped number counts as waiting.
 * point may be NULL when points are not stored.
 */
void history_add(struct history *, int64_t trial, const double *point);
/*
 * Add a report of the objective, in the user's sign.  Replaces an earlier
 * report of the same step.  Returns true when the step is new for this trial
 * (always when curves are not stored).  Trials that have ended may still
 * report.
 */
bool
history_report(struct history *, int64_t trial, int64_t step, double value);
/*
 * Whether the latest history_report replaced a value, and which one (smaller is
 * better).  For caches that must remove the old value.
 */
bool history_replaced_value(const struct history *, double *old);
/*
 * The results of a trial, where history_set_objectives was called, before
 * history_end: all objectives in the user's sign, NaN = none; and the violation
 * of each constraint (at most 0: satisfied; NaN: not reported).
 */
void history_results(struct history *, int64_t trial, const double *objectives,
    const double *violations);
/*
 * For strategies that continue trials: the trial whose checkpoint this one
 * started from, and its member number in the population; 0 = none.  Not
 * serialized.
 */
void history_set_parent(
    struct history *, int64_t trial, int64_t from, int64_t member);
int64_t history_parent(const struct history *, int64_t trial);
int64_t history_member(const struct history *, int64_t trial);
/*
 * End a trial; objective in the user's sign, NaN when it has none.
 * TRIAL_FAILED: the trial's own failure, which counts against its point;
 * TRIAL_CANCELLED: no information about the point.
 */
void history_end(
    struct history *, int64_t trial, enum trial_state, double objective);
/*
 * The standard error of a trial's loss where it is known, as that of the
 * replicates of a setting is; 0 = it is not.  history_retry leaves it.
 */
void history_set_noise(struct history *, int64_t trial, double);
double history_noise(const struct history *, int64_t trial);
/*
 * The seconds that the whole trial takes, of one that was stopped as far as its
 * steps tell; 0 = unknown.  history_retry leaves it.
 */
void history_set_seconds(struct history *, int64_t trial, double);
double history_seconds(const struct history *, int64_t trial);
/*
 * The most memory that a trial had, in bytes, 0 = unknown, and whether it ran out of
 * memory, so that it needed more.  history_retry leaves both.
 */
void
history_set_memory(struct history *, int64_t trial, double peak, bool over);
bool history_has_memory(const struct history *); /* of any trial */
double history_memory(const struct history *, int64_t trial);
bool history_memory_over(const struct history *, int64_t trial);
/* The trial will run again: pending once more, its curve is kept. */
void history_retry(struct history *, int64_t trial);

/* Whether objective i is maximized. */
bool history_goal(const struct history *, size_t i);
/*
 * What is stored (enum history_keep), and whether history_set_objectives was
 * called.
 */
unsigned history_keeps(const struct history *);
bool history_has_results(const struct history *);
size_t history_dims(const struct history *);
/*
 * Number of trials; their numbers are first … count, those of other studies at
 * most 0.
 */
int64_t history_first(const struct history *);
int64_t history_count(const struct history *);
/* State: TRIAL_RUNNING while pending, else the final one. */
enum trial_state history_state(const struct history *, int64_t trial);
/* dims numbers, borrowed until the next history_add; NULL when not stored. */
const double *history_point(const struct history *, int64_t trial);
/* The trial's loss: its objective, smaller is better; NaN = none. */
double history_loss(const struct history *, int64_t trial);
size_t history_n_objectives(const struct history *); /* at least 1 */
size_t history_n_constraints(const struct history *);
/*
 * Losses of all objectives, smaller is better; NaN = none, and before the end.
 * With one objective it is history_loss.
 */
const double *history_losses(const struct history *, int64_t trial);
/*
 * Violations as given to history_results; NULL when there are no constraints.
 */
const double *history_violations(const struct history *, int64_t trial);
/*
 * Sum of the positive violations: 0 = feasible; infinite when one is unknown.
 */
double history_violation(const struct history *, int64_t trial);
/* The curve, borrowed until the next report or end of any trial. */
struct curve history_curve(const struct history *, int64_t trial);
/*
 * The best completed trial, the first of equals: the one with the smallest loss
 * among the feasible, otherwise the one with the smallest violation; or 0.
 */
int64_t history_best(const struct history *);
/*
 * Up to n best completed trials, the best first, the earlier of equals: feasible
 * ones with a finite loss; where there is none, history_best alone.  Returns
 * their number.  Time: all trials, unless n is 1.
 */
size_t history_bests(const struct history *, int64_t *best, size_t n);
/* Convert a loss or curve value to the user's sign, or back. */
double history_flip_sign(const struct history *, double value);

/* The same as curve_at where the steps are listed. */
ptrdiff_t curve_steps_at(const struct curve *, int64_t step);

static inline int64_t
curve_step(const struct curve *c, size_t i)
{
	if (c->steps != NULL)
		return c->steps[i];
	return c->first + (int64_t)i * c->stride;
}

/* Value i: smaller is better; may be NaN or infinite. */
static inline double
curve_value(const struct curve *c, size_t i)
{
	if (c->plain != NULL)
		return c->plain[i];
	return curve_pack_get(
	    c->packed, (enum curve_pack_form)c->form, c->units, i);
}

/* Index of the last report at or before step, or -1. */
static inline ptrdiff_t
curve_at(const struct curve *c, int64_t step)
{
	uint64_t i;

	if (c->steps != NULL)
		return curve_steps_at(c, step);
	if (c->n == 0 || step < c->first)
		return -1;
	i = (uint64_t)step - (uint64_t)c->first;
	if (c->stride != 1)
		i /= (uint64_t)c->stride;
	return i < c->n ? (ptrdiff_t)i : (ptrdiff_t)c->n - 1;
}

#endif /* HPOTUNE_HISTORY_H */
