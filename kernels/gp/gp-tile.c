/*
 * One point against positions of a strip of 64: loops of constant length over
 * groups of 16, compiled for several vector instruction sets.
 */

#include "kernels/formulas.h"
#include "kernels/target-clones.h"
#include "kernels/gp/gp-tile.h"

/*
 * Sums use eight lanes, whatever the vector width, so that results are equal.
 */
typedef double lanes __attribute__((vector_size(64), aligned(8), may_alias));
typedef int64_t lane_bits __attribute__((vector_size(64), aligned(8)));

#define INLINE inline __attribute__((always_inline))

/* Squared distances to a group, which begins at z; the sums stay in registers. */
static INLINE void
gp_tile_any_distance(const struct gp_coordinates *s, const double *restrict c,
    const double *restrict z, double *restrict r2)
{
	lanes a = { 0 }, b = { 0 }, u, v;
	const lanes *x, *y;
	size_t j = 0;

	for (; j + 1 < s->numbers; j += 2) {
		x = (const lanes *)(z + j * STRIP);
		y = (const lanes *)(z + (j + 1) * STRIP);
		u = x[0] - c[j];
		v = y[0] - c[j + 1];
		a += u * u + v * v;
		u = x[1] - c[j];
		v = y[1] - c[j + 1];
		b += u * u + v * v;
	}
	if (j < s->numbers) {
		x = (const lanes *)(z + j * STRIP);
		u = x[0] - c[j];
		a += u * u;
		u = x[1] - c[j];
		b += u * u;
	}
	for (j = s->numbers; j < s->d; j++) {
		x = (const lanes *)(z + j * STRIP);
		u = (lanes){ 0 } + s->scale[j];
		a += (lanes)((lane_bits)u & (x[0] != c[j]));
		b += (lanes)((lane_bits)u & (x[1] != c[j]));
	}
	((lanes *)r2)[0] = a;
	((lanes *)r2)[1] = b;
}

static INLINE double
gp_tile_sum(const double *l)
{
	return ((l[0] + l[4]) + (l[2] + l[6])) +
	       ((l[1] + l[5]) + (l[3] + l[7]));
}

/* Whether the local variation reaches one of the group. */
static INLINE int
gp_tile_any_local(const struct gp_coordinates *s, const double *r2)
{
	double least[GROUP / 2];
	int i;

	for (i = 0; i < GROUP / 2; i++)
		least[i] =
		    r2[i] < r2[i + GROUP / 2] ? r2[i] : r2[i + GROUP / 2];
	for (i = 0; i < GROUP / 4; i++)
		least[i] = least[i] < least[i + GROUP / 4]
			       ? least[i]
			       : least[i + GROUP / 4];
	for (i = 1; i < GROUP / 4; i++)
		least[0] = least[i] < least[0] ? least[i] : least[0];
	return s->local > 0 && matern_is_local(least[0]);
}

CLONES static void
distance_best(const struct gp_coordinates *s, const double *c,
    const double *strip, size_t to, double *r2)
{
	size_t at;

	for (at = 0; at < to; at += GROUP)
		gp_tile_any_distance(s, c, strip + at, r2 + at);
}

/* Covariances of a group at squared distances. */
static INLINE void
gp_tile_group_values(const struct gp_coordinates *s, const double *restrict r2,
    double *restrict k)
{
	const struct matern form = s->form, near = matern_form(0);
	double t;
	int i;

	for (i = 0; i < GROUP; i++) {
		t = matern_reach(form, r2[i]);
		k[i] = s->signal * matern_value(form, t, kernel_exp(-t));
	}
	if (!gp_tile_any_local(s, r2))
		return;
	for (i = 0; i < GROUP; i++) {
		t = matern_local_reach(r2[i]);
		k[i] += s->local * matern_value(near, t, kernel_exp(-t));
	}
}

CLONES static void
values_best(const struct gp_coordinates *s, const double *restrict c,
    const double *restrict strip, size_t from, size_t to, double *restrict k)
{
	double r2[GROUP];
	size_t at;

	for (at = from; at < to; at += GROUP) {
		gp_tile_any_distance(s, c, strip + at, r2);
		gp_tile_group_values(s, r2, k + at);
	}
}

CLONES static void
values_at_best(const struct gp_coordinates *s, const double *restrict r2,
    size_t to, double *restrict k)
{
	size_t at;

	for (at = 0; at < to; at += GROUP)
		gp_tile_group_values(s, r2 + at, k + at);
}

CLONES static void
shift_best(const struct gp_coordinates *s, size_t j, double c, double x,
    const double *restrict strip, size_t to, double *restrict r2)
{
	const double *z = strip + j * STRIP;
	double sum, a = s->scale[j];
	size_t at;
	int i;

	for (at = 0; at < to; at += GROUP)
		for (i = 0; i < GROUP; i++) {
			if (j < s->numbers)
				sum = r2[at + i] +
				      ((z[at + i] - x) * (z[at + i] - x) -
					  (z[at + i] - c) * (z[at + i] - c));
			else
				sum =
				    r2[at + i] + ((z[at + i] != x ? a : 0) -
						     (z[at + i] != c ? a : 0));
			r2[at + i] = sum > 0 ? sum : 0;
		}
}

