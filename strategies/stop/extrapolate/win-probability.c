/* Converts curves to the units of the bank and back. */

#include <math.h>
#include <stdlib.h>

#include "kernels/kernels.h"
#include "src/base/mem.h"
#include "strategies/stop/extrapolate/peer-curves.h"
#include "strategies/stop/extrapolate/win-probability.h"

/* Values beyond so many units are taken as this far: spikes, and divergence. */
static const double odds_far = 1.5;

struct win_probability {
	const struct kernels *kernels;
	struct curve_bank *bank;
	double temper;
};

struct win_probability *
win_probability_new(size_t marks, double temper)
{
	struct win_probability *o = xcalloc(1, sizeof(*o));

	o->kernels = kernels_plain();
	o->bank = o->kernels->bank_new(o->kernels->dev, marks);
	o->temper = temper;
	return o;
}

void
win_probability_free(struct win_probability *o)
{
	if (o == NULL)
		return;
	o->kernels->bank_free(o->kernels->dev, o->bank);
	free(o);
}

/*
 * The unit: distance from the best value to the median at the start of curves,
 * or to the current median if that is larger.
 */
static double
peer_curves_unit(const struct peer_curves *f, size_t passed, double best)
{
	double first = peer_curves_median(f, 0) - best;
	double now = peer_curves_median(f, passed - 1) - best;

	return isnan(first) || now > first ? now : first;
}

/* Convert values; returns their number. */
static size_t
units_take(
    double *out, const double *values, size_t passed, double best, double unit)
{
	size_t j, n = 0;
	double u;

	for (j = 0; j < passed; j++) {
		u = (values[j] - best) / unit;
		out[j] = u > odds_far	 ? odds_far
			 : u < -odds_far ? -odds_far
					 : u;
		n += !isnan(u);
	}
	return n;
}

bool
win_probability_estimate(const struct win_probability *o,
    const struct peer_curves *f, const double values[CURVE_GRID_MAX],
    size_t passed, double goal, struct curve_guess *g)
{
	double best = peer_curves_best(f), unit, units[CURVE_GRID_MAX];

	if (passed == 0 || !isfinite(best) || !isfinite(goal))
		return false;
	unit = peer_curves_unit(f, passed, best);
	if (!(unit > 0) || !isfinite(unit) || !isfinite(1 / unit) ||
	    units_take(units, values, passed, best, unit) < WIN_PROBABILITY_MIN)
		return false;
	o->kernels->bank_guess(o->kernels->dev, o->bank, units, passed,
	    o->temper, (goal - best) / unit, g);
	g->mean = best + g->mean * unit;
	g->sd *= unit;
	return true;
}
