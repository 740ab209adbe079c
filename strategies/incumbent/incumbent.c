/*
 * A Gaussian process without libraries, for programs that are linked without
 * LAPACK and want a look at a few results alone: Matern 5/2 with a relevance for
 * each parameter, by the steps in their logarithms that increase the likelihood
 * (Rasmussen and Williams, "Gaussian processes for machine learning", 2006, ch. 2
 * and 5).  The scale of the process is the likeliest one, in closed form.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/space.h"
#include "strategies/cholesky/cholesky.h"
#include "strategies/incumbent/incumbent.h"

enum {
	ROWS_MOST = 128,
	SWEEPS = 3, /* over all relevances */
	WIDE = 20 /* parameters from which there is one */
};

/* Of the distance from the median to the least mean: noise that is large. */
static const double large = 0.3;

/*
 * Of the logarithms of relevances: they are alike until results show otherwise.
 * Large ones are unlikely, too: without that, noise is taken for structure.
 */
static const double alike = 1.5;

struct process {
	size_t n, d;
	double *x; /* n x d */
	double *y; /* n, standardised */
	bool *category; /* d */
	double *relevance; /* d: logarithms */
	double *rate; /* d: of the last evidence, what they are logarithms of */
	double
	    noise; /* logarithm of its share of the variance of the process */
	double *factor, *weights; /* n x n, n */
	double scale; /* the variance of the process */
};

struct ranked {
	double loss;
	size_t row;
};

static int
incumbent_by_loss(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->loss != y->loss)
		return x->loss < y->loss ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static double
correlation(const struct process *p, const double *a, const double *b)
{
	double r2 = 0, step, t;
	size_t k;

	for (k = 0; k < p->d; k++) {
		step = p->category[k] ? a[k] != b[k] : a[k] - b[k];
		r2 += p->rate[k] * step * step;
	}
	t = sqrt(5 * r2);
	return (1 + t + t * t / 3) * exp(-t);
}

/* Logarithm of the likelihood and of the prior of the relevances. */
static double
evidence(struct process *p)
{
	size_t n = p->n, i, j;
	double squares = 0, sum = 0, mean = 0, step;

	for (i = 0; i < p->d; i++)
		p->rate[i] = exp(p->relevance[i]);
	for (i = 0; i < n; i++) {
		for (j = i + 1; j < n; j++)
			p->factor[i * n + j] =
			    correlation(p, p->x + i * p->d, p->x + j * p->d);
		p->factor[i * n + i] = 1 + exp(p->noise) + 1e-8;
	}
	if (!cholesky_factor(p->factor, n))
		return -INFINITY;
	memcpy(p->weights, p->y, n * sizeof *p->weights);
	cholesky_forward(p->factor, n, 0, p->weights);
	cholesky_back(p->factor, n, p->weights);
	for (i = 0; i < n; i++) {
		squares += p->y[i] * p->weights[i];
		sum -= log(p->factor[i * n + i]);
	}
	p->scale = fmax(squares / (double)n, 1e-12);
	sum -= 0.5 * (double)n * log(p->scale);
	for (i = 0; i < p->d; i++)
		mean += p->relevance[i] / (double)p->d;
	for (i = 0; i < p->d; i++) {
		step = (p->relevance[i] - mean) / alike;
		sum -= 0.5 * step * step + 0.1 * p->rate[i] +
		       0.1 * exp(-p->relevance[i]);
	}
	return sum;
}

/* Change one number while that is better; returns whether it is another now. */
static bool
number_improve(struct process *p, double *at, double step, double *best)
{
	static const double most = 9;
	double from = *at, sign, value;
	bool changed = false;

	for (sign = -1; sign <= 1 && !changed; sign += 2)
		while (fabs(from + sign * step) <= most) {
			*at = from + sign * step;
			value = evidence(p);
			if (!(value > *best))
				break;
			*best = value;
			from = *at;
			changed = true;
		}
	*at = from;
	return changed;
}

/* Common relevances and noise on a grid, then each by itself. */
static void
process_fit(struct process *p)
{
	static const double relevances[] = { -2, 0, 1.5, 3 };
	static const double noises[] = { -8, -4, -2, 0, 1.5 };
	double best = -INFINITY, value, relevance = 0, noise = -4;
	size_t i, j, k, sweep;
	bool changed = true;

	for (i = 0; i < sizeof relevances / sizeof *relevances; i++)
		for (j = 0; j < sizeof noises / sizeof *noises; j++) {
			for (k = 0; k < p->d; k++)
				p->relevance[k] = relevances[i];
			p->noise = noises[j];
			value = evidence(p);
			if (value > best) {
				best = value;
				relevance = relevances[i];
				noise = noises[j];
			}
		}
	for (k = 0; k < p->d; k++)
		p->relevance[k] = relevance;
	p->noise = noise;
	for (sweep = 0; sweep < SWEEPS && changed; sweep++) {
		changed = number_improve(p, &p->noise, 1, &best);
		for (k = 0; k < p->d; k++)
			changed =
			    number_improve(p, &p->relevance[k], 1.5, &best) ||
			    changed;
		if (p->d >= WIDE)
			break;
	}
	(void)evidence(p);
}

