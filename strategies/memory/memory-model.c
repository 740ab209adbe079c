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
#include "strategies/cholesky/cholesky.h"
#include "strategies/memory/memory-model.h"

enum {
	ROWS_LEAST = 7, /* fewer trials are to differ */
	ROWS_MOST = 128,
	FIT_ROWS = 48, /* to which the weights are fitted */
	SWEEPS = 2, /* over all weights */
	ROUNDS = 4, /* of expectation propagation */
	TABLE_MOST = 64 /* levels of a parameter whose numbers are kept */
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

/* A little less than the normal quantile of MEMORY_MODEL_LEAST. */
static const double deviations = 1.6448;

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
	double *table; /* its number at each level; NULL: too many, or none */
	double levels;
};

/* The numbers that are fitted, as logarithms. */
struct weights {
	double noise; /* deviation */
	double products; /* c */
	double *of; /* n_features */
};

/* Trials, by features: one after another in each. */
struct known_rows {
	size_t n;
	double *x; /* n_features x n */
	double *y; /* logarithms of peaks, minus the mean; made up for over */
	double *variance; /* of each y: noise, or of what is made up */
	bool *over; /* ran out of memory */
	double *linear; /* n x n: l, at and right of the diagonal */
	double *factor, *alpha; /* of the covariance: n x n, n */
};

