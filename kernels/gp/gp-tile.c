/*
 * One point against a strip of 64: loops of constant length, compiled for
 * several vector instruction sets.
 */

#include "kernels/formulas.h"
#include "kernels/target-clones.h"
#include "kernels/gp/gp-tile.h"

/*
 * Sums use eight lanes, whatever the vector width, so that results are equal.
 */
typedef double lanes __attribute__((vector_size(64), aligned(8), may_alias));

enum { LANES = 8 };

#define INLINE static inline __attribute__((always_inline))

INLINE void
gp_tile_numbers_distance(const struct gp_coordinates *s,
    const double *restrict c, const double *restrict strip, double *restrict r2)
{
	size_t j = 0;
	double u, v;
	int i;

	for (i = 0; i < STRIP; i++)
		r2[i] = 0;
	for (; j + 1 < s->numbers; j += 2, strip += 2 * STRIP)
		for (i = 0; i < STRIP; i++) {
			u = strip[i] - c[j];
			v = strip[STRIP + i] - c[j + 1];
			r2[i] += u * u + v * v;
		}
	if (j < s->numbers)
		for (i = 0; i < STRIP; i++) {
			u = strip[i] - c[j];
			r2[i] += u * u;
		}
}

INLINE void
gp_tile_any_distance(const struct gp_coordinates *s, const double *restrict c,
    const double *restrict strip, double *restrict r2)
{
	size_t j;
	int i;

	gp_tile_numbers_distance(s, c, strip, r2);
	for (j = s->numbers; j < s->d; j++)
		for (i = 0; i < STRIP; i++)
			r2[i] += strip[j * STRIP + i] != c[j] ? s->scale[j] : 0;
}

INLINE double
gp_tile_sum(const double *l)
{
	return ((l[0] + l[4]) + (l[2] + l[6])) +
	       ((l[1] + l[5]) + (l[3] + l[7]));
}

/* Whether the local variation reaches one of the strip. */
INLINE int
gp_tile_any_local(const struct gp_coordinates *s, const double *r2)
{
	double least = r2[0];
	int i;

	for (i = 1; i < STRIP; i++)
		least = r2[i] < least ? r2[i] : least;
	return s->local > 0 && matern_is_local(least);
}

CLONES static void
distance_best(const struct gp_coordinates *s, const double *c,
    const double *strip, double *r2)
{
	gp_tile_any_distance(s, c, strip, r2);
}

CLONES static void
values_best(const struct gp_coordinates *s, const double *restrict c,
    const double *restrict strip, double *restrict k)
{
	double r2[STRIP], t;
	int i;

	gp_tile_any_distance(s, c, strip, r2);
	for (i = 0; i < STRIP; i++) {
		t = matern_reach(r2[i]);
		k[i] = s->signal * matern_value(t, kernel_exp(-t));
	}
	if (!gp_tile_any_local(s, r2))
		return;
	for (i = 0; i < STRIP; i++) {
		t = matern_local_reach(r2[i]);
		k[i] += s->local * matern_value(t, kernel_exp(-t));
	}
}

CLONES static int
local_best(const struct gp_coordinates *s, const double *restrict c,
    const double *restrict strip, double *restrict k)
{
	double r2[STRIP], t;
	int i;

	gp_tile_any_distance(s, c, strip, r2);
	if (!gp_tile_any_local(s, r2))
		return 0;
	for (i = 0; i < STRIP; i++) {
		t = matern_local_reach(r2[i]);
		k[i] = matern_value(t, kernel_exp(-t));
	}
	return 1;
}

CLONES static void
both_best(const struct gp_coordinates *s, const double *restrict c,
    const double *restrict strip, double *restrict k, double *restrict slope)
{
	double r2[STRIP], t, e;
	int i;

	gp_tile_any_distance(s, c, strip, r2);
	for (i = 0; i < STRIP; i++) {
		t = matern_reach(r2[i]);
		e = s->signal * kernel_exp(-t);
		k[i] = matern_value(t, e);
		slope[i] = matern_slope(t, e);
	}
	if (!gp_tile_any_local(s, r2))
		return;
	for (i = 0; i < STRIP; i++) {
		t = matern_local_reach(r2[i]);
		e = s->local * kernel_exp(-t);
		k[i] += matern_value(t, e);
		slope[i] += MATERN_LOCAL * matern_slope(t, e);
	}
}

CLONES static double
dot_best(const double *k, const double *w)
{
	const lanes *a = (const lanes *)k, *b = (const lanes *)w;
	lanes sum = a[0] * b[0];
	double out[LANES];
	int i;

	for (i = 1; i < STRIP / LANES; i++)
		sum += a[i] * b[i];
	*(lanes *)out = sum;
	return gp_tile_sum(out);
}

CLONES static void
spread_best(const struct gp_coordinates *s, const double *c,
    const double *strip, const double *w, double *total)
{
	const lanes *g = (const lanes *)w, *z;
	lanes sum, u;
	double out[LANES];
	size_t j;
	int i;

	for (j = 0; j < s->numbers; j++) {
		z = (const lanes *)(strip + j * STRIP);
		u = z[0] - c[j];
		sum = g[0] * u * u;
		for (i = 1; i < STRIP / LANES; i++) {
			u = z[i] - c[j];
			sum += g[i] * u * u;
		}
		*(lanes *)out = sum;
		total[j] += gp_tile_sum(out);
	}
	for (; j < s->d; j++)
		for (i = 0; i < STRIP; i++)
			if (strip[j * STRIP + i] != c[j])
				total[j] += s->scale[j] * w[i];
}

CLONES static void
pull_best(const struct gp_coordinates *s, const double *c, const double *strip,
    const double *w, double *total)
{
	const lanes *g = (const lanes *)w, *z;
	lanes sum;
	double out[LANES];
	size_t j;
	int i;

	for (j = 0; j < s->numbers; j++) {
		z = (const lanes *)(strip + j * STRIP);
		sum = g[0] * (c[j] - z[0]);
		for (i = 1; i < STRIP / LANES; i++)
			sum += g[i] * (c[j] - z[i]);
		*(lanes *)out = sum;
		total[j] += gp_tile_sum(out);
	}
}

void
gp_tile_distance(const struct gp_coordinates *s, const double *c,
    const double *strip, double *r2)
{
	distance_best(s, c, strip, r2);
}

void
gp_tile_values(const struct gp_coordinates *s, const double *c,
    const double *strip, double *k)
{
	values_best(s, c, strip, k);
}

void
gp_tile_both(const struct gp_coordinates *s, const double *c,
    const double *strip, double *k, double *slope)
{
	both_best(s, c, strip, k, slope);
}

int
gp_tile_local(const struct gp_coordinates *s, const double *c,
    const double *strip, double *k)
{
	return local_best(s, c, strip, k);
}

double
gp_tile_dot(const double *k, const double *w)
{
	return dot_best(k, w);
}

void
gp_tile_spread(const struct gp_coordinates *s, const double *c,
    const double *strip, const double *w, double *total)
{
	spread_best(s, c, strip, w, total);
}

void
gp_tile_pull(const struct gp_coordinates *s, const double *c,
    const double *strip, const double *w, double *total)
{
	pull_best(s, c, strip, w, total);
}
