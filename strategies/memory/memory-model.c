/*
 * The logarithm of the peak is a Gaussian process with the kernel a + l + c l^2,
 * where l is linear in the logarithms of numbers and in what a choice is: a linear
 * model with all products of two, as the memory of a network is a sum of products of
 * sizes.  Each feature has a weight; weights, noise and c are the likeliest ones with
 * a prior.  A trial that ran out of memory is known to have needed more than the limit (Tobit); expectation
 * propagation gives it a value and a variance (Rasmussen and Williams, "Gaussian
 * processes for machine learning", 2006, sections 3.6 and 5.4.2).  No library is
 * used: this is also asked outside hpotune-worker.
 */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/param.h"
#include "src/model/space.h"
#include "strategies/memory/memory-model.h"

enum {
	ROWS_LEAST = 7, /* fewer trials are to differ */
	ROWS_MOST = 128,
	FIT_ROWS = 48, /* to which the weights are fitted */
	SWEEPS = 2, /* over all weights */
	ROUNDS = 4 /* of expectation propagation */
};

/* Of the prior: the variance of the mean of all logarithms of peaks. */
static const double of_mean = 9;

/* Deviations of the logarithms of weights, of the noise and of the products. */
static const double alike = 1;

/*
 * Of the limit, as a logarithm: a search leads along the limit, where a little
 * more than what is expected is too much.
 */
static const double margin = 0.04;

/* With so many rows the variance is twice that of weights that were known. */
static const double few_rows = 20;

/* One number of a row. */
struct feature {
	size_t at; /* index of its parameter */
	bool category; /* the level itself counts, not its size */
	bool logarithm;
	double shift; /* added before the logarithm */
	double centre, scale; /* (x - centre) * scale */
	double prior; /* logarithm of its weight */
};

/* The numbers that are fitted, as logarithms. */
struct weights {
	double noise; /* deviation */
	double products; /* c */
	double *of; /* n_features */
};

struct memory_model {
	const struct space *space;
	struct feature *features;
	size_t n_features;
	size_t n; /* rows */
	double *x; /* n x n_features */
	double *y; /* logarithms of peaks, minus the mean; made up for over */
	double *variance; /* of each y: noise, or of what is made up */
	bool *over; /* ran out of memory */
	double mean, limit; /* logarithms */
	struct weights w;
	double *squares; /* n_features: squared weights */
	double *factor, *alpha; /* of the covariance: n x n, n */
	double *row; /* scratch: n_features + n */
};

static const double noise_prior = -3, products_prior = -3;

static double
choice_number(const struct value *v)
{
	return v->kind == VALUE_INT || v->kind == VALUE_REAL ? v->real : NAN;
}

/* Whether all choices are positive numbers. */
static bool
choice_has_sizes(const struct param *p)
{
	size_t i;

	for (i = 0; i < p->n_values; i++)
		if (!(choice_number(&p->values[i]) > 0))
			return false;
	return p->n_values > 0;
}

static void
feature_add(struct memory_model *m, size_t at, bool category)
{
	const struct param *p = &m->space->params[at];
	struct feature *f = &m->features[m->n_features++];
	double low = p->min, high = p->max;
	size_t i;

	*f = (struct feature){ .at = at, .category = category, .scale = 1 };
	f->prior = log(category || p->type == PARAM_FLOAT ? 0.7 : 0.5);
	if (category)
		return;
	if (p->type == PARAM_CHOICE) {
		low = INFINITY;
		high = 0;
		for (i = 0; i < p->n_values; i++) {
			low = fmin(low, choice_number(&p->values[i]));
			high = fmax(high, choice_number(&p->values[i]));
		}
	}
	f->logarithm = low > 0 || (low == 0 && p->type == PARAM_INT);
	f->shift = low > 0 ? 0 : 1;
	if (f->logarithm) {
		f->centre = 0.5 * (log(low + f->shift) + log(high + f->shift));
		/* A wide range of a real one is likely a rate. */
		if (p->type == PARAM_FLOAT)
			f->prior -=
			    log(fmax(1, log(high + f->shift) - f->centre));
	} else {
		f->centre = 0.5 * (low + high);
		f->scale = high > low ? 2 / (high - low) : 0;
	}
}

