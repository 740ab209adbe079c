/* Points drawn from a Parzen estimator. */

#include <math.h>

#include "src/base/rng.h"
#include "strategies/tpe/tpe-normal.h"
#include "strategies/tpe/tpe-parzen.h"

/* The component at quantile q of the weights. */
static size_t
component_at(const struct parzen *p, double q)
{
	size_t low = 0, high = p->n - 1, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (q < p->share[middle])
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The choice of component k's observation, or with the remaining mass any. */
static double
draw_choice(const struct parzen *p, size_t d, size_t k, double q)
{
	double levels = p->axes[d].levels, seen = p->mu[d * p->stride + k];
	double left = seen < levels ? q * (p->own + levels * p->other) - p->own
				    : q * levels * p->other;

	if (left < 0 || p->other == 0)
		return seen;
	return fmin(floor(left / p->other), levels - 1);
}

static double
draw_number(const struct parzen *p, size_t d, size_t k, double q)
{
	size_t at = d * p->stride + k;
	double mu = p->mu[at], by = p->scale[at] * M_SQRT2;
	double z = tpe_normal_between_quantile(q, -mu * by, (1 - mu) * by);

	z = fmin(fmax(mu + z / by, 0), 1);
	return tpe_axis_round(&p->axes[d], z);
}

void
tpe_sample(const struct parzen *p, struct rng *rng, double *points, size_t n)
{
	size_t i, d, k;
	double q;

	for (i = 0; i < n; i++) {
		k = component_at(p, rng_uniform(rng));
		for (d = 0; d < p->dims; d++) {
			q = rng_uniform(rng);
			points[i * p->dims + d] =
			    p->axes[d].kind == TPE_AXIS_CHOICE
				? draw_choice(p, d, k, q)
				: draw_number(p, d, k, q);
		}
	}
}
