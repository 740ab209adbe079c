/* Reads curves at marks. */

#include <math.h>

#include "src/model/history/history.h"
#include "strategies/stop/extrapolate/curve-grid.h"

void
curve_grid_init(struct curve_grid *m, int64_t steps)
{
	m->steps = steps;
	m->n = steps < CURVE_GRID_MAX ? (size_t)steps : CURVE_GRID_MAX;
}

int64_t
curve_grid_steps_done(const struct curve *c, size_t i)
{
	return curve_step(c, i) + (curve_step(c, 0) <= 0);
}

size_t
curve_grid_passed(const struct curve_grid *m, const struct curve *c, size_t i)
{
	int64_t done = curve_grid_steps_done(c, i);

	if (done <= 0)
		return 0;
	if (done >= m->steps)
		return m->n;
	return (size_t)((double)done * (double)m->n / (double)m->steps);
}

size_t
curve_grid_read(const struct curve_grid *m, const struct curve *c, size_t i,
    double values[CURVE_GRID_MAX])
{
	size_t k, j, finite = 0, passed = 0, to;
	double sum = 0;

	for (k = 0; k <= i; k++) {
		if (isfinite(curve_value(c, k))) {
			sum += curve_value(c, k);
			finite++;
		}
		to = curve_grid_passed(m, c, k);
		if (to == passed)
			continue;
		for (j = passed; j + 1 < to; j++)
			values[j] = NAN;
		values[to - 1] = finite > 0 ? sum / (double)finite : INFINITY;
		passed = to;
		finite = 0;
		sum = 0;
	}
	return passed;
}
