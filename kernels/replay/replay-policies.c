/*
 * Many policies on many studies.  The values of a curve at each report do not
 * depend on the policy, so they are computed once.
 */

#include <math.h>
#include <stdlib.h>

/* No fused multiply-add, so that decisions do not depend on the processor. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#endif

#include "kernels/alloc.h"
#include "kernels/formulas.h"
#include "kernels/kernels.h"
#include "kernels/replay/replay-policies.h"

#define INLINE inline __attribute__((always_inline))

/*
 * Step by step as the server would run it, of the median family: must follow
 * strategies/stop/median/median-engine.c.
 */

enum one_state { ONE_AHEAD, ONE_RUNNING, ONE_COMPLETED, ONE_STOPPED };

/* The inputs of a study. */
struct replay_one {
	struct replay_curves curves;
	const double *stands; /* REPLAY_VALUES x all, each as curves.value */
	size_t all;
	struct replay_policy policy;
	const size_t *order; /* of the trials */
	size_t trials, workers;
	const int32_t *slot; /* per report: index of its step among all steps */
	size_t slots;
	/* slots x trials: values of the pool at a slot, ascending */
	double *row;
	int32_t *count; /* slots: their number */
	int32_t *seen; /* trials: reports made */
	int32_t *state; /* trials */
	int32_t *busy; /* workers: current trial, -1 = none */
	size_t started, best; /* best: best completed trial; trials = none */
	size_t witness; /* where the guard last triggered; a shortcut */
};

/* Number of int32_t that a study needs. */
#define ONE_ROOM(trials, workers, slots) (2 * (trials) + (workers) + (slots))

static INLINE size_t
one_start(const struct replay_one *o, size_t trial)
{
	return o->curves.start[o->order[trial]];
}

static INLINE size_t
one_length(const struct replay_one *o, size_t trial)
{
	return o->curves.start[o->order[trial] + 1] - one_start(o, trial);
}

/* The value of a trial at its report i. */
static INLINE double
one_report_value(
    const struct replay_one *o, enum replay_value kind, size_t trial, size_t i)
{
	return o->stands[(size_t)kind * o->all + one_start(o, trial) + i];
}

/* Insert a number into the sorted pool of a slot. */
static INLINE void
one_insert(struct replay_one *o, size_t slot, double v)
{
	double *row = o->row + slot * o->trials;
	int32_t lo = 0, hi = o->count[slot], mid, k;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (row[mid] < v)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (k = o->count[slot]++; k > lo; k--)
		row[k] = row[k - 1];
	row[lo] = v;
}

/* Add report i to the pool, and extend the previous report up to its slot. */
static INLINE void
one_reach(struct replay_one *o, size_t trial, size_t i)
{
	const int32_t *slot = o->slot + one_start(o, trial);
	double v = i == 0
		       ? NAN
		       : one_report_value(o, o->policy.reference, trial, i - 1);
	int32_t k;

	if (isfinite(v))
		for (k = slot[i - 1] + 1; k < slot[i]; k++)
			one_insert(o, (size_t)k, v);
	v = one_report_value(o, o->policy.reference, trial, i);
	if (isfinite(v))
		one_insert(o, (size_t)slot[i], v);
}

/* The number of this rank, without skip (NaN: skip nothing). */
static INLINE double
one_rank(const double *row, int64_t rank, double skip)
{
	/* The skipped number is at or before this index: take the next. */
	return row[rank + (skip <= row[rank])];
}

/* Whether own is strictly above the percentile of the others. */
static INLINE int
one_is_worse(const struct replay_one *o, size_t trial, size_t i, double own)
{
	size_t slot = (size_t)o->slot[one_start(o, trial) + i];
	const double *row = o->row + slot * o->trials;
	int64_t n = o->count[slot], first, second;
	double skip = NAN, h, share, a, b;

	if (!o->policy.completed || o->state[trial] == ONE_COMPLETED)
		skip = one_report_value(o, o->policy.reference, trial, i);
	if (isfinite(skip))
		n--;
	else
		skip = NAN;
	if (n == 0 || n < o->policy.min_trials)
		return 0;
	if (!isfinite(own))
		return 1;
	h = (double)(n - 1) * o->policy.share;
	first = (int64_t)h;
	share = h - floor(h);
	second = first + 1 < n ? first + 1 : first;
	a = one_rank(row, first, skip);
	b = one_rank(row, second, skip);
	if (a == b)
		return own > a;
	return own > a * (1 - share) + b * share;
}

