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
#include "kernels/replay/replay-one.h"
#include "kernels/replay/replay-policies.h"

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
steps_below(const int64_t *steps, size_t n, int64_t step)
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
		slot[i] = (int32_t)steps_below(steps, n, c->step[i]);
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
