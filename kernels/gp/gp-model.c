/*
 * A Gaussian process: its coordinates, the likelihood of hyperparameters, and
 * with fixed ones order, factor, weights and pending points.
 */

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/alloc.h"
#include "kernels/gp/gp-model.h"
#include "kernels/gp/gp-tile.h"
#include "kernels/lapack.h"

/* ---- coordinates -------------------------------------------------------- */

/*
 * In the form of the covariance: multiplied by their relevance, numbers before
 * categories, in strips.
 */

/* Larger scales would overflow in squared differences. */
#define SCALE_MAX 1e100

/* A category's counts as it is; NaN stays NaN. */
static double
relevance(double ln_a, int number)
{
	double scale = exp(number ? ln_a / 2 : ln_a);

	return scale > SCALE_MAX ? SCALE_MAX : scale;
}

void
gp_coordinates_init(
    struct gp_coordinates *s, const struct gp_data *data, const double *theta)
{
	const unsigned char *category = data->category;
	size_t d = data->d;
	size_t at = 0, j;
	int pass;

	s->d = d;
	s->from = kernel_alloc_sizes(d);
	s->scale = kernel_alloc(d, 1);
	for (pass = 0; pass < 2; pass++) {
		for (j = 0; j < d; j++)
			if ((category != NULL && category[j] != 0) == pass) {
				s->from[at] = j;
				s->scale[at++] = relevance(theta[j], pass == 0);
			}
		if (pass == 0)
			s->numbers = at;
	}
	s->signal = exp(theta[d]);
	s->noise = data->noise_floor + exp(theta[d + 1]);
	s->local = exp(theta[d + 2]);
	s->form = matern_form(data->rough);
}

void
gp_coordinates_free(struct gp_coordinates *s)
{
	free(s->from);
	free(s->scale);
}

void
gp_coordinates_place(const struct gp_coordinates *s, const double *x, double *z)
{
	size_t j;

	for (j = 0; j < s->d; j++)
		z[j] = j < s->numbers ? x[s->from[j]] * s->scale[j]
				      : x[s->from[j]];
}

/* The points x[order[0]], …; order NULL: as they are. */
static void
tiles_fill(struct gp_tiles *t, const struct gp_coordinates *s, const double *x,
    size_t n, const size_t *order)
{
	size_t i, j, row;
	double *z = kernel_alloc(s->d, 1), *to;

	t->n = n;
	t->count = (n + STRIP - 1) / STRIP;
	t->z = kernel_alloc(t->count * STRIP, s->d);
	memset(t->z, 0, t->count * STRIP * s->d * sizeof *t->z);
	for (i = 0; i < n; i++) {
		row = order == NULL ? i : order[i];
		gp_coordinates_place(s, x + row * s->d, z);
		to = t->z + i / STRIP * s->d * STRIP + i % STRIP;
		for (j = 0; j < s->d; j++)
			to[j * STRIP] = z[j];
	}
	free(z);
}

/* The points x[order[0]], …; order NULL: as they are. */
static void
tiles_free(struct gp_tiles *t)
{
	free(t->z);
}

/* ---- covariances and their likelihood ----------------------------------- */

/*
 * The log marginal likelihood of hyperparameters and its gradient (Rasmussen
 * and Williams, "Gaussian processes for machine learning", 2006, eq. 5.8 and
 * 5.9).  One vector after the other: the factor and its inverse take n^3,
 * everything else one pass over the triangle each.
 */

#define LN_2PI 1.83787706640934548356

struct likelihood {
	const struct gp_data *data;
	struct gp_coordinates shape;
	struct gp_tiles strips;
	double jitter; /* in units of the signal */
	size_t stride;
	double *k; /* the covariance, the factor's inverse, its own inverse */
	double *slope; /* s M' */
	double *local; /* M of the local variation */
	double *alpha; /* K^-1 y */
};

/* A stride with room for whole strips that is not a power of two. */
static size_t
stride_for(size_t n)
{
	size_t stride = (n + STRIP - 1) / STRIP * STRIP;

	return stride % 512 == 0 ? stride + STRIP : stride;
}

/* From which position of strip b a row of the lower triangle is needed. */
static size_t
row_from(size_t row, size_t b)
{
	return b == row / STRIP ? row % STRIP / GROUP * GROUP : 0;
}

/*
 * The covariance of n points, lower triangle, without noise; slope and local as
 * of gp_tile_both, or NULL.
 */