static void
features_open(struct memory_model *m)
{
	const struct param *p;
	size_t i;

	m->features = xcalloc(2 * m->space->n + 1, sizeof *m->features);
	for (i = 0; i < m->space->n; i++) {
		p = &m->space->params[i];
		if (p->type == PARAM_FIXED)
			continue;
		if (p->type != PARAM_CHOICE || choice_has_sizes(p))
			feature_add(m, i, false);
		if (p->type == PARAM_CHOICE)
			feature_add(m, i, true);
	}
}

/* The level of a choice, which divides the unit interval evenly. */
static size_t
choice_level(const struct param *p, double u)
{
	double level = floor(u * (double)p->n_values);

	return (size_t)fmin(fmax(level, 0), (double)p->n_values - 1);
}

/* The number at u; the rounding of real ones does not matter. */
static double
number_at(const struct param *p, double u)
{
	struct value v;

	if (p->type == PARAM_CHOICE)
		return choice_number(&p->values[choice_level(p, u)]);
	if (p->type == PARAM_FLOAT && p->scale == SCALE_LINEAR)
		return p->min + u * (p->max - p->min);
	if (p->type == PARAM_FLOAT && p->scale == SCALE_LOG)
		return p->min * pow(p->max / p->min, u);
	param_decode(p, u, &v);
	return choice_number(&v);
}

static void
row_fill(const struct memory_model *m, double *row, const double *point)
{
	const struct feature *f;
	const struct param *p;
	double x;
	size_t k;

	for (k = 0; k < m->n_features; k++) {
		f = &m->features[k];
		p = &m->space->params[f->at];
		x = point[f->at];
		if (isnan(x))
			row[k] = f->category ? -1 : 0;
		else if (f->category)
			row[k] = (double)choice_level(p, x);
		else {
			x = number_at(p, x);
			if (f->logarithm)
				x = log(x + f->shift);
			row[k] = (x - f->centre) * f->scale;
		}
	}
}

static double
covariance(const struct memory_model *m, const double *a, const double *b)
{
	double l = 0;
	size_t k;

	for (k = 0; k < m->n_features; k++)
		l += m->squares[k] *
		     (m->features[k].category ? a[k] == b[k] : a[k] * b[k]);
	return of_mean + l + exp(m->w.products) * l * l;
}

/* Cholesky, in place, of the lower half.  False: not positive. */
static bool
memory_factorise(double *a, size_t n)
{
	double sum;
	size_t i, j, k;

	for (i = 0; i < n; i++)
		for (j = 0; j <= i; j++) {
			sum = a[i * n + j];
			for (k = 0; k < j; k++)
				sum -= a[i * n + k] * a[j * n + k];
			if (i == j && !(sum > 0))
				return false;
			a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
		}
	return true;
}

/* x = inverse of the factor times x. */
static void
solve_down(const double *factor, size_t n, double *x)
{
	size_t i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < i; k++)
			x[i] -= factor[i * n + k] * x[k];
		x[i] /= factor[i * n + i];
	}
}

static void
solve_up(const double *factor, size_t n, double *x)
{
	size_t i, k;

	for (i = n; i-- > 0;) {
		for (k = i + 1; k < n; k++)
			x[i] -= factor[k * n + i] * x[k];
		x[i] /= factor[i * n + i];
	}
}

static void
squares_fill(struct memory_model *m)
{
	size_t k;

	for (k = 0; k < m->n_features; k++)
		m->squares[k] = exp(2 * m->w.of[k]);
}

/* Factor and alpha of the rows that are a multiple of step.  False: no factor. */
static bool
rows_factorise(struct memory_model *m, size_t step, double *squares)
{
	size_t n = (m->n + step - 1) / step, i, j, q = m->n_features;
	double *at = m->factor;

	squares_fill(m);
	for (i = 0; i < n; i++, at += n) {
		for (j = 0; j <= i; j++)
			at[j] = covariance(
			    m, m->x + i * step * q, m->x + j * step * q);
		at[i] += m->over[i * step] ? m->variance[i * step]
					   : exp(2 * m->w.noise);
		m->alpha[i] = m->y[i * step];
	}
	if (!memory_factorise(m->factor, n))
		return false;
	solve_down(m->factor, n, m->alpha);
	for (*squares = 0, i = 0; i < n; i++)
		*squares += m->alpha[i] * m->alpha[i];
	return true;
}

