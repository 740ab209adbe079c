/*
 * Rungs and who stands on them.  Knows curves; refuses to know who is stopped.
 */

#include <math.h>

#include "src/model/history/history.h"
#include "strategies/stop/halving/halving-rungs.h"

void
ladder_init(struct ladder *l, int64_t unit, int64_t factor, int64_t rate)
{
	int64_t step = unit;

	*l = (struct ladder){ 0 };
	for (; l->n < LADDER_RUNGS; rate--) {
		if (rate <= 0) {
			cut_init(&l->cuts[l->n], factor);
			l->steps[l->n++] = step;
		}
		if (step > INT64_MAX / factor)
			return;
		step *= factor;
	}
}

void
ladder_free(struct ladder *l)
{
	size_t k;

	for (k = 0; k < l->n; k++)
		cut_free(&l->cuts[k]);
}

/* How many rungs are at or before step. */
static size_t
rungs_until(const struct ladder *l, int64_t step)
{
	size_t k = 0;

	while (k < l->n && l->steps[k] <= step)
		k++;
	return k;
}

void
ladder_span(const struct ladder *l, const struct curve *c, size_t i,
    size_t *from, size_t *to)
{
	*from = i > 0 ? rungs_until(l, curve_step(c, i - 1)) : 0;
	*to = rungs_until(l, curve_step(c, i));
}

/*
 * A new report takes its rungs from the one behind it, if there is one; one
 * that came again takes them from itself.
 */
void
ladder_observe(
    struct ladder *l, const struct history *h, int64_t trial, int64_t step)
{
	struct curve c = history_curve(h, trial);
	size_t i = (size_t)curve_at(&c, step), k, to;
	double was = i + 1 < c.n ? c.values[i + 1] : NAN;

	history_replaced(h, &was);
	for (ladder_span(l, &c, i, &k, &to); k < to; k++) {
		if (!isnan(was))
			cut_remove(&l->cuts[k], was);
		if (!isnan(c.values[i]))
			cut_add(&l->cuts[k], c.values[i]);
	}
}

void
ladder_load(struct ladder *l, const struct history *h, int64_t trial)
{
	struct curve c = history_curve(h, trial);
	ptrdiff_t i;
	size_t k;

	for (k = 0; k < l->n; k++) {
		i = curve_at(&c, l->steps[k] - 1) + 1;
		if ((size_t)i >= c.n)
			return;
		if (!isnan(c.values[i]))
			cut_add(&l->cuts[k], c.values[i]);
	}
}
