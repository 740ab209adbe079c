/* One parameter as a coordinate of a Parzen estimator. */

#include <math.h>

#include "src/model/prior.h"
#include "src/model/space.h"
#include "strategies/tpe/tpe-parzen.h"

static double
number_width(const struct param *p)
{
	switch (p->scale) {
	case SCALE_LINEAR:
		break;
	case SCALE_LOG:
		return log(p->max) - log(p->min);
	case SCALE_REVERSE_LOG:
		return log1p(-p->min) - log1p(-p->max);
	}
	return p->max - p->min;
}

bool
tpe_axis_init(struct axis *a, const struct param *p)
{
	uint64_t levels = param_levels(p);

	*a = (struct axis){ .kind = TPE_AXIS_NUMBER, .levels = (double)levels };
	if (levels == 1)
		return false;
	if (p->type == PARAM_CHOICE) {
		a->kind = p->ordered ? TPE_AXIS_LEVELS : TPE_AXIS_CHOICE;
		a->width = a->levels;
	} else if (p->type == PARAM_INT && p->scale == SCALE_LOG &&
		   levels > 0) {
		a->kind = TPE_AXIS_LOG_INT;
		a->least = p->min;
		a->most = p->max;
		a->low = log(p->min - 0.5);
		a->width = log(p->max + 0.5) - a->low;
	} else if (levels > 0) {
		a->kind = TPE_AXIS_LEVELS;
		a->width = a->levels * p->step;
	} else
		a->width = number_width(p);
	(void)prior_normal(p, &a->mean, &a->sd);
	return true;
}

/* The integer whose share of the log scale contains z. */
static double
log_int(const struct axis *a, double z)
{
	double x = rint(exp(a->low + z * a->width));

	return fmin(fmax(x, a->least), a->most);
}

static double
level(const struct axis *a, double u)
{
	return fmin(fmax(floor(u * a->levels), 0), a->levels - 1);
}

double
tpe_axis_round(const struct axis *a, double z)
{
	switch (a->kind) {
	case TPE_AXIS_NUMBER:
		return z;
	case TPE_AXIS_LEVELS:
		return (level(a, z) + 0.5) / a->levels;
	case TPE_AXIS_LOG_INT:
		return (log(log_int(a, z)) - a->low) / a->width;
	case TPE_AXIS_CHOICE:
		break;
	}
	return z;
}

double
tpe_axis_from_cube(const struct axis *a, double u)
{
	return a->kind == TPE_AXIS_CHOICE ? level(a, u) : tpe_axis_round(a, u);
}

double
tpe_axis_to_cube(const struct axis *a, double z)
{
	return a->kind == TPE_AXIS_CHOICE ? (z + 0.5) / a->levels : z;
}

void
tpe_axis_share(const struct axis *a, double z, double *left, double *right)
{
	double i;

	if (a->kind == TPE_AXIS_LOG_INT) {
		i = log_int(a, z);
		*left = (log(i - 0.5) - a->low) / a->width;
		*right = (log(i + 0.5) - a->low) / a->width;
		return;
	}
	i = level(a, z);
	*left = i / a->levels;
	*right = (i + 1) / a->levels;
}
