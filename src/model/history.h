/*
 * What the mathematics may see: points, curves and results, in the order they
 * were recorded.  Losses and curve values are turned so that smaller is better
 * whatever the goal.  Flat arrays; a finished trial costs 24 bytes and one
 * double per report (a second word per report when its steps follow no
 * stride), and only what the strategy or the rule asked for is kept.
 */

#ifndef MODEL_HISTORY_H
#define MODEL_HISTORY_H

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
 * A trial is placed (again): it becomes pending.  Trials are numbered from 1
 * and added in the order of their numbers; one that was passed over counts as
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
bool history_replaced(const struct history *, double *old);
/* The trial is over; objective in the user's sign, NaN when it has none. */
void history_end(
    struct history *, int64_t trial, enum trial_state, double objective);
/* It will run again: pending once more, its curve stays. */
void history_retry(struct history *, int64_t trial);

bool history_maximize(const struct history *);
size_t history_dims(const struct history *);
/* Trials so far; their numbers are 1 … count. */
int64_t history_count(const struct history *);
/* State: TRIAL_RUNNING while pending, else the final one. */
enum trial_state history_state(const struct history *, int64_t trial);
/* dims numbers, borrowed until the next history_add; NULL when not kept. */
const double *history_point(const struct history *, int64_t trial);
/* The trial's loss: its objective turned so that smaller is better; NaN = none. */
double history_loss(const struct history *, int64_t trial);
/* The curve, borrowed until the next report or end of any trial. */
struct curve history_curve(const struct history *, int64_t trial);
/* The completed trial with the smallest loss (the first of equals), or 0. */
int64_t history_best(const struct history *);
/* A loss or curve value back in the user's sign (and the other way). */
double history_turn(const struct history *, double value);

/* Index of the last report at or before step, or -1. */
ptrdiff_t curve_at(const struct curve *, int64_t step);
int64_t curve_step(const struct curve *, size_t i);

#endif /* MODEL_HISTORY_H */
