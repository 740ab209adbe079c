/*
 * Expected improvement of the hypervolume, in logarithms.  What no row of the
 * front dominates is divided into boxes, in each of which the expectation is a
 * product over the losses, whose processes are independent.  Yang, Emmerich,
 * Deutz and Baeck, "Efficient computation of expected hypervolume improvement
 * using box decomposition algorithms", J. Global Optimization 75 (2019);
 * Ament et al. 2023 for the logarithms.
 */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/search.h"
#include "strategies/gp/gp-hypervolume.h"
#include "strategies/gp/gp.h"

/* A part of the range of the first loss. */
struct strip {
	size_t from, to; /* levels of the first loss */
	size_t top; /* of the second: what is below is not dominated */
	size_t open; /* of the third: from there on */
};

struct strips {
	size_t n;
	struct strip *all;
};

/* What is known of one level at one point. */
struct level {
	double log_ei, d_mean, d_sd; /* log E max(0, level - loss) */
};

static int
gp_hypervolume_by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The rows that are better than the reference point; returns their number. */
static size_t
rows_inside(double *to, const double *losses, size_t n, size_t m,
    const double *reference)
{
	size_t kept = 0, i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < m && losses[i * m + k] < reference[k];)
			k++;
		if (k == m)
			memcpy(to + kept++ * m, losses + i * m, m * sizeof *to);
	}
	return kept;
}

static void
levels_fill(struct gp_boxes *b, const double *rows, size_t n, size_t k,
    double reference)
{
	double *v = xcalloc(n + 2, sizeof *v);
	size_t kept = 1, i;

	v[0] = -INFINITY;
	for (i = 0; i < n; i++)
		v[1 + i] = rows[i * b->m + k];
	v[1 + n] = reference;
	qsort(v + 1, n + 1, sizeof *v, gp_hypervolume_by_number);
	for (i = 1; i < n + 2; i++)
		if (v[i] != v[kept - 1])
			v[kept++] = v[i];
	b->levels[k] = v;
	b->n_levels[k] = kept;
}

static size_t
gp_hypervolume_level_of(const struct gp_boxes *b, size_t k, double value)
{
	return search_lower_bound(b->levels[k], b->n_levels[k], value);
}

static void
box_add(struct gp_boxes *b, const struct strip *s, size_t end)
{
	b->boxes[b->n++] = (struct gp_box){ .low = { s->from, 0, s->open },
		.high = { s->to, s->top, end } };
}

/*
 * Take out what the corner dominates from z on: the strips that lose something
 * end there as boxes, and one strip below the corner takes their place.
 */
static void
strips_cut(struct gp_boxes *b, struct strips *next, const struct strips *now,
    size_t x, size_t y, size_t z)
{
	struct strip cut = { .top = y, .open = z }, s;
	bool begun = false;
	size_t i;

	next->n = 0;
	for (i = 0; i < now->n; i++) {
		s = now->all[i];
		if (s.to <= x || s.top <= y) {
			if (begun)
				next->all[next->n++] = cut;
			begun = false;
			next->all[next->n++] = s;
			continue;
		}
		if (s.open < z)
			box_add(b, &s, z);
		if (s.from < x)
			next->all[next->n++] =
			    (struct strip){ s.from, x, s.top, z };
		if (!begun)
			cut.from = s.from > x ? s.from : x;
		begun = true;
		cut.to = s.to;
	}
	if (begun)
		next->all[next->n++] = cut;
}

/* A row and the level of its third loss, by which they are taken. */
struct taken {
	size_t z, row;
};