/*
 * Which rows are used: the last ones and, among them or before them, the luckiest.
 * A choice by losses would be one of lucky rows.
 */
static size_t
rows_choose(size_t *rows, size_t looks, size_t n)
{
	size_t m = n < ROWS_MOST ? n : ROWS_MOST, i;

	for (i = 0; i < m; i++)
		rows[i] = n - m + i;
	if (looks < n - m)
		rows[0] = looks;
	return m;
}

/*
 * Losses above the median are brought nearer: their distances matter little for
 * the best.  Mean 0 and variance 1.
 */
static void
values_fill(struct process *p, double *centre, double *unit)
{
	struct ranked *order = xcalloc(p->n, sizeof *order);
	double middle, spread, squares = 0;
	size_t i;

	for (i = 0; i < p->n; i++)
		order[i] = (struct ranked){ p->y[i], i };
	qsort(order, p->n, sizeof *order, incumbent_by_loss);
	middle = order[p->n / 2].loss;
	spread = middle - order[p->n / 8].loss;
	free(order);
	for (i = 0; i < p->n; i++)
		if (p->y[i] > middle && spread > 0)
			p->y[i] = middle +
				  spread * log1p((p->y[i] - middle) / spread);
	for (*centre = 0, i = 0; i < p->n; i++)
		*centre += p->y[i] / (double)p->n;
	for (i = 0; i < p->n; i++) {
		p->y[i] -= *centre;
		squares += p->y[i] * p->y[i] / (double)p->n;
	}
	*unit = squares > 0 ? sqrt(squares) : 1;
	for (i = 0; i < p->n; i++)
		p->y[i] /= *unit;
}

static void
process_init(struct process *p, const struct space *space, const double *points,
    const double *losses, const size_t *rows)
{
	const struct param *param;
	size_t i, k;
	double u;

	p->d = space->n;
	p->x = xcalloc(p->n * p->d + 1, sizeof *p->x);
	p->y = xcalloc(2 * p->n, sizeof *p->y);
	p->weights = p->y + p->n;
	p->category = xcalloc(p->d + 1, sizeof *p->category);
	p->relevance = xcalloc(2 * p->d + 1, sizeof *p->relevance);
	p->rate = p->relevance + p->d;
	p->factor = xcalloc(p->n * p->n, sizeof *p->factor);
	for (k = 0; k < p->d; k++) {
		param = &space->params[k];
		p->category[k] = param->type == PARAM_CHOICE && !param->ordered;
	}
	for (i = 0; i < p->n; i++) {
		p->y[i] = losses[rows[i]];
		for (k = 0; k < p->d; k++) {
			u = points[rows[i] * p->d + k];
			p->x[i * p->d + k] = isnan(u) ? 0.5 : u;
		}
	}
}

static void
process_fini(struct process *p)
{
	free(p->x);
	free(p->y);
	free(p->category);
	free(p->relevance);
	free(p->factor);
}

/* The row with the least mean; whether noise is large beside the spread. */
static bool
process_judge(const struct process *p, size_t *at, double *means)
{
	struct ranked *order = xcalloc(p->n, sizeof *order);
	double share = exp(p->noise), spread;
	size_t i;

	for (i = 0; i < p->n; i++) {
		means[i] = p->y[i] - share * p->weights[i];
		order[i] = (struct ranked){ means[i], i };
	}
	qsort(order, p->n, sizeof *order, incumbent_by_loss);
	*at = order[0].row;
	spread = order[p->n / 2].loss - order[0].loss;
	free(order);
	return sqrt(p->scale * share) > large * spread;
}

bool
incumbent_find(struct incumbent *out, const struct space *space, size_t n,
    const double *points, const double *losses)
{
	struct process p = { 0 };
	double means[ROWS_MOST], centre, unit;
	size_t rows[ROWS_MOST], at, i, looks = 0;
	bool large_noise;

	if (n < INCUMBENT_LEAST || space->n == 0)
		return false;
	for (i = 1; i < n; i++)
		if (losses[i] < losses[looks])
			looks = i;
	p.n = rows_choose(rows, looks, n);
	process_init(&p, space, points, losses, rows);
	values_fill(&p, &centre, &unit);
	process_fit(&p);
	large_noise = process_judge(&p, &at, means);
	for (i = 0; rows[i] != looks;)
		i++;
	*out = (struct incumbent){ .at = rows[at],
		.looks = looks,
		.expected = centre + unit * means[at],
		.expected_looks = centre + unit * means[i],
		.noise = unit * sqrt(p.scale * exp(p.noise)) };
	process_fini(&p);
	return large_noise;
}
