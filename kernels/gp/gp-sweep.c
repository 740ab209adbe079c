/*
 * The best of many candidates by log expected improvement, with exact pruning.
 *
 * More observations can only lower a variance, and the score rises with the
 * variance.  So: compute all means first, which is cheap; the exact scores of
 * those with the best means give a bound; then the triangular solve proceeds
 * block by block, and a candidate whose score with the current variance is
 * below the bound is dropped.  Candidates that survive all blocks have exact
 * scores.
 */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "kernels/alloc.h"
#include "kernels/gp/gp-sweep.h"
#include "kernels/formulas.h"

/* Scores that differ by less, relatively, are the same: rounding. */
#define SAME 1e-6

struct hit {
	double score;
	size_t index;
};

/* The best k so far: a heap with the worst on top. */
struct sweep {
	const struct gp_sweep_device *dev;
	struct hit *top;
	size_t n, k;
	double work; /* multiplications for variances */
	/* By place. */
	size_t *number, *which;
	double *score;
};

/* Ties go to the smaller index, so the answer does not hang on the order. */
static bool
hit_better(const struct hit *a, const struct hit *b)
{
	return a->score > b->score ||
	       (a->score == b->score && a->index < b->index);
}

static int
hit_compare(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	return hit_better(x, y) ? -1 : hit_better(y, x);
}

static void
heap_sink(struct hit *h, size_t n, size_t i)
{
	struct hit moved = h[i];
	size_t child;

	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n && hit_better(&h[child], &h[child + 1]))
			child++;
		if (!hit_better(&moved, &h[child]))
			break;
		h[i] = h[child];
		i = child;
	}
	h[i] = moved;
}

static void
heap_add(struct sweep *s, struct hit hit)
{
	size_t i;

	if (s->n < s->k) {
		s->top[s->n++] = hit;
		if (s->n == s->k)
			for (i = s->k / 2; i-- > 0;)
				heap_sink(s->top, s->n, i);
	} else if (hit_better(&hit, &s->top[0])) {
		s->top[0] = hit;
		heap_sink(s->top, s->n, 0);
	}
}

/* A point that is no number is the last choice. */
static double
score_known(double score)
{
	return isnan(score) ? -INFINITY : score;
}

/* Whether a candidate with this upper bound may still be among the best. */
static bool
sweep_hopeful(const struct sweep *s, double score)
{
	double bound;

	if (s->n < s->k)
		return true;
	bound = s->top[0].score;
	return !(score < bound - SAME * (1 + fabs(bound)));
}

/* Select the candidates that continue after a block; returns their number. */
static size_t
sweep_choose(struct sweep *s, size_t m)
{
	size_t i, left = 0;

	for (i = 0; i < m; i++) {
		s->score[i] = score_known(s->score[i]);
		if (!sweep_hopeful(s, s->score[i]))
			continue;
		s->score[left] = s->score[i];
		s->number[left] = s->number[i];
		s->which[left++] = i;
	}
	return left;
}

/* Candidates through all blocks. */
static int
sweep_some(struct sweep *s, const struct hit *hits, size_t m)
{
	const struct gp_sweep_device *dev = s->dev;
	size_t at, rows, i, left;

	for (i = 0; i < m; i++) {
		s->number[i] = hits[i].index;
		s->score[i] = hits[i].score;
	}
	if (dev->load(dev->arg, s->number, m) != 0)
		return -1;
	for (at = 0; at < dev->rows && m > 0; at += rows) {
		rows =
		    dev->rows - at < dev->block ? dev->rows - at : dev->block;
		if (dev->solve(dev->arg, at, rows, m, s->score) != 0)
			return -1;
		s->work += (double)m * (double)rows * (double)(2 * at + rows);
		left = sweep_choose(s, m);
		if (left < m && left > 0 && at + rows < dev->rows &&
		    dev->keep(dev->arg, s->which, left, at + rows) != 0)
			return -1;
		m = left;
	}
	for (i = 0; i < m; i++)
		heap_add(s, (struct hit){ s->score[i], s->number[i] });
	return 0;
}

/*
 * All candidates, the most hopeful first: with the variance that they have
 * without any data the order of the scores is that of the means.
 */
static int
sweep_all(struct sweep *s, struct hit *hits, size_t m)
{
	size_t i, some, most = s->dev->together;
	size_t first = s->k > s->dev->first ? s->k : s->dev->first;

	for (i = 0; i < m; i += some) {
		some = i == 0 && first < most ? first : most;
		some = some < m - i ? some : m - i;
		/* All following candidates have lower bounds. */
		while (some > 0 && !sweep_hopeful(s, hits[i + some - 1].score))
			some--;
		if (some == 0)
			break;
		if (sweep_some(s, hits + i, some) != 0)
			return -1;
	}
	return 0;
}

/* All candidates, the best means first. */
static struct hit *
sweep_order(const struct gp_sweep_device *dev, size_t m)
{
	struct hit *hits = reallocarray(NULL, m + 1, sizeof *hits);
	double *mean = kernel_alloc(m, 1);
	size_t i;

	if (hits == NULL)
		abort();
	if (dev->means(dev->arg, mean) != 0) {
		free(mean);
		free(hits);
		return NULL;
	}
	for (i = 0; i < m; i++)
		hits[i] = (struct hit){ score_known(log_improvement(
					    mean[i], dev->signal, dev->best)),
			i };
	qsort(hits, m, sizeof *hits, hit_compare);
	free(mean);
	return hits;
}

size_t
gp_sweep_top(const struct gp_sweep_device *dev, size_t m, size_t k,
    size_t *index, double *score, struct gp_sweep *said)
{
	struct sweep s = { .dev = dev, .k = k < m ? k : m };
	double all = (double)m * (double)dev->rows * (double)dev->rows;
	struct hit *hits = sweep_order(dev, m);
	size_t i, found = SIZE_MAX;

	s.top = reallocarray(NULL, s.k + 1, sizeof *s.top);
	if (s.top == NULL)
		abort();
	s.number = kernel_alloc_sizes(dev->together);
	s.which = kernel_alloc_sizes(dev->together);
	s.score = kernel_alloc(dev->together, 1);
	if (hits != NULL && (s.k == 0 || sweep_all(&s, hits, m) == 0)) {
		qsort(s.top, s.n, sizeof *s.top, hit_compare);
		for (found = 0; found < s.n; found++) {
			i = found;
			index[i] = s.top[i].index;
			score[i] = s.top[i].score;
		}
		if (said != NULL)
			said->share = all > 0 ? s.work / all : 0;
	}
	free(s.score);
	free(s.which);
	free(s.number);
	free(s.top);
	free(hits);
	return found;
}
