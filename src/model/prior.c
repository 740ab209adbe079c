/* Normal distributions of numbers and weights of choices. */

#include <math.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/param.h"
#include "src/model/prior.h"

#define BOUND_SDS 4 /* where min or max is not given */
#define BOUND_MOST 1e300
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

/* ---- reading ------------------------------------------------------------- */

static int
default_bounds(struct param *p, const struct json *sd, struct err *e)
{
	double low = p->mean - BOUND_SDS * p->sd;
	double high = p->mean + BOUND_SDS * p->sd;

	if (p->scale == SCALE_LOG) {
		low = exp(low);
		high = exp(high);
	}
	if (p->type == PARAM_INT) {
		low = fmax(ceil(low), p->scale == SCALE_LOG ? 1 : low);
		high = floor(high);
	}
	if (!(fabs(low) <= BOUND_MOST && fabs(high) <= BOUND_MOST) ||
	    (p->scale == SCALE_LOG && low < 1 / BOUND_MOST) ||
	    (p->type == PARAM_INT &&
		(low < -9007199254740992 || high > 9007199254740992)) ||
	    high < low)
		return json_err(
		    sd, e, "this mean and sd need min and max beside them");
	p->min = low;
	p->max = high;
	return 0;
}

int
prior_read_normal(struct param *p, const struct json *block, struct err *e)
{
	const struct json *mean = json_get(block, "mean");
	const struct json *sd = json_get(block, "sd");

	if (mean == NULL && sd == NULL)
		return 0;
	if (mean == NULL || sd == NULL)
		return json_err(mean != NULL ? mean : sd, e,
		    "mean and sd of a normal distribution go together");
	if (p->scale == SCALE_REVERSE_LOG)
		return json_err(
		    mean, e, "mean and sd go with a linear or log scale only");
	if (json_read_number(mean, -BOUND_MOST, BOUND_MOST, &p->mean, e) != 0 ||
	    json_read_number(sd, 0, BOUND_MOST, &p->sd, e) != 0)
		return -1;
	if (!(p->sd > 0))
		return json_err(sd, e, "expected a number above 0");
	if (json_get(block, "min") != NULL && json_get(block, "max") != NULL)
		return 0;
	if (json_get(block, "step") != NULL)
		return json_err(json_get(block, "step"), e,
		    "step needs min and max, also beside mean and sd");
	return default_bounds(p, sd, e);
}

int
prior_check_normal(
    const struct param *p, const struct json *block, struct err *e)
{
	if (p->sd > 0 && !(p->mean >= log_or_not(p, p->min) &&
			     p->mean <= log_or_not(p, p->max)))
		return json_err(json_get(block, "mean"), e,
		    p->scale == SCALE_LOG
			? "the mean is that of the natural logarithm: it is "
			  "not between those of min and max"
			: "the mean is not between min and max");
	return 0;
}

int
prior_read_weights(struct param *p, const struct json *block, struct err *e)
{
	const struct json *list = json_get(block, "weights"), *j;
	size_t i = 0;

	if (list == NULL)
		return 0;
	if (json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(list) != p->n_values)
		return json_err(list, e,
		    "expected %zu numbers, one for each of values",
		    p->n_values);
	p->weights = xcalloc(p->n_values, sizeof *p->weights);
	for (j = json_first(list); j != NULL; j = json_next(j), i++) {
		if (json_read_number(j, 0, 1e9, &p->weights[i], e) != 0)
			return -1;
		if (!(p->weights[i] > 1e-9))
			return json_err(j, e, "expected a number above 1e-9");
	}
	return 0;
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

/* ---- points -------------------------------------------------------------- */

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
