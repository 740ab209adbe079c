/* The loops of triangle.c for one kind of processor (kernels/kinds.h). */

#include <math.h>
#include <stddef.h>

#define vec KIND(triangle_vec)
#define line_scale KIND(triangle_scale)
#define line_take KIND(triangle_take)
#define lines_take KIND(triangle_take_some)
#define invert_panel KIND(triangle_panel)

#define INLINE inline __attribute__((always_inline)) KIND_TARGET
#define AT(x, i) (*(const vec *)((x) + (i)))

typedef double vec
    __attribute__((vector_size(KIND_WIDE * 8), aligned(8), may_alias));

/* From first to end, multiples of TRIANGLE_WIDE. */
static INLINE void
line_scale(double *to, double by, size_t first, size_t end)
{
	size_t i;

	for (i = first; i < end; i += KIND_WIDE)
		*(vec *)(to + i) *= by;
}

static INLINE void
line_take(double *to, double w, const double *from, size_t first, size_t end)
{
	size_t i;

	for (i = first; i < end; i += KIND_WIDE)
		*(vec *)(to + i) -= w * AT(from, i);
}

/* to -= a weighted sum of the lines from k on, as many as a panel has. */
static INLINE void
lines_take(double *to, const struct lines *of, size_t k, const double *w,
    size_t first, size_t end)
{
	const double *a = of->v[k], *b = of->v[k + 1], *c = of->v[k + 2];
	const double *d = of->v[k + 3];
	size_t i;

	for (i = first; i < end; i += KIND_WIDE)
		*(vec *)(to + i) -= w[0] * AT(a, i) + w[1] * AT(b, i) +
				    (w[2] * AT(c, i) + w[3] * AT(d, i));
}

/* The end of the vectors of TRIANGLE_WIDE in which number k is. */
#define END(k) (((k) / TRIANGLE_WIDE + 1) * TRIANGLE_WIDE)
#define BEGIN(k) ((k) / TRIANGLE_WIDE * TRIANGLE_WIDE)

/* The next columns and rows, a panel from k on, complete. */
static INLINE int
invert_panel(struct lines *l, struct lines *x, size_t k, size_t used)
{
	size_t end = k + TRIANGLE_PANEL, i;
	double root, part;

	for (; k < end; k++) {
		root = l->v[k][k];
		if (!(root > 0 && isfinite(root)))
			return -1;
		root = 1 / sqrt(root);
		line_scale(l->v[k], root, BEGIN(k), used);
		line_scale(x->v[k], root, 0, END(k));
		for (i = k + 1; i < end; i++) {
			part = l->v[k][i];
			line_take(l->v[i], part, l->v[k], BEGIN(i), used);
			line_take(x->v[i], part, x->v[k], 0, END(k));
		}
	}
	return 0;
}

/*
 * A few columns of the factor after another, which are subtracted from the
 * columns behind them, and likewise the rows of the inverse.
 */
static KIND_TARGET int
KIND(triangle_invert)(struct lines *l, struct lines *x, size_t n)
{
	size_t used = END(n - 1), i, k, q;
	double w[TRIANGLE_PANEL];

	for (k = 0; k < n; k += TRIANGLE_PANEL) {
		if (invert_panel(l, x, k, used) != 0)
			return -1;
		for (i = k + TRIANGLE_PANEL; i < n; i++) {
			for (q = 0; q < TRIANGLE_PANEL; q++)
				w[q] = l->v[k + q][i];
			lines_take(l->v[i], l, k, w, BEGIN(i), used);
			lines_take(x->v[i], x, k, w, 0, END(k));
		}
	}
	return 0;
}

/* Columns of l' l from rows of l, subtracted. */
static KIND_TARGET void
KIND(triangle_square)(const struct lines *l, struct lines *to, size_t n)
{
	double w[TRIANGLE_PANEL];
	size_t j, k, q;

	for (k = 0; k < n; k += TRIANGLE_PANEL)
		for (j = 0; j < k + TRIANGLE_PANEL; j++) {
			for (q = 0; q < TRIANGLE_PANEL; q++)
				w[q] = -l->v[k + q][j];
			lines_take(to->v[j], l, k, w, BEGIN(j), END(k));
		}
}

/* to += l x, and then x = l' to; sums are of eight lanes. */
static KIND_TARGET void
KIND(triangle_times)(
    const double *l, size_t n, size_t stride, double *x, double *restrict to)
{
	enum { OF_LANES = TRIANGLE_WIDE / KIND_WIDE };
	const double *column;
	double sum[TRIANGLE_WIDE], all;
	vec part[OF_LANES];
	size_t i, j, q;

	for (j = 0; j < n; j++) {
		column = l + j * stride;
		for (i = j; i + TRIANGLE_WIDE <= n; i += TRIANGLE_WIDE) {
			KIND_EACH
			for (q = 0; q < TRIANGLE_WIDE; q += KIND_WIDE)
				*(vec *)(to + i + q) +=
				    x[j] * AT(column, i + q);
		}
		for (; i < n; i++)
			to[i] += column[i] * x[j];
	}
	for (j = 0; j < n; j++) {
		column = l + j * stride;
		KIND_EACH
		for (q = 0; q < OF_LANES; q++)
			part[q] = (vec){ 0 };
		for (i = j; i + TRIANGLE_WIDE <= n; i += TRIANGLE_WIDE) {
			KIND_EACH
			for (q = 0; q < OF_LANES; q++)
				part[q] += AT(column, i + q * KIND_WIDE) *
					   AT(to, i + q * KIND_WIDE);
		}
		KIND_EACH
		for (q = 0; q < OF_LANES; q++)
			*(vec *)(sum + q * KIND_WIDE) = part[q];
		all = ((sum[0] + sum[4]) + (sum[2] + sum[6])) +
		      ((sum[1] + sum[5]) + (sum[3] + sum[7]));
		for (; i < n; i++)
			all += column[i] * to[i];
		x[j] = all;
	}
}

#undef vec
#undef line_scale
#undef line_take
#undef lines_take
#undef invert_panel
#undef INLINE
#undef AT
#undef END
#undef BEGIN
