/*
 * What the mathematics may see: points, curves and results, in the order they
 * were recorded.  Losses and curve values are turned so that smaller is better
 * whatever the goal.  Flat arrays; a finished trial costs 24 bytes and one
 * double per report (a second word per report when its steps follow no
 * stride), and only what the strategy or the rule asked for is kept.
 */

#ifndef HPOTUNE_HISTORY_H
#define HPOTUNE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/trial.h"

enum history_keep {
	HISTORY_POINTS = 1, /* for strategies that look at points */
	HISTORY_CURVES = 2 /* for rules that look at curves */
};

struct history;

/* One curve: n reports, steps ascending, one value per step. */
struct curve {
	size_t n;
	const int64_t *steps; /* NULL: first, first + stride, … */
	int64_t first;
	int64_t stride; /* at least 1 */
	const double *values; /* smaller is better; may be NaN or infinite */
};

/* dims = parameters of the space; keep = enum history_keep, or-ed. */
struct history *history_new(size_t dims, bool maximize, unsigned keep);
void history_free(struct history *);
/*
 * Right after history_new, where there is more than one objective or a
 * constraint: objectives of these goals (the first as in history_new), and how
 * many constraints.
 */
void history_set_objectives(struct history *, size_t objectives,
    const bool *maximize, size_t constraints);
/*
 * Before the first trial: n trials of other studies come first, with the
 * numbers 1 - n to 0.  They are for strategies; rules look from 1.
 */
void history_add_prior(struct history *, size_t n);

/*
 * A trial is placed (again): it becomes pending.  Trials are numbered from
 * history_first (1, where no other study's come before) and added in the order of their numbers; one that was passed over counts as
 * waiting.  point may be NULL when points are not kept.
 */
void history_add(struct history *, int64_t trial, const double *point);
/*
 * A report of the objective, in the user's sign.  Replaces an earlier report
 * of the same step.  Returns true when the step is new for this trial (always,
 * when curves are not kept).  Reports of trials that are over are welcome.
 */
bool
history_report(struct history *, int64_t trial, int64_t step, double value);
/*
 * Whether the newest history_report replaced a value, and which one (turned).
 * For caches that have to take the old value back.
 */
bool history_replaced_value(const struct history *, double *old);
/*
 * What it came to where history_set_objectives was called, before history_end: all
 * objectives in the user's sign, NaN = none; and by how much each constraint is
 * violated (at most 0: it holds; NaN: it was not reported).
 */
void history_results(struct history *, int64_t trial, const double *objectives,
    const double *violations);
/*
 * For strategies that continue trials: the trial whose checkpoint it began
 * with, and the member of a population that it is; 0 = none.  Not packed.
 */
void history_set_parent(
    struct history *, int64_t trial, int64_t from, int64_t member);
int64_t history_parent(const struct history *, int64_t trial);
int64_t history_member(const struct history *, int64_t trial);
/*
 * The trial is over; objective in the user's sign, NaN when it has none.
 * TRIAL_FAILED: by its own fault, which is bad news about its point;
 * TRIAL_CANCELLED: nothing is known about it.
 */
void history_end(
    struct history *, int64_t trial, enum trial_state, double objective);
/* It will run again: pending once more, its curve stays. */
void history_retry(struct history *, int64_t trial);

bool history_maximize(const struct history *);
/* Whether objective i is maximized. */
bool history_goal(const struct history *, size_t i);
/* What is kept (enum history_keep), and whether history_set_objectives was called. */
unsigned history_keeps(const struct history *);
bool history_has_results(const struct history *);
size_t history_dims(const struct history *);
/* Trials so far; their numbers are first … count, other studies' up to 0. */
int64_t history_first(const struct history *);
int64_t history_count(const struct history *);
/* State: TRIAL_RUNNING while pending, else the final one. */
enum trial_state history_state(const struct history *, int64_t trial);
/* dims numbers, borrowed until the next history_add; NULL when not kept. */
const double *history_point(const struct history *, int64_t trial);
/* The trial's loss: its objective turned so that smaller is better; NaN = none. */
double history_loss(const struct history *, int64_t trial);
size_t history_n_objectives(const struct history *); /* at least 1 */
size_t history_n_constraints(const struct history *);
/*
 * Losses of all objectives, turned so that smaller is better; NaN = none, and
 * before the end.  With one objective it is history_loss.
 */
const double *history_losses(const struct history *, int64_t trial);
/* Violations, as history_results has them; NULL where there are none. */
const double *history_violations(const struct history *, int64_t trial);
/* Sum of the positive ones: 0 = feasible; infinite when one is not known. */
double history_violation(const struct history *, int64_t trial);
/* The curve, borrowed until the next report or end of any trial. */
struct curve history_curve(const struct history *, int64_t trial);
/*
 * The completed trial that is best, the first of equals: the one with the
 * smallest loss among the feasible, else the one that violates least; or 0.
 */
int64_t history_best(const struct history *);
/* A loss or curve value back in the user's sign (and the other way). */
double history_flip_sign(const struct history *, double value);

/* Index of the last report at or before step, or -1. */
ptrdiff_t curve_at(const struct curve *, int64_t step);
int64_t curve_step(const struct curve *, size_t i);

#endif /* HPOTUNE_HISTORY_H */