CLONES static void
both_best(const struct gp_coordinates *s, const double *restrict c,
    const double *restrict strip, size_t from, size_t to, double *restrict k,
    double *restrict slope, double *restrict local)
{
	const struct matern form = s->form, near = matern_form(0);
	double r2[GROUP], t, e;
	size_t at;
	int i;

	for (at = from; at < to; at += GROUP) {
		gp_tile_any_distance(s, c, strip + at, r2);
		for (i = 0; i < GROUP; i++) {
			t = matern_reach(form, r2[i]);
			e = s->signal * kernel_exp(-t);
			k[at + i] = matern_value(form, t, e);
			slope[at + i] = matern_slope(form, t, e);
		}
		for (i = 0; i < GROUP; i++)
			local[at + i] = 0;
		if (!gp_tile_any_local(s, r2))
			continue;
		for (i = 0; i < GROUP; i++) {
			t = matern_local_reach(r2[i]);
			e = kernel_exp(-t);
			local[at + i] = matern_value(near, t, e);
			k[at + i] += s->local * local[at + i];
			slope[at + i] +=
			    s->local * MATERN_LOCAL * matern_slope(near, t, e);
		}
	}
}

CLONES static double
dot_best(const double *k, const double *w, size_t to)
{
	const lanes *a = (const lanes *)k, *b = (const lanes *)w;
	lanes sum = a[0] * b[0];
	double out[LANES];
	size_t i;

	for (i = 1; i < to / LANES; i++)
		sum += a[i] * b[i];
	*(lanes *)out = sum;
	return gp_tile_sum(out);
}

/* What a pair weighs: 0 at and above the diagonal, and behind the last row. */
static INLINE void
gp_tile_weights(const struct gp_tile_pairs *p, size_t from, size_t to,
    double *restrict w, double *restrict local)
{
	lanes sum = *(const lanes *)local;
	double v[GROUP];
	size_t at;
	int i;

	for (at = from; at < to; at += GROUP) {
		for (i = 0; i < GROUP; i++)
			v[i] = p->own * p->alpha[at + i] - p->inverse[at + i];
		for (i = 0; i < GROUP; i++)
			if ((int)at + i < p->first || (int)at + i >= p->end)
				v[i] = 0;
		for (i = 0; i < GROUP; i++)
			w[at + i] = v[i] * p->slope[at + i];
		for (i = 0; i < GROUP; i += LANES)
			sum += *(const lanes *)(v + i) *
			       *(const lanes *)(p->local + at + i);
	}
	*(lanes *)local = sum;
}

CLONES static void
gradient_best(const struct gp_coordinates *s, const double *c,
    const double *strip, const struct gp_tile_pairs *p, size_t from, size_t to,
    double *total)
{
	double w[STRIP];
	const lanes *g = (const lanes *)w, *z;
	lanes *sum = (lanes *)total, all, u;
	size_t j, i;

	gp_tile_weights(p, from, to, w, total + s->d * LANES);
	for (j = 0; j < s->numbers; j++) {
		z = (const lanes *)(strip + j * STRIP);
		all = sum[j];
		for (i = from / LANES; i < to / LANES; i++) {
			u = z[i] - c[j];
			all += g[i] * u * u;
		}
		sum[j] = all;
	}
	for (; j < s->d; j++) {
		z = (const lanes *)(strip + j * STRIP);
		all = sum[j];
		for (i = from / LANES; i < to / LANES; i++)
			all += (lanes)((lane_bits)g[i] & (z[i] != c[j]));
		sum[j] = all;
	}
}

CLONES static void
pull_best(const struct gp_coordinates *s, const double *c, const double *strip,
    size_t to, const double *w, double *total)
{
	const lanes *g = (const lanes *)w, *z;
	lanes sum;
	double out[LANES];
	size_t j, i;

	for (j = 0; j < s->numbers; j++) {
		z = (const lanes *)(strip + j * STRIP);
		sum = g[0] * (c[j] - z[0]);
		for (i = 1; i < to / LANES; i++)
			sum += g[i] * (c[j] - z[i]);
		*(lanes *)out = sum;
		total[j] += gp_tile_sum(out);
	}
}

size_t
gp_tile_end(size_t n, size_t strip)
{
	size_t left = n - strip * STRIP;

	return left >= STRIP ? STRIP : (left + GROUP - 1) / GROUP * GROUP;
}

void
gp_tile_distance(const struct gp_coordinates *s, const double *c,
    const double *strip, size_t to, double *r2)
{
	distance_best(s, c, strip, to, r2);
}

void
gp_tile_values(const struct gp_coordinates *s, const double *c,
    const double *strip, size_t from, size_t to, double *k)
{
	values_best(s, c, strip, from, to, k);
}

void
gp_tile_values_at(
    const struct gp_coordinates *s, const double *r2, size_t to, double *k)
{
	values_at_best(s, r2, to, k);
}

void
gp_tile_shift(const struct gp_coordinates *s, size_t j, double c, double z,
    const double *strip, size_t to, double *r2)
{
	shift_best(s, j, c, z, strip, to, r2);
}

void
gp_tile_both(const struct gp_coordinates *s, const double *c,
    const double *strip, size_t from, size_t to, double *k, double *slope,
    double *local)
{
	both_best(s, c, strip, from, to, k, slope, local);
}

double
gp_tile_dot(const double *k, const double *w, size_t to)
{
	return dot_best(k, w, to);
}

void
gp_tile_gradient(const struct gp_coordinates *s, const double *c,
    const double *strip, const struct gp_tile_pairs *p, size_t from, size_t to,
    double *total)
{
	gradient_best(s, c, strip, p, from, to, total);
}

double
gp_tile_total(const double *total, size_t j)
{
	return gp_tile_sum(total + j * LANES);
}

void
gp_tile_pull(const struct gp_coordinates *s, const double *c,
    const double *strip, size_t to, const double *w, double *total)
{
	pull_best(s, c, strip, to, w, total);
}