/* Logarithm of the likelihood and of the prior. */
static double
posterior(struct memory_model *m, size_t step)
{
	size_t n = (m->n + step - 1) / step, i;
	double squares, sum, off;

	if (!rows_factorise(m, step, &squares))
		return -INFINITY;
	sum = -0.5 * squares;
	for (i = 0; i < n; i++)
		sum -= log(m->factor[i * n + i]);
	for (i = 0; i < m->n_features; i++) {
		off = (m->w.of[i] - m->features[i].prior) / alike;
		sum -= 0.5 * off * off;
	}
	off = (m->w.noise - noise_prior) / alike;
	sum -= 0.5 * off * off;
	off = (m->w.products - products_prior) / alike;
	return sum - 0.5 * off * off;
}

/* Change one number by steps while that is better. */
static void
weight_improve(struct memory_model *m, size_t rows, double *at, double *best)
{
	static const double by = 0.7, least = -5, most = 1.5;
	double from = *at, sign, value;
	bool changed = false;

	for (sign = -1; sign <= 1 && !changed; sign += 2)
		while (from + sign * by > least && from + sign * by < most) {
			*at = from + sign * by;
			value = posterior(m, rows);
			if (!(value > *best))
				break;
			*best = value;
			from = *at;
			changed = true;
		}
	*at = from;
}

static void
weights_fit(struct memory_model *m)
{
	size_t step = (m->n + FIT_ROWS - 1) / FIT_ROWS, k;
	double best = posterior(m, step);
	int sweep;

	for (sweep = 0; sweep < SWEEPS; sweep++) {
		weight_improve(m, step, &m->w.noise, &best);
		weight_improve(m, step, &m->w.products, &best);
		for (k = 0; k < m->n_features; k++)
			weight_improve(m, step, &m->w.of[k], &best);
	}
}

/* The density of the normal distribution over what is below x. */
static double
inverse_mills(double x)
{
	if (x < -30)
		return -x - 1 / x;
	return sqrt(2 / M_PI) * exp(-0.5 * x * x) / erfc(-x * M_SQRT1_2);
}

/*
 * The value and variance of a row that is above the limit, from mean and variance
 * without it.
 */
static void
row_above(struct memory_model *m, size_t i, double mean, double variance)
{
	double all = variance + exp(2 * m->w.noise), s = sqrt(all);
	double z = (mean + m->mean - m->limit) / s, r = inverse_mills(z);
	double d = fmin(fmax(r * (z + r), 1e-6), 1 - 1e-9);

	m->y[i] = mean + s * r / d;
	m->variance[i] = fmax(all / d - variance, 1e-4);
}

/* One round: every row that ran out of memory by all others. */
static void
propagate(struct memory_model *m)
{
	size_t n = m->n, i, k;
	double *means = xcalloc(3 * n, sizeof *means), *inverse = means + n;
	double *unit = inverse + n, squares;

	if (rows_factorise(m, 1, &squares)) {
		solve_up(m->factor, n, m->alpha);
		for (i = 0; i < n; i++) {
			if (!m->over[i])
				continue;
			memset(unit, 0, n * sizeof *unit);
			unit[i] = 1;
			solve_down(m->factor, n, unit);
			for (k = i; k < n; k++)
				inverse[i] += unit[k] * unit[k];
			means[i] = m->y[i] - m->alpha[i] / inverse[i];
		}
		for (i = 0; i < n; i++)
			if (m->over[i])
				row_above(m, i, means[i],
				    fmax(
					1 / inverse[i] - m->variance[i], 1e-6));
	}
	free(means);
}

/* Trials of which something is known, the newest half of most of them first. */
static size_t
trials_choose(int64_t *out, const struct history *h, bool *any_over, bool *any)
{
	int64_t i, last = history_count(h);
	size_t n = 0, k, kept, old;
	int64_t *all =
	    xcalloc((size_t)(last - history_first(h) + 2), sizeof *all);

	*any = *any_over = false;
	for (i = history_first(h); i <= last; i++) {
		if (history_state(h, i) == TRIAL_RUNNING ||
		    (history_memory(h, i) <= 0 && !history_memory_over(h, i)))
			continue;
		all[n++] = i;
	}
	kept = n < ROWS_MOST ? n : ROWS_MOST;
	old = n > ROWS_MOST ? ROWS_MOST / 2 : 0;
	for (k = 0; k < kept; k++) {
		out[k] = k < old ? all[k * (n - kept + old) / old]
				 : all[n - kept + k];
		*any_over = *any_over || history_memory_over(h, out[k]);
		*any = *any || !history_memory_over(h, out[k]);
	}
	free(all);
	return kept;
}