struct memory_model {
	const struct space *space;
	struct feature *features;
	size_t n_features;
	struct known_rows rows;
	double mean, limit; /* logarithms */
	struct weights w;
	double *squares; /* n_features: squared weights */
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

static double
feature_number(const struct memory_model *m, const struct feature *f, double u)
{
	const struct param *p = &m->space->params[f->at];
	double x;

	if (f->category)
		return (double)choice_level(p, u);
	if (f->logarithm && f->shift == 0 && p->type == PARAM_FLOAT &&
	    p->scale == SCALE_LOG)
		x = log(p->min) + u * log(p->max / p->min);
	else {
		x = number_at(p, u);
		if (f->logarithm)
			x = log(x + f->shift);
	}
	return (x - f->centre) * f->scale;
}

/* The numbers at all levels that have equal parts of the unit interval. */
static void
tables_open(struct memory_model *m)
{
	const struct param *p;
	struct feature *f;
	size_t k;
	double i;

	for (k = 0; k < m->n_features; k++) {
		f = &m->features[k];
		p = &m->space->params[f->at];
		f->levels = (double)param_levels(p);
		if (!(f->levels > 0) || f->levels > TABLE_MOST ||
		    (p->type == PARAM_INT && p->scale == SCALE_LOG))
			continue;
		f->table = xcalloc(TABLE_MOST, sizeof *f->table);
		for (i = 0; i < f->levels; i++)
			f->table[(size_t)i] =
			    feature_number(m, f, (i + 0.5) / f->levels);
	}
}

/* The numbers of a point, of which one is step after another. */
static void
row_fill(
    const struct memory_model *m, double *row, size_t step, const double *point)
{
	const struct feature *f;
	double x;
	size_t k;

	for (k = 0; k < m->n_features; k++, row += step) {
		f = &m->features[k];
		x = point[f->at];
		if (isnan(x))
			*row = f->category ? -1 : 0;
		else if (f->table != NULL)
			*row = f->table[(size_t)fmin(
			    fmax(floor(x * f->levels), 0), f->levels - 1)];
		else
			*row = feature_number(m, f, x);
	}
}

#define KIND_LOOPS "strategies/memory/memory-loops.h"
#include "kernels/kinds.h"

static void
linear_fill(struct memory_model *m, struct known_rows *r)
{
	size_t k;

	memset(r->linear, 0, r->n * r->n * sizeof *r->linear);
	for (k = 0; k < m->n_features; k++) {
		m->squares[k] = exp(2 * m->w.of[k]);
		KIND_CALL(memory_linear_take, r->linear, r->linear,
		    r->x + k * r->n, r->n, m->features[k].category,
		    m->squares[k]);
	}
}

static void
known_rows_alloc(struct known_rows *r, size_t n, size_t n_features)
{
	r->n = n;
	r->x = xcalloc(n * (n_features + 2 * n + 3), sizeof *r->x);
	r->linear = r->x + n * n_features;
	r->factor = r->linear + n * n;
	r->y = r->factor + n * n;
	r->variance = r->y + n;
	r->alpha = r->variance + n;
	r->over = xcalloc(n, sizeof *r->over);
}

static void
known_rows_free(struct known_rows *r)
{
	free(r->x);
	free(r->over);
}

/*
 * Factor of the covariance with these l, and alpha, whose squares sum up to that of
 * y.  False: no factor.
 */
static bool
rows_factorise(const struct memory_model *m, struct known_rows *r,
    const double *linear, double *squares)
{
	size_t n = r->n, i;
	double noise = exp(2 * m->w.noise);

	KIND_CALL(memory_matrix_fill, r->factor, linear, n, exp(m->w.products));
	for (i = 0; i < n; i++)
		r->factor[i * (n + 1)] += r->over[i] ? r->variance[i] : noise;
	if (!cholesky_factor(r->factor, n))
		return false;
	memcpy(r->alpha, r->y, n * sizeof *r->alpha);
	cholesky_forward(r->factor, n, 0, r->alpha);
	for (*squares = 0, i = 0; i < n; i++)
		*squares += r->alpha[i] * r->alpha[i];
	return true;
}

/* The search for the likeliest weights, by a part of the rows. */
struct weights_search {
	struct memory_model *m;
	struct known_rows part;
	double *linear, *tried; /* of the weights so far, and of others */
	double best; /* logarithm of their likelihood and prior */
};

/* Logarithm of the likelihood and of the prior. */
static double
posterior(struct weights_search *s, const double *linear)
{
	const struct memory_model *m = s->m;
	size_t n = s->part.n, i;
	double squares, sum, off;

	if (!rows_factorise(m, &s->part, linear, &squares))
		return -INFINITY;
	sum = -0.5 * squares;
	for (i = 0; i < n; i++)
		sum -= log(s->part.factor[i * (n + 1)]);
	for (i = 0; i < m->n_features; i++) {
		off = (m->w.of[i] - m->features[i].prior) / alike;
		sum -= 0.5 * off * off;
	}
	off = (m->w.noise - noise_prior) / alike;
	sum -= 0.5 * off * off;
	off = (m->w.products - products_prior) / alike;
	return sum - 0.5 * off * off;
}

/*
 * With one number changed: k is its feature, which changes l; no feature has number
 * n_features.
 */
static double
weight_try(struct weights_search *s, double from, double to, size_t k)
{
	if (k == s->m->n_features)
		return posterior(s, s->linear);
	KIND_CALL(memory_linear_take, s->tried, s->linear,
	    s->part.x + k * s->part.n, s->part.n, s->m->features[k].category,
	    exp(2 * to) - exp(2 * from));
	return posterior(s, s->tried);
}

/* Change one number by steps while that is better; k as above. */
static void
weight_improve(struct weights_search *s, double *at, size_t k)
{
	static const double by = 0.7, least = -5, most = 1.5;
	double from = *at, sign, value, *swap;
	bool changed = false;

	for (sign = -1; sign <= 1 && !changed; sign += 2)
		while (from + sign * by > least && from + sign * by < most) {
			*at = from + sign * by;
			value = weight_try(s, from, *at, k);
			if (!(value > s->best))
				break;
			s->best = value;
			from = *at;
			changed = true;
			if (k == s->m->n_features)
				continue;
			swap = s->linear;
			s->linear = s->tried;
			s->tried = swap;
		}
	*at = from;
}

/* Every so many rows, so that they are few. */
static void
part_fill(struct known_rows *part, const struct memory_model *m)
{
	size_t step = (m->rows.n + FIT_ROWS - 1) / FIT_ROWS, i, k;
	size_t n = (m->rows.n + step - 1) / step;

	known_rows_alloc(part, n, m->n_features);
	for (i = 0; i < n; i++) {
		for (k = 0; k < m->n_features; k++)
			part->x[k * n + i] =
			    m->rows.x[k * m->rows.n + i * step];
		part->y[i] = m->rows.y[i * step];
		part->variance[i] = m->rows.variance[i * step];
		part->over[i] = m->rows.over[i * step];
	}
}

static void
weights_fit(struct memory_model *m)
{
	struct weights_search s = { .m = m };
	size_t k, none = m->n_features;
	double *room;
	int sweep;

	part_fill(&s.part, m);
	linear_fill(m, &s.part);
	room = xcalloc(s.part.n * s.part.n, sizeof *room);
	s.linear = s.part.linear;
	s.tried = room;
	s.best = posterior(&s, s.linear);
	for (sweep = 0; sweep < SWEEPS; sweep++) {
		weight_improve(&s, &m->w.noise, none);
		weight_improve(&s, &m->w.products, none);
		for (k = 0; k < m->n_features; k++)
			weight_improve(&s, &m->w.of[k], k);
	}
	linear_fill(m, &m->rows);
	free(room);
	known_rows_free(&s.part);
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

	m->rows.y[i] = mean + s * r / d;
	m->rows.variance[i] = fmax(all / d - variance, 1e-4);
}

/* One round: every row that ran out of memory by all others. */
static void
propagate(struct memory_model *m)
{
	struct known_rows *r = &m->rows;
	size_t n = r->n, i, k;
	double *means = xcalloc(3 * n, sizeof *means), *inverse = means + n;
	double *unit = inverse + n, squares;

	if (rows_factorise(m, r, r->linear, &squares)) {
		cholesky_back(r->factor, n, r->alpha);
		for (i = 0; i < n; i++) {
			if (!r->over[i])
				continue;
			memset(unit, 0, n * sizeof *unit);
			unit[i] = 1;
			cholesky_forward(r->factor, n, i, unit);
			for (k = i; k < n; k++)
				inverse[i] += unit[k] * unit[k];
			means[i] = r->y[i] - r->alpha[i] / inverse[i];
		}
		for (i = 0; i < n; i++)
			if (r->over[i])
				row_above(m, i, means[i],
				    fmax(
					1 / inverse[i] - r->variance[i], 1e-6));
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
	struct known_rows *r = &m->rows;
	size_t i, fits = 0;

	for (i = 0; i < r->n; i++) {
		r->over[i] = history_memory_over(h, trials[i]);
		row_fill(m, r->x + i, r->n, history_point(h, trials[i]));
		if (r->over[i])
			continue;
		r->y[i] = log(history_memory(h, trials[i]));
		m->mean += r->y[i];
		fits++;
	}
	m->mean /= (double)fits;
	for (i = 0; i < r->n; i++) {
		r->y[i] =
		    r->over[i] ? m->limit - m->mean + 0.5 : r->y[i] - m->mean;
		r->variance[i] = 1;
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
	m->row = xcalloc(m->n_features + m->rows.n, sizeof *m->row);
	m->w.noise = noise_prior;
	m->w.products = products_prior;
	for (k = 0; k < m->n_features; k++)
		m->w.of[k] = m->features[k].prior;
	linear_fill(m, &m->rows);
	propagate(m);
	weights_fit(m);
	for (i = 0; i < ROUNDS; i++)
		propagate(m);
	weights_fit(m);
	for (i = 0; i < ROUNDS; i++)
		propagate(m);
	if (!rows_factorise(m, &m->rows, m->rows.linear, &squares))
		return false;
	cholesky_back(m->rows.factor, m->rows.n, m->rows.alpha);
	return true;
}

/* Of the trials that are known; of_over: unless none ran out of memory. */
static struct memory_model *
memory_model_make(
    const struct space *space, const struct history *h, bool of_over)
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
	if (n < ROWS_LEAST || (of_over && !any_over) || !any)
		return NULL;
	for (i = history_first(h); i <= history_count(h); i++)
		limit = fmax(limit, history_memory(h, i));
	m = xcalloc(1, sizeof *m);
	m->space = space;
	m->limit = log(limit);
	features_open(m);
	tables_open(m);
	known_rows_alloc(&m->rows, n, m->n_features);
	rows_open(m, h, trials);
	if (memory_model_fit(m))
		return m;
	memory_model_free(m);
	return NULL;
}

struct memory_model *
memory_model_new(const struct space *space, const struct history *h)
{
	return memory_model_make(space, h, true);
}

struct memory_model *
memory_model_of_peaks(const struct space *space, const struct history *h)
{
	return memory_model_make(space, h, false);
}

void
memory_model_free(struct memory_model *m)
{
	size_t k;

	if (m == NULL)
		return;
	for (k = 0; k < m->n_features; k++)
		free(m->features[k].table);
	free(m->features);
	known_rows_free(&m->rows);
	free(m->w.of);
	free(m->row);
	free(m);
}

/* The room below the limit at a point, and the variance there without trials. */
static double
point_room(const struct memory_model *m, const double *point, double *prior)
{
	double *row = m->row, *k = m->row + m->n_features, mean = 0, l = 0;
	double products = exp(m->w.products);
	size_t i;

	row_fill(m, row, 1, point);
	KIND_CALL(memory_cross_fill, m, row, k);
	KIND_CALL(memory_covariances_fill, k, m->rows.n, products);
	for (i = 0; i < m->rows.n; i++)
		mean += k[i] * m->rows.alpha[i];
	for (i = 0; i < m->n_features; i++)
		l += m->squares[i] *
		     (m->features[i].category ? 1 : row[i] * row[i]);
	*prior = of_mean + l + products * l * l;
	return m->limit - margin - mean - m->mean;
}

/* The variance, of what point_room left in the scratch. */
static double
point_variance(const struct memory_model *m, double prior)
{
	double *k = m->row + m->n_features;
	size_t n = m->rows.n, i;

	cholesky_forward(m->rows.factor, n, 0, k);
	for (i = 0; i < n; i++)
		prior -= k[i] * k[i];
	return fmax(prior, 0) * (1 + few_rows / (double)n) +
	       exp(2 * m->w.noise);
}

double
memory_model_fits(
    const struct memory_model *m, const double *point, double *bytes)
{
	double prior, room = point_room(m, point, &prior);

	if (bytes != NULL)
		*bytes = exp(m->limit - margin - room);
	return 0.5 * erfc(-room / sqrt(2 * point_variance(m, prior)));
}

bool
memory_model_allows(const struct memory_model *m, const double *point)
{
	double prior, room = point_room(m, point, &prior);

	/* No variance is less than the noise. */
	if (!(room >= deviations * exp(m->w.noise)))
		return false;
	return 0.5 * erfc(-room / sqrt(2 * point_variance(m, prior))) >=
	       MEMORY_MODEL_LEAST;
}

double
memory_model_need(const struct memory_model *m, const double *point)
{
	double prior, room = point_room(m, point, &prior);

	return exp(
	    m->limit - room + deviations * sqrt(point_variance(m, prior)));
}

double
memory_model_limit(const struct memory_model *m)
{
	return exp(m->limit);
}