static void
covariances_fill(const struct gp_coordinates *shape, const struct gp_tiles *t,
    double *k, double *slope, double *local, size_t stride)
{
	size_t i, j, b, at, from, to;
	double *c = kernel_alloc(shape->d, 1);
	const double *strip;

	for (i = 0; i < t->n; i++) {
		strip = gp_tile_at(t, shape, i / STRIP) + i % STRIP;
		for (j = 0; j < shape->d; j++)
			c[j] = strip[j * STRIP];
		for (b = i / STRIP; b < t->count; b++) {
			at = i * stride + b * STRIP;
			strip = gp_tile_at(t, shape, b);
			from = row_from(i, b);
			to = gp_tile_end(t->n, b);
			if (slope == NULL)
				gp_tile_values(
				    shape, c, strip, from, to, k + at);
			else
				gp_tile_both(shape, c, strip, from, to, k + at,
				    slope + at, local + at);
		}
	}
	free(c);
}

static double
noise_of(const struct likelihood *l, size_t i)
{
	const double *extra = l->data->extra;

	return l->shape.noise + (extra != NULL ? extra[i] : 0);
}

/* The steps of jitter until K can be factorised, or -1; k: l^-1. */
static int
factorise(struct likelihood *l)
{
	size_t i, n = l->data->n;
	double diagonal;
	int step;

	for (step = 0; step <= LAPACK_JITTER_STEPS; step++) {
		l->jitter = lapack_jitter(step);
		covariances_fill(
		    &l->shape, &l->strips, l->k, l->slope, l->local, l->stride);
		diagonal = l->shape.signal * (1 + l->jitter) + l->shape.local;
		for (i = 0; i < n; i++)
			l->k[i * (l->stride + 1)] = diagonal + noise_of(l, i);
		if (lapack_factor_inverse(l->k, n, l->stride) == 0)
			return step;
	}
	return -1;
}

/*
 * The sums over pairs of (alpha alpha' - K^-1) times s M' and the squared
 * difference in each coordinate, in the user's order; returned is that with M
 * of the local variation.
 */
static double
gradient_reach(const struct likelihood *l, double *gradient)
{
	const struct gp_coordinates *shape = &l->shape;
	double *c = kernel_alloc(shape->d, 1), sum;
	double *total = kernel_alloc(LANES, shape->d + 1);
	size_t i, j, b, at, n = l->data->n;
	const double *strip;
	struct gp_tile_pairs p;

	memset(total, 0, LANES * (shape->d + 1) * sizeof *total);
	for (i = 0; i < n; i++) {
		strip = gp_tile_at(&l->strips, shape, i / STRIP) + i % STRIP;
		for (j = 0; j < shape->d; j++)
			c[j] = strip[j * STRIP];
		for (b = i / STRIP; b < l->strips.count; b++) {
			at = i * l->stride + b * STRIP;
			p = (struct gp_tile_pairs){
				.first = (int)i + 1 - (int)(b * STRIP),
				.end = (int)(n - b * STRIP),
				.own = l->alpha[i],
				.alpha = l->alpha + b * STRIP,
				.inverse = l->k + at,
				.slope = l->slope + at,
				.local = l->local + at,
			};
			gp_tile_gradient(shape, c,
			    gp_tile_at(&l->strips, shape, b), &p,
			    row_from(i, b), gp_tile_end(n, b), total);
		}
	}
	for (j = 0; j < shape->d; j++)
		gradient[shape->from[j]] =
		    gp_tile_total(total, j) *
		    (j < shape->numbers ? 1 : shape->scale[j]);
	sum = gp_tile_total(total, shape->d);
	free(total);
	free(c);
	return sum;
}

/*
 * Signal, noise and local variation: traces, of which that of K is
 * known.  pairs: the sum over pairs of the local variation.
 */
static void
gradient_diagonal(const struct likelihood *l, double fit, double pairs,
    const double *theta, double *out)
{
	size_t i, n = l->data->n;
	double w, sum = 0, noise = 0, local;

	for (i = 0; i < n; i++) {
		w = l->alpha[i] * l->alpha[i] - l->k[i * (l->stride + 1)];
		sum += w;
		noise += w * noise_of(l, i);
	}
	local = l->shape.local * (sum + 2 * pairs);
	out[0] = 0.5 * (fit - (double)n - noise - local);
	out[1] = 0.5 * exp(theta[l->shape.d + 1]) * sum;
	out[2] = 0.5 * local;
}

/* One vector of hyperparameters. */
static int
evaluate(
    struct likelihood *l, const double *theta, double *value, double *gradient)
{
	size_t i, n = l->data->n, d = l->data->d;
	double fit = 0, det = 0, pairs;
	int step = factorise(l);