static int
by_depth(const void *a, const void *b)
{
	const struct taken *x = a, *y = b;

	if (x->z != y->z)
		return x->z < y->z ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static void
boxes_fill(struct gp_boxes *b, const double *rows, size_t n)
{
	struct taken *order = xcalloc(n + 1, sizeof *order);
	struct strips now, next, swap;
	const double *row;
	size_t i;

	now.all = xcalloc(2 * (2 * n + 2), sizeof *now.all);
	next.all = now.all + 2 * n + 2;
	now.n = 1;
	now.all[0] =
	    (struct strip){ 0, b->n_levels[0] - 1, b->n_levels[1] - 1, 0 };
	for (i = 0; i < n; i++)
		order[i] = (struct taken){ b->m > 2 ? gp_hypervolume_level_of(b,
							  2, rows[i * b->m + 2])
						    : 0,
			i };
	qsort(order, n, sizeof *order, by_depth);
	for (i = 0; i < n; i++) {
		row = rows + order[i].row * b->m;
		strips_cut(b, &next, &now,
		    gp_hypervolume_level_of(b, 0, row[0]),
		    gp_hypervolume_level_of(b, 1, row[1]), order[i].z);
		swap = now;
		now = next;
		next = swap;
	}
	for (i = 0; i < now.n; i++)
		box_add(b, &now.all[i], b->m > 2 ? b->n_levels[2] - 1 : 0);
	free(now.all < next.all ? now.all : next.all);
	free(order);
}

void
gp_boxes_init(struct gp_boxes *b, const double *losses, size_t n, size_t m,
    const double *reference)
{
	double *rows = xcalloc(n * m + 1, sizeof *rows);
	size_t kept, k;

	*b = (struct gp_boxes){ .m = m };
	kept = rows_inside(rows, losses, n, m, reference);
	for (k = 0; k < m; k++)
		levels_fill(b, rows, kept, k, reference[k]);
	b->boxes = xcalloc(2 * kept + 1, sizeof *b->boxes);
	boxes_fill(b, rows, kept);
	free(rows);
}

void
gp_boxes_free(struct gp_boxes *b)
{
	size_t k;

	for (k = 0; k < b->m; k++)
		free(b->levels[k]);
	free(b->boxes);
}

/* log E of the part of a side of a box that a loss leaves free. */
static struct level
side(const struct level *levels, size_t low, size_t high)
{
	const struct level *l = &levels[low], *h = &levels[high];
	double share, left;
	struct level out;

	if (low == 0)
		return *h;
	share = exp(l->log_ei - h->log_ei);
	left = 1 - share;
	if (!(left > 0))
		return (struct level){ .log_ei = -INFINITY };
	out.log_ei = h->log_ei + log1p(-share);
	out.d_mean = (h->d_mean - share * l->d_mean) / left;
	out.d_sd = (h->d_sd - share * l->d_sd) / left;
	return out;
}

/*
 * The improvements of all levels at one point, one allocation; free levels[0].
 */
static void
levels_at(struct level **levels, const struct gp_boxes *b, const double *mean,
    const double *sd)
{
	size_t total = 0, i, k;
	struct level *l;

	for (k = 0; k < b->m; k++)
		total += b->n_levels[k];
	l = xcalloc(total, sizeof *l);
	for (k = 0; k < b->m; l += b->n_levels[k], k++) {
		levels[k] = l;
		for (i = 1; i < b->n_levels[k]; i++)
			l[i].log_ei = gp_acquisition_log_ei(mean[k], sd[k],
			    b->levels[k][i], &l[i].d_mean, &l[i].d_sd);
	}
}

double
gp_boxes_log_gain(const struct gp_boxes *b, const double *mean,
    const double *sd, double *d_mean, double *d_sd)
{
	struct level *levels[GP_LOSSES_MAX], s[GP_LOSSES_MAX];
	double most = -INFINITY, sum = 0, part, old, new;
	size_t i, k;

	levels_at(levels, b, mean, sd);
	for (k = 0; k < b->m; k++)
		d_mean[k] = d_sd[k] = 0;
	/* Sums in units of the largest part so far. */
	for (i = 0; i < b->n; i++) {
		for (part = 0, k = 0; k < b->m; k++) {
			s[k] = side(
			    levels[k], b->boxes[i].low[k], b->boxes[i].high[k]);
			part += s[k].log_ei;
		}
		if (!isfinite(part))
			continue;
		old = part > most ? exp(most - part) : 1;
		most = fmax(most, part);
		new = exp(part - most);
		sum = old * sum + new;
		for (k = 0; k < b->m; k++) {
			d_mean[k] = old * d_mean[k] + new *s[k].d_mean;
			d_sd[k] = old * d_sd[k] + new *s[k].d_sd;
		}
	}
	for (k = 0; k < b->m && sum > 0; k++) {
		d_mean[k] /= sum;
		d_sd[k] /= sum;
	}
	free(levels[0]);
	return most + log(sum);
}