/* Whether report i is too late for a stop to save steps. */
static INLINE int
one_is_late(const struct replay_one *o, size_t trial, size_t i)
{
	int64_t most = o->curves.max_steps, last = o->curves.last_step;

	if (last <= 0)
		last = most;
	return most > 0 && (o->curves.step[one_start(o, trial) + i] >= last ||
			       (int64_t)i + 1 >= most);
}

/* Whether report i is judged, by lateness, warm-up and interval. */
static INLINE int
one_judges(const struct replay_one *o, size_t trial, size_t i)
{
	const int64_t *steps = o->curves.step + one_start(o, trial);
	size_t first = 0, n = i + 1, mid;

	if (one_is_late(o, trial, i))
		return 0;
	if (o->policy.warmup_steps > 0) {
		if (steps[i] < o->policy.warmup_steps)
			return 0;
		while (first < n) {
			mid = first + (n - first) / 2;
			if (steps[mid] < o->policy.warmup_steps)
				first = mid + 1;
			else
				n = mid;
		}
	}
	if ((int64_t)first < o->policy.warmup_reports)
		first = (size_t)o->policy.warmup_reports;
	return i >= first && (int64_t)(i - first) % o->policy.interval == 0;
}

static INLINE int
one_would_stop(const struct replay_one *o, size_t trial, size_t i)
{
	return one_judges(o, trial, i) &&
	       one_is_worse(
		   o, trial, i, one_report_value(o, o->policy.own, trial, i));
}

/* Whether the policy would have stopped the best completed trial. */
static INLINE int
one_guards(struct replay_one *o)
{
	size_t i, n;

	if (o->best == o->trials)
		return 0;
	n = one_length(o, o->best);
	if (o->witness < n && one_would_stop(o, o->best, o->witness))
		return 1;
	for (i = 0; i < n; i++)
		if (one_would_stop(o, o->best, i)) {
			o->witness = i;
			return 1;
		}
	return 0;
}

static INLINE int
one_diverged(const struct replay_one *o, size_t trial, size_t i)
{
	const double *v = o->curves.value + one_start(o, trial);
	int64_t n = 0, after = o->policy.diverged_after;

	if (after <= 0)
		return 0;
	while (n <= (int64_t)i && n < after && !isfinite(v[(int64_t)i - n]))
		n++;
	return n >= after;
}

/* Whether the newest report of a trial stops it. */
static INLINE int
one_stops(struct replay_one *o, size_t trial, size_t i)
{
	if (one_is_late(o, trial, i))
		return 0;
	if (one_diverged(o, trial, i))
		return 1;
	return one_would_stop(o, trial, i) &&
	       !(o->policy.guard && one_guards(o));
}

/* The result of a trial after this many reports; NaN: none. */
static INLINE double
one_result(const struct replay_one *o, size_t trial, size_t reports)
{
	if (reports == 0)
		return NAN;
	return one_report_value(o,
	    o->curves.value_last ? REPLAY_LAST : REPLAY_BEST, trial,
	    reports - 1);
}

static INLINE void
one_complete(struct replay_one *o, size_t trial)
{
	double v = one_result(o, trial, (size_t)o->seen[trial]), least = NAN;
	size_t i;

	o->state[trial] = ONE_COMPLETED;
	if (o->policy.completed)
		for (i = 0; i < (size_t)o->seen[trial]; i++)
			one_reach(o, trial, i);
	if (isnan(v))
		return;
	if (o->best < o->trials)
		least = one_result(o, o->best, (size_t)o->seen[o->best]);
	if (!(least < v || (least == v && o->best < trial)))
		o->best = trial;
}

/* Process the next report of a worker's trial; 0 when the trial has ended. */
static INLINE int
one_turn(struct replay_one *o, size_t trial)
{
	size_t n = one_length(o, trial), i;

	if ((size_t)o->seen[trial] < n) {
		i = (size_t)o->seen[trial]++;
		if (!o->policy.completed)
			one_reach(o, trial, i);
		/* At its last report it has exited: the verdict is late. */
		if (i + 1 < n && one_stops(o, trial, i)) {
			o->state[trial] = ONE_STOPPED;
			return 0;
		}
	}
	if ((size_t)o->seen[trial] < n)
		return 1;
	one_complete(o, trial);
	return 0;
}

static INLINE struct replay_score
one_score(const struct replay_one *o)
{
	struct replay_score s = { 0, 0, 0, NAN };
	double v, there = NAN;
	size_t k;

	for (k = 0; k < o->trials; k++) {
		s.skipped += (int64_t)one_length(o, k) - o->seen[k];
		s.stopped += o->state[k] == ONE_STOPPED;
		v = one_result(o, k, one_length(o, k));
		if (isfinite(v) && !(there <= v)) {
			there = v;
			s.killed = o->state[k] == ONE_STOPPED;
		}
		v = one_result(o, k, (size_t)o->seen[k]);
		if (isfinite(v) && !(s.found <= v))
			s.found = v;
	}
	return s;
}