	*value = -INFINITY;
	memset(gradient, 0, (d + 3) * sizeof *gradient);
	if (step < 0)
		return step;
	for (i = 0; i < n; i++)
		det -= log(l->k[i * (l->stride + 1)]);
	memcpy(l->alpha, l->data->y, n * sizeof *l->alpha);
	lapack_inverse_times(l->k, n, l->stride, l->alpha);
	for (i = 0; i < n; i++)
		fit += l->alpha[i] * l->data->y[i];
	*value = -0.5 * fit - det - 0.5 * (double)n * LN_2PI;
	pairs = gradient_reach(l, gradient);
	gradient_diagonal(l, fit, pairs, theta, gradient + d);
	return step;
}

void
gp_likelihood(void *dev, const struct gp_data *data, const double *theta,
    size_t r, double *value, double *gradient, int *status)
{
	struct likelihood l = { .data = data, .stride = stride_for(data->n) };
	size_t i, d = data->d;

	(void)dev;
	l.k = kernel_alloc(l.stride, data->n);
	l.slope = kernel_alloc(l.stride, data->n);
	l.local = kernel_alloc(l.stride, data->n);
	l.alpha = kernel_alloc(l.stride, 1);
	memset(l.alpha, 0, l.stride * sizeof *l.alpha);
	for (i = 0; i < r; i++, theta += d + 3) {
		gp_coordinates_init(&l.shape, data, theta);
		tiles_fill(&l.strips, &l.shape, data->x, data->n, NULL);
		status[i] =
		    evaluate(&l, theta, value + i, gradient + i * (d + 3));
		tiles_free(&l.strips);
		gp_coordinates_free(&l.shape);
	}
	free(l.k);
	free(l.slope);
	free(l.local);
	free(l.alpha);
}

/* ---- a fit -------------------------------------------------------------- */

struct near {
	double r2;
	size_t row;
};

