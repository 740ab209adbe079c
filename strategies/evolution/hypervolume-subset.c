/*
 * Selects a few rows of a front with a large hypervolume: greedy choice by
 * contribution, within 1 - 1/e of the optimum.  Guerreiro, Fonseca and Paquete,
 * "Greedy hypervolume subset selection in low dimensions" (2016).
 *
 * The contribution of a row never grows when others are chosen (submodularity),
 * so its previous contribution is an upper bound, and most rows need no update.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "strategies/evolution/pareto.h"

#define BEYOND 1e-12 /* stands for a reference of 0 */

struct candidate {
	const double *losses;
	size_t i, m;
	double gain; /* or more than it */
	size_t at; /* how many were chosen when it was computed */
};

void
hypervolume_reference(
    double *reference, const double *losses, size_t n, size_t m)
{
	double worst, x;
	size_t d, i;

	for (d = 0; d < m; d++) {
		worst = -INFINITY;
		for (i = 0; i < n; i++) {
			x = losses[i * m + d];
			worst = fmax(worst, isnan(x) ? INFINITY : x);
		}
		reference[d] = fmax(1.1 * worst, 0.9 * worst);
		if (reference[d] == 0)
			reference[d] = BEYOND;
	}
}

static int
hypervolume_subset_by_losses(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	double p, q;
	size_t d;

	for (d = 0; d < x->m; d++) {
		p = isnan(x->losses[d]) ? INFINITY : x->losses[d];
		q = isnan(y->losses[d]) ? INFINITY : y->losses[d];
		if (p != q)
			return p < q ? -1 : 1;
	}
	return x->i < y->i ? -1 : 1;
}

static bool
repeats(const struct candidate *c, const struct candidate *before)
{
	size_t d;

	for (d = 0; d < c->m; d++)
		if (c->losses[d] != before->losses[d] &&
		    !(isnan(c->losses[d]) && isnan(before->losses[d])))
			return false;
	return true;
}

static bool
all_finite(const double *x, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

/* The one that adds most to the rows that were chosen. */
static size_t
next_best(struct candidate *c, size_t n, const double *taken, size_t n_taken,
    const double *reference)
{
	size_t best, k;

	for (;;) {
		for (best = 0, k = 1; k < n; k++)
			if (c[k].gain > c[best].gain)
				best = k;
		if (c[best].at == n_taken)
			return best;
		c[best].at = n_taken;
		c[best].gain =
		    fmin(c[best].gain, hypervolume_gain(c[best].losses, taken,
					   n_taken, c[best].m, reference));
	}
}

/*
 * The same with two losses, where the contribution of a row is one rectangle
 * whose corners move when a neighbour is chosen.  Rows are sorted, none
 * dominates another.
 */
static void
choose_two(size_t *chosen, size_t k, struct candidate *c, size_t n,
    const double *reference)
{
	double *corner = xcalloc(2 * n, sizeof *corner);
	size_t i, j, best;

	for (j = 0; j < 2 * n; j++)
		corner[j] = reference[j % 2];
	for (i = 0; i < k; i++, n--) {
		for (best = 0, j = 0; j < n; j++) {
			c[j].gain = (corner[2 * j] - c[j].losses[0]) *
				    (corner[2 * j + 1] - c[j].losses[1]);
			if (c[j].gain > c[best].gain)
				best = j;
		}
		chosen[i] = c[best].i;
		for (j = 0; j < best; j++)
			corner[2 * j] = fmin(corner[2 * j], c[best].losses[0]);
		for (j = best + 1; j < n; j++)
			corner[2 * j + 1] =
			    fmin(corner[2 * j + 1], c[best].losses[1]);
		memmove(c + best, c + best + 1, (n - best - 1) * sizeof *c);
		memmove(corner + 2 * best, corner + 2 * best + 2,
		    2 * (n - best - 1) * sizeof *corner);
	}
	free(corner);
}

static bool
hypervolume_subset_is_front(const struct candidate *c, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (!(c[i].losses[1] < c[i - 1].losses[1]))
			return false;
	return true;
}

/* Choose k of n different sorted candidates. */
static void
choose(size_t *chosen, size_t k, struct candidate *c, size_t n,
    const double *reference)
{
	size_t m = c[0].m, i, best = 0;
	double *taken = xcalloc(k * m + 1, sizeof *taken);
	bool known = all_finite(reference, m);

	if (known && m == 2 && hypervolume_subset_is_front(c, n)) {
		choose_two(chosen, k, c, n, reference);
		free(taken);
		return;
	}
	for (i = 0; i < n; i++) {
		c[i].at = 0;
		c[i].gain =
		    known ? hypervolume_gain(c[i].losses, NULL, 0, m, reference)
			  : 0;
	}
	for (i = 0; i < k; i++) {
		if (known)
			best = next_best(c, n - i, taken, i, reference);
		chosen[i] = c[best].i;
		memcpy(taken + i * m, c[best].losses, m * sizeof *taken);
		memmove(c + best, c + best + 1, (n - i - best - 1) * sizeof *c);
	}
	free(taken);
}

void
hypervolume_subset(size_t *chosen, size_t k, const double *losses, size_t n,
    size_t m, const double *reference)
{
	struct candidate *c = xcalloc(n + 1, sizeof *c);
	bool *again = xcalloc(n + 1, sizeof *again);
	size_t i, unique = 0, left;

	for (i = 0; i < n; i++)
		c[i] = (struct candidate){ losses + i * m, i, m, 0, 0 };
	qsort(c, n, sizeof *c, hypervolume_subset_by_losses);
	for (i = 0; i < n; i++) {
		if (unique > 0 && repeats(&c[i], &c[unique - 1]))
			again[c[i].i] = true;
		else
			c[unique++] = c[i];
	}
	left = k > unique ? k - unique : 0;
	if (k > left)
		choose(chosen, k - left, c, unique, reference);
	for (i = 0; i < n && left > 0; i++)
		if (again[i])
			chosen[k - left--] = i;
	free(c);
	free(again);
}
