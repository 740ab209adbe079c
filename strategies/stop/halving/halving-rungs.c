/* The rungs of successive halving, and the trials on them. */

#include <math.h>

#include "src/model/history/history.h"
#include "strategies/stop/halving/halving-rungs.h"

void
halving_rungs_init(
    struct halving_rungs *l, int64_t unit, int64_t factor, int64_t rate)
{
	int64_t step = unit;

	*l = (struct halving_rungs){ 0 };
	for (; l->n < HALVING_RUNGS_MAX; rate--) {
		if (rate <= 0) {
			top_quantile_init(&l->cuts[l->n], factor);
			l->steps[l->n++] = step;
		}
		if (step > INT64_MAX / factor)
			return;
		step *= factor;
	}
}

void
halving_rungs_free(struct halving_rungs *l)
{
	size_t k;

	for (k = 0; k < l->n; k++)
		top_quantile_free(&l->cuts[k]);
}

/* How many rungs are at or before step. */
static size_t
halving_rungs_until(const struct halving_rungs *l, int64_t step)
{
	size_t k = 0;

	while (k < l->n && l->steps[k] <= step)
		k++;
	return k;
}

void
halving_rungs_span(const struct halving_rungs *l, const struct curve *c,
    size_t i, size_t *from, size_t *to)
{
	*from = i > 0 ? halving_rungs_until(l, curve_step(c, i - 1)) : 0;
	*to = halving_rungs_until(l, curve_step(c, i));
}

void
halving_rungs_observe(struct halving_rungs *l, const struct history *h,
    int64_t trial, int64_t step)
{
	struct curve c = history_curve(h, trial);
	size_t i = (size_t)curve_at(&c, step), k, to;
	double was = i + 1 < c.n ? curve_value(&c, i + 1) : NAN;

	history_replaced_value(h, &was);
	for (halving_rungs_span(l, &c, i, &k, &to); k < to; k++) {
		if (!isnan(was))
			top_quantile_remove(&l->cuts[k], was);
		if (!isnan(curve_value(&c, i)))
			top_quantile_add(&l->cuts[k], curve_value(&c, i));
	}
}

void
halving_rungs_load(
    struct halving_rungs *l, const struct history *h, int64_t trial)
{
	struct curve c = history_curve(h, trial);
	ptrdiff_t i;
	size_t k;

	for (k = 0; k < l->n; k++) {
		i = curve_at(&c, l->steps[k] - 1) + 1;
		if ((size_t)i >= c.n)
			return;
		if (!isnan(curve_value(&c, i)))
			top_quantile_add(&l->cuts[k], curve_value(&c, i));
	}
}