/* row: o->slots * o->trials; room: ONE_ROOM(o->trials, …). */
static INLINE struct replay_score
one_run(struct replay_one *o, double *row, int32_t *room)
{
	size_t k, idle;

	o->seen = room;
	o->state = room + o->trials;
	o->busy = room + 2 * o->trials;
	o->count = o->busy + o->workers;
	o->row = row;
	o->started = 0;
	o->best = o->trials;
	o->witness = 0;
	for (k = 0; k < o->trials; k++) {
		o->seen[k] = 0;
		o->state[k] = ONE_AHEAD;
	}
	for (k = 0; k < o->workers; k++)
		o->busy[k] = -1;
	for (k = 0; k < o->slots; k++)
		o->count[k] = 0;
	do {
		idle = 0;
		for (k = 0; k < o->workers; k++) {
			if (o->busy[k] < 0 && o->started < o->trials) {
				o->busy[k] = (int32_t)o->started++;
				o->state[o->busy[k]] = ONE_RUNNING;
			}
			if (o->busy[k] < 0)
				idle++;
			else if (!one_turn(o, (size_t)o->busy[k]))
				o->busy[k] = -1;
		}
	} while (idle < o->workers);
	return one_score(o);
}

/*
 * What stands for each curve at each report: REPLAY_VALUES times as many
 * numbers as there are reports.
 */
static void
report_values(const struct replay_curves *c, double *stands)
{
	size_t all = c->start[c->n], i, k, used;
	double sum, low;

	for (i = 0; i < c->n; i++) {
		sum = 0;
		low = NAN;
		used = 0;
		for (k = c->start[i]; k < c->start[i + 1]; k++) {
			if (isfinite(c->value[k])) {
				low = low <= c->value[k] ? low : c->value[k];
				sum += c->value[k];
				used++;
			}
			stands[REPLAY_LAST * all + k] = c->value[k];
			stands[REPLAY_BEST * all + k] = low;
			stands[REPLAY_MEAN * all + k] =
			    used > 0 ? sum / (double)used : NAN;
		}
	}
}

static int
step_order(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* How many of n ascending steps are smaller. */
static size_t
policies_steps_below(const int64_t *steps, size_t n, int64_t step)
{
	size_t lo = 0, mid;

	while (lo < n) {
		mid = lo + (n - lo) / 2;
		if (steps[mid] < step)
			lo = mid + 1;
		else
			n = mid;
	}
	return lo;
}

/*
 * Which of all different steps, in order, each report is at; how many there
 * are.
 */
static size_t
slots_number(const struct replay_curves *c, int32_t *slot)
{
	size_t all = c->start[c->n], n = 0, i;
	int64_t *steps = reallocarray(NULL, all + 1, sizeof *steps);

	if (steps == NULL)
		abort();
	for (i = 0; i < all; i++)
		steps[i] = c->step[i];
	qsort(steps, all, sizeof *steps, step_order);
	for (i = 0; i < all; i++)
		if (n == 0 || steps[n - 1] != steps[i])
			steps[n++] = steps[i];
	for (i = 0; i < all; i++)
		slot[i] = (int32_t)policies_steps_below(steps, n, c->step[i]);
	free(steps);
	return n;
}

static int32_t *
places_alloc(size_t n)
{
	int32_t *p = calloc(n + 1, sizeof *p);

	if (p == NULL)
		abort();
	return p;
}

void
replay_policies(void *dev, const struct replay_curves *c,
    const struct replay_policy *policy, size_t n,
    const struct replay_studies *s, struct replay_score *out)
{
	size_t all = c->start[c->n], i, k;
	double *stands = kernel_alloc(REPLAY_VALUES, all), *row;
	int32_t *slot = places_alloc(all), *room;
	struct replay_one one = { .curves = *c,
		.stands = stands,
		.all = all,
		.slot = slot,
		.trials = s->trials,
		.workers = s->workers };

	(void)dev;
	report_values(c, stands);
	one.slots = slots_number(c, slot);
	row = kernel_alloc(one.slots, s->trials);
	room = places_alloc(ONE_ROOM(s->trials, s->workers, one.slots));
	for (i = 0; i < n; i++) {
		one.policy = policy[i];
		for (k = 0; k < s->n; k++) {
			one.order = s->order + k * s->trials;
			out[i * s->n + k] = one_run(&one, row, room);
		}
	}
	free(room);
	free(row);
	free(slot);
	free(stands);
}