static void
rows_open(
    struct memory_model *m, const struct history *h, const int64_t *trials)
{
	size_t i, fits = 0;
	double peak;

	m->x = xcalloc(m->n * (m->n_features + 1), sizeof *m->x);
	m->y = xcalloc(2 * m->n, sizeof *m->y);
	m->variance = m->y + m->n;
	m->over = xcalloc(m->n, sizeof *m->over);
	for (i = 0; i < m->n; i++) {
		peak = history_memory(h, trials[i]);
		m->over[i] = history_memory_over(h, trials[i]);
		row_fill(
		    m, m->x + i * m->n_features, history_point(h, trials[i]));
		if (m->over[i])
			continue;
		m->y[i] = log(peak);
		m->mean += m->y[i];
		fits++;
	}
	m->mean /= (double)fits;
	for (i = 0; i < m->n; i++) {
		m->y[i] =
		    m->over[i] ? m->limit - m->mean + 0.5 : m->y[i] - m->mean;
		m->variance[i] = 1;
	}
}

static bool
memory_model_fit(struct memory_model *m)
{
	double squares;
	size_t k;
	int i;

	m->w.of = xcalloc(2 * m->n_features + 1, sizeof *m->w.of);
	m->squares = m->w.of + m->n_features;
	m->factor = xcalloc(m->n * m->n, sizeof *m->factor);
	m->alpha = xcalloc(m->n, sizeof *m->alpha);
	m->row = xcalloc(m->n_features + m->n, sizeof *m->row);
	m->w.noise = noise_prior;
	m->w.products = products_prior;
	for (k = 0; k < m->n_features; k++)
		m->w.of[k] = m->features[k].prior;
	propagate(m);
	weights_fit(m);
	for (i = 0; i < ROUNDS; i++)
		propagate(m);
	weights_fit(m);
	for (i = 0; i < ROUNDS; i++)
		propagate(m);
	if (!rows_factorise(m, 1, &squares))
		return false;
	solve_up(m->factor, m->n, m->alpha);
	return true;
}

struct memory_model *
memory_model_new(const struct space *space, const struct history *h)
{
	int64_t trials[ROWS_MOST], i;
	struct memory_model *m;
	bool any_over, any;
	size_t n;
	double limit = 0;

	if (h == NULL || !history_has_memory(h) ||
	    (history_keeps(h) & HISTORY_POINTS) == 0)
		return NULL;
	n = trials_choose(trials, h, &any_over, &any);
	if (n < ROWS_LEAST || !any_over || !any)
		return NULL;
	for (i = history_first(h); i <= history_count(h); i++)
		limit = fmax(limit, history_memory(h, i));
	m = xcalloc(1, sizeof *m);
	m->space = space;
	m->n = n;
	m->limit = log(limit);
	features_open(m);
	rows_open(m, h, trials);
	if (memory_model_fit(m))
		return m;
	memory_model_free(m);
	return NULL;
}

void
memory_model_free(struct memory_model *m)
{
	if (m == NULL)
		return;
	free(m->features);
	free(m->x);
	free(m->y);
	free(m->over);
	free(m->w.of);
	free(m->factor);
	free(m->alpha);
	free(m->row);
	free(m);
}

double
memory_model_fits(
    const struct memory_model *m, const double *point, double *bytes)
{
	double *row = m->row, *k = m->row + m->n_features, mean = 0, variance;
	size_t i;

	row_fill(m, row, point);
	for (i = 0; i < m->n; i++) {
		k[i] = covariance(m, row, m->x + i * m->n_features);
		mean += k[i] * m->alpha[i];
	}
	if (bytes != NULL)
		*bytes = exp(mean + m->mean);
	variance = covariance(m, row, row);
	solve_down(m->factor, m->n, k);
	for (i = 0; i < m->n; i++)
		variance -= k[i] * k[i];
	variance = fmax(variance, 0) * (1 + few_rows / (double)m->n) +
		   exp(2 * m->w.noise);
	return 0.5 *
	       erfc((mean + m->mean - m->limit + margin) / sqrt(2 * variance));
}

double
memory_model_limit(const struct memory_model *m)
{
	return exp(m->limit);
}
