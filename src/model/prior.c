/* Normal distributions of numbers and weights of choices. */

#include <math.h>
#include <stdlib.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/param.h"
#include "src/model/prior.h"

#define HALVINGS 60

static double
log_or_not(const struct param *p, double x)
{
	return p->scale == SCALE_LOG ? log(x) : x;
}

/* The interval of the parameter, on its scale, that the unit cube is. */
static void
interval(const struct param *p, double *low, double *high)
{
	double half = param_levels(p) > 0 ? p->step / 2 : 0;

	*low = log_or_not(p, p->min - half);
	*high = log_or_not(p, p->max + half);
	if (p->scale == SCALE_LINEAR && p->step > 0)
		*high = *low + p->step * (double)param_levels(p);
}

void
prior_put(struct buf *b, const struct param *p)
{
	size_t i;

	if (p->sd > 0) {
		buf_puts(b, p->scale == SCALE_LOG ? "normal logarithm, mean "
						  : "normal, mean ");
		json_put_number(b, p->mean);
		buf_puts(b, ", sd ");
		json_put_number(b, p->sd);
	}
	for (i = 0; p->weights != NULL && i < p->n_values; i++) {
		buf_puts(b, i > 0 ? ", " : "weights ");
		json_put_number(b, p->weights[i]);
	}
}

bool
prior_normal(const struct param *p, double *mean, double *sd)
{
	double low, high;

	if (!(p->sd > 0))
		return false;
	interval(p, &low, &high);
	*mean = (p->mean - low) / (high - low);
	*sd = p->sd / (high - low);
	return true;
}

/* Share u of the normal distribution between 0 and 1, by halving. */
static double
normal_share(double mean, double sd, double u)
{
	double by = M_SQRT1_2 / sd, low = 0, high = 1, middle, i;
	double from = erfc(mean * by), to = erfc((mean - 1) * by);
	double goal = from + u * (to - from);

	for (i = 0; i < HALVINGS; i++) {
		middle = (low + high) / 2;
		if (erfc((mean - middle) * by) < goal)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

static double
weighted_choice(const struct param *p, double u)
{
	double sum = 0, before = 0, share;
	size_t i;

	for (i = 0; i < p->n_values; i++)
		sum += p->weights[i];
	for (i = 0; i + 1 < p->n_values; i++) {
		if (u * sum < before + p->weights[i])
			break;
		before += p->weights[i];
	}
	share = fmin((u * sum - before) / p->weights[i], 1 - 0x1p-20);
	return ((double)i + share) / (double)p->n_values;
}

double
prior_move_one(const struct param *p, double u)
{
	double mean, sd;

	if (isnan(u) || param_levels(p) == 1)
		return u;
	if (p->weights != NULL)
		return weighted_choice(p, u);
	return prior_normal(p, &mean, &sd) ? normal_share(mean, sd, u) : u;
}

void
prior_move(const struct space *s, double *u)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		u[i] = prior_move_one(&s->params[i], u[i]);
}