static int
near_compare(const void *a, const void *b)
{
	const struct near *x = a, *y = b;

	if (x->r2 != y->r2)
		return x->r2 < y->r2 ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

size_t *
gp_fit_order(const struct gp_coordinates *shape, const struct gp_data *data)
{
	size_t *order = kernel_alloc_sizes(data->n), best = 0, i;
	struct near *near = reallocarray(NULL, data->n + 1, sizeof *near);
	double *c = kernel_alloc(shape->d, 1), r2[STRIP];
	struct gp_tiles t;

	if (near == NULL)
		abort();
	for (i = 1; i < data->n; i++)
		if (data->y[i] < data->y[best])
			best = i;
	tiles_fill(&t, shape, data->x, data->n, NULL);
	if (data->n > 0)
		gp_coordinates_place(shape, data->x + best * data->d, c);
	for (i = 0; i < data->n; i++) {
		if (i % STRIP == 0)
			gp_tile_distance(shape, c,
			    gp_tile_at(&t, shape, i / STRIP),
			    gp_tile_end(t.n, i / STRIP), r2);
		near[i] = (struct near){ r2[i % STRIP], i };
	}
	qsort(near, data->n, sizeof *near, near_compare);
	for (i = 0; i < data->n; i++)
		order[i] = near[i].row;
	tiles_free(&t);
	free(near);
	free(c);
	return order;
}

/* The factor, with as little jitter as it needs. */
static int
fit_factor(struct gp *gp, const struct gp_data *data, const size_t *order)
{
	size_t i;
	double *a, extra;
	int step;

	for (step = 0; step <= LAPACK_JITTER_STEPS; step++) {
		covariances_fill(&gp->shape, &gp->strips, gp->factor, NULL,
		    NULL, gp->stride);
		for (i = 0; i < gp->n; i++) {
			a = gp->factor + i * (gp->stride + 1);
			extra = data->extra != NULL ? data->extra[order[i]] : 0;
			*a = gp->shape.signal * (1 + lapack_jitter(step)) +
			     gp->shape.local + gp->shape.noise + extra;
		}
		if (lapack_factor(gp->factor, gp->n, gp->stride) == 0)
			return 0;
	}
	return -1;
}

struct gp *
gp_fit(void *dev, const struct gp_data *data, const double *theta)
{
	struct gp *gp = malloc(sizeof *gp);
	size_t *order, i;
	int made;

	if (gp == NULL)
		abort();
	gp_coordinates_init(&gp->shape, data, theta);
	order = gp_fit_order(&gp->shape, data);
	tiles_fill(&gp->strips, &gp->shape, data->x, data->n, order);
	gp->n = data->n;
	gp->stride = stride_for(gp->n);
	gp->factor = kernel_alloc(gp->stride, gp->n);
	gp->alpha = kernel_alloc(gp->stride, 1);
	memset(gp->alpha, 0, gp->stride * sizeof *gp->alpha);
	made = fit_factor(gp, data, order);
	if (made == 0) {
		for (i = 0; i < gp->n; i++)
			gp->alpha[i] = data->y[order[i]];
		lapack_solve(gp->factor, gp->n, gp->stride, gp->alpha);
	}
	free(order);
	if (made == 0)
		return gp;
	gp_free(dev, gp);
	return NULL;
}

void
gp_free(void *dev, struct gp *gp)
{
	(void)dev;
	if (gp == NULL)
		return;
	gp_coordinates_free(&gp->shape);
	tiles_free(&gp->strips);
	free(gp->factor);
	free(gp->alpha);
	free(gp);
}

/* Room for k more points: strips, factor and weights get longer. */
static void
grow(struct gp *gp, const double *z, size_t k)
{
	size_t was = gp->strips.n, n = was + k, stride = stride_for(n), i, j;
	size_t d = gp->shape.d, count = (n + STRIP - 1) / STRIP;
	double *factor = kernel_alloc(stride, n);
	double *alpha = kernel_alloc(stride, 1);
	double *strips = kernel_alloc(count * STRIP, d), *to;

	for (i = 0; i < was; i++)
		memcpy(factor + i * (stride + 1),
		    gp->factor + i * (gp->stride + 1),
		    (was - i) * sizeof *factor);
	memset(alpha, 0, stride * sizeof *alpha);
	memcpy(alpha, gp->alpha, gp->n * sizeof *alpha);
	memset(strips, 0, count * STRIP * d * sizeof *strips);
	memcpy(strips, gp->strips.z,
	    gp->strips.count * STRIP * d * sizeof *strips);
	for (i = was; i < n; i++) {
		to = strips + i / STRIP * d * STRIP + i % STRIP;
		for (j = 0; j < d; j++)
			to[j * STRIP] = z[(i - was) * d + j];
	}
	tiles_free(&gp->strips);
	free(gp->factor);
	free(gp->alpha);
	gp->factor = factor;
	gp->alpha = alpha;
	gp->strips = (struct gp_tiles){ n, count, strips };
	gp->stride = stride;
}

/* Covariances of the rows from was on with everything before them. */
static void
fill_rows(struct gp *gp, size_t was)
{
	size_t n = gp->strips.n, i, j, b, first, from;
	double *c = kernel_alloc(gp->shape.d, 1), k[STRIP];
	const double *at;

	for (i = 0; i < n; i++) {
		first = i < was ? was : i;
		at = gp_tile_at(&gp->strips, &gp->shape, i / STRIP) + i % STRIP;
		for (j = 0; j < gp->shape.d; j++)
			c[j] = at[j * STRIP];
		for (b = first / STRIP; b < gp->strips.count; b++) {
			gp_tile_values(&gp->shape, c,
			    gp_tile_at(&gp->strips, &gp->shape, b), 0,
			    gp_tile_end(n, b), k);
			from = b * STRIP < first ? first : b * STRIP;
			for (j = from; j < n && j < (b + 1) * STRIP; j++)
				gp->factor[i * gp->stride + j] =
				    k[j - b * STRIP];
		}
	}
	free(c);
}

/* Factorise the corner of the new rows after subtracting the older ones. */
static int
fit_corner(struct gp *gp, size_t was)
{
	size_t k = gp->strips.n - was, i;
	double *corner = gp->factor + was * (gp->stride + 1), *copy;
	int step, made = -1, lda = (int)gp->stride;

	cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)k, (int)was,
	    -1, gp->factor + was, lda, 1, corner, lda);
	copy = kernel_alloc(k, k);
	for (i = 0; i < k; i++)
		memcpy(copy + i * k, corner + i * gp->stride, k * sizeof *copy);
	for (step = 0; step <= LAPACK_JITTER_STEPS && made != 0; step++) {
		for (i = 0; i < k; i++) {
			memcpy(corner + i * gp->stride, copy + i * k,
			    k * sizeof *copy);
			corner[i * (gp->stride + 1)] +=
			    gp->shape.noise +
			    gp->shape.signal * lapack_jitter(step);
		}
		made = lapack_factor(corner, k, gp->stride);
	}
	free(copy);
	return made;
}

void
gp_pend(void *dev, struct gp *gp, const double *x, size_t k)
{
	size_t was = gp->strips.n, i, d = gp->shape.d;
	double *z;

	(void)dev;
	if (k == 0)
		return;
	z = kernel_alloc(k, d);
	for (i = 0; i < k; i++)
		gp_coordinates_place(&gp->shape, x + i * d, z + i * d);
	grow(gp, z, k);
	free(z);
	fill_rows(gp, was);
	cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans,
	    CblasNonUnit, (int)k, (int)was, 1, gp->factor, (int)gp->stride,
	    gp->factor + was, (int)gp->stride);
	/*
	 * If the factorisation fails, the pending points are dropped: their
	 * values add nothing then.
	 */
	if (fit_corner(gp, was) != 0)
		gp->strips.n = was;
}
