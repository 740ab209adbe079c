/*
 * The loops of gp-tile.c for one kind of processor (kernels/kinds.h).  Sums use eight
 * lanes, whatever the width of a vector, so that results are equal.
 */

#include <stddef.h>
#include <stdint.h>

#include "kernels/formulas.h"
#include "kernels/gp/gp-tile.h"

#define vec KIND(gp_tile_vec)
#define vec_bits KIND(gp_tile_bits)
#define any_local KIND(gp_tile_any_local)
#define any_distance KIND(gp_tile_any_distance)
#define group_values KIND(gp_tile_group_values)
#define pair_weights KIND(gp_tile_weights)

#define INLINE inline __attribute__((always_inline)) KIND_TARGET
#define AT(x, i) (*(const vec *)((x) + (i)))

typedef double vec
    __attribute__((vector_size(KIND_WIDE * 8), aligned(8), may_alias));
typedef int64_t vec_bits
    __attribute__((vector_size(KIND_WIDE * 8), aligned(8), may_alias));

enum {
	KIND(of_group) = GROUP / KIND_WIDE, /* vectors */
	KIND(of_lanes) = LANES / KIND_WIDE
};
#define OF_GROUP KIND(of_group)
#define OF_LANES KIND(of_lanes)

/* Whether the local variation reaches one of the group. */
static INLINE int
any_local(const struct gp_coordinates *s, const double *r2)
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

/* Squared distances to a group, which begins at z; the sums stay in registers. */
static INLINE void
any_distance(const struct gp_coordinates *s, const double *restrict c,
    const double *restrict z, double *restrict r2)
{
	vec sum[OF_GROUP] = { 0 }, u, v;
	const double *next;
	size_t j = 0, i;

	for (; j + 1 < s->numbers; j += 2, z += 2 * STRIP) {
		next = z + STRIP;
		KIND_EACH
		for (i = 0; i < OF_GROUP; i++) {
			u = c[j] - AT(z, i * KIND_WIDE);
			v = c[j + 1] - AT(next, i * KIND_WIDE);
			sum[i] += u * u + v * v;
		}
	}
	if (j < s->numbers) {
		KIND_EACH
		for (i = 0; i < OF_GROUP; i++) {
			u = c[j] - AT(z, i * KIND_WIDE);
			sum[i] += u * u;
		}
		z += STRIP;
	}
	for (j = s->numbers; j < s->d; j++, z += STRIP) {
		u = (vec){ 0 } + s->scale[j];
		KIND_EACH
		for (i = 0; i < OF_GROUP; i++)
			sum[i] +=
			    (vec)((vec_bits)u & (AT(z, i * KIND_WIDE) != c[j]));
	}
	KIND_EACH
	for (i = 0; i < OF_GROUP; i++)
		*(vec *)(r2 + i * KIND_WIDE) = sum[i];
}

/* Covariances of a group at squared distances. */
static INLINE void
group_values(const struct gp_coordinates *s, const double *restrict r2,
    double *restrict k)
{
	const struct matern form = s->form, near = matern_form(0);
	double t;
	int i;

	for (i = 0; i < GROUP; i++) {
		t = matern_reach(form, r2[i]);
		k[i] = s->signal * matern_value(form, t, kernel_exp(-t));
	}
	if (!any_local(s, r2))
		return;
	for (i = 0; i < GROUP; i++) {
		t = matern_local_reach(r2[i]);
		k[i] += s->local * matern_value(near, t, kernel_exp(-t));
	}
}

static KIND_TARGET void
KIND(tile_distance)(const struct gp_coordinates *s, const double *c,
    const double *strip, size_t to, double *r2)
{
	size_t at;

	for (at = 0; at < to; at += GROUP)
		any_distance(s, c, strip + at, r2 + at);
}

static KIND_TARGET void
KIND(tile_values)(const struct gp_coordinates *s, const double *restrict c,
    const double *restrict strip, size_t from, size_t to, double *restrict k)
{
	double r2[GROUP];
	size_t at;

	for (at = from; at < to; at += GROUP) {
		any_distance(s, c, strip + at, r2);
		group_values(s, r2, k + at);
	}
}

static KIND_TARGET void
KIND(tile_values_at)(const struct gp_coordinates *s, const double *restrict r2,
    size_t to, double *restrict k)
{
	size_t at;

	for (at = 0; at < to; at += GROUP)
		group_values(s, r2 + at, k + at);
}

static KIND_TARGET void
KIND(tile_shift)(const struct gp_coordinates *s, size_t j, double c, double x,
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

static KIND_TARGET void
KIND(tile_both)(const struct gp_coordinates *s, const double *restrict c,
    const double *restrict strip, size_t from, size_t to, double *restrict k,
    double *restrict slope, double *restrict local)
{
	const struct matern form = s->form, near = matern_form(0);
	double r2[GROUP], t, e;
	size_t at;
	int i;

	for (at = from; at < to; at += GROUP) {
		any_distance(s, c, strip + at, r2);
		for (i = 0; i < GROUP; i++) {
			t = matern_reach(form, r2[i]);
			e = s->signal * kernel_exp(-t);
			k[at + i] = matern_value(form, t, e);
			slope[at + i] = matern_slope(form, t, e);
		}
		for (i = 0; i < GROUP; i++)
			local[at + i] = 0;
		if (!any_local(s, r2))
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

static KIND_TARGET double
KIND(tile_dot)(const double *k, const double *w, size_t to)
{
	vec sum[OF_LANES];
	double out[LANES];
	size_t at, i;

	KIND_EACH
	for (i = 0; i < OF_LANES; i++)
		sum[i] = AT(k, i * KIND_WIDE) * AT(w, i * KIND_WIDE);
	for (at = LANES; at < to; at += LANES) {
		k += LANES;
		w += LANES;
		KIND_EACH
		for (i = 0; i < OF_LANES; i++)
			sum[i] += AT(k, i * KIND_WIDE) * AT(w, i * KIND_WIDE);
	}
	KIND_EACH
	for (i = 0; i < OF_LANES; i++)
		*(vec *)(out + i * KIND_WIDE) = sum[i];
	return gp_tile_sum(out);
}

/* What a pair weighs: 0 at and above the diagonal, and behind the last row. */
static INLINE void
pair_weights(const struct gp_tile_pairs *p, size_t from, size_t to,
    double *restrict w, double *restrict local)
{
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
		for (i = 0; i < LANES; i++)
			local[i] += v[i] * p->local[at + i];
		for (i = 0; i < LANES; i++)
			local[i] += v[i + LANES] * p->local[at + i + LANES];
	}
}

/* Two coordinates at a time, whose sums do not wait for one another. */
static KIND_TARGET void
KIND(tile_gradient)(const struct gp_coordinates *s, const double *c,
    const double *strip, const struct gp_tile_pairs *p, size_t from, size_t to,
    double *total)
{
	double w[STRIP];
	vec a[OF_LANES], b[OF_LANES], g, u, v;
	const double *z = strip, *next;
	size_t j = 0, i, at;

	pair_weights(p, from, to, w, total + s->d * LANES);
	for (; j + 1 < s->numbers; j += 2, z += 2 * STRIP, total += 2 * LANES) {
		next = z + STRIP;
		KIND_EACH
		for (i = 0; i < OF_LANES; i++) {
			a[i] = AT(total, i * KIND_WIDE);
			b[i] = AT(total, LANES + i * KIND_WIDE);
		}
		for (at = from; at < to; at += LANES) {
			KIND_EACH
			for (i = 0; i < OF_LANES; i++) {
				g = AT(w, at + i * KIND_WIDE);
				u = c[j] - AT(z, at + i * KIND_WIDE);
				v = c[j + 1] - AT(next, at + i * KIND_WIDE);
				a[i] += g * u * u;
				b[i] += g * v * v;
			}
		}
		KIND_EACH
		for (i = 0; i < OF_LANES; i++) {
			*(vec *)(total + i * KIND_WIDE) = a[i];
			*(vec *)(total + LANES + i * KIND_WIDE) = b[i];
		}
	}
	for (; j < s->d; j++, z += STRIP, total += LANES) {
		KIND_EACH
		for (i = 0; i < OF_LANES; i++)
			a[i] = AT(total, i * KIND_WIDE);
		for (at = from; at < to; at += LANES) {
			KIND_EACH
			for (i = 0; i < OF_LANES; i++) {
				g = AT(w, at + i * KIND_WIDE);
				u = AT(z, at + i * KIND_WIDE);
				if (j < s->numbers) {
					u = c[j] - u;
					a[i] += g * u * u;
				} else
					a[i] +=
					    (vec)((vec_bits)g & (u != c[j]));
			}
		}
		KIND_EACH
		for (i = 0; i < OF_LANES; i++)
			*(vec *)(total + i * KIND_WIDE) = a[i];
	}
}

static KIND_TARGET void
KIND(tile_pull)(const struct gp_coordinates *s, const double *c,
    const double *strip, size_t to, const double *w, double *total)
{
	const double *z = strip;
	vec sum[OF_LANES];
	double out[LANES];
	size_t j, i, at;

	for (j = 0; j < s->numbers; j++, z += STRIP) {
		KIND_EACH
		for (i = 0; i < OF_LANES; i++)
			sum[i] = AT(w, i * KIND_WIDE) *
				 (c[j] - AT(z, i * KIND_WIDE));
		for (at = LANES; at < to; at += LANES) {
			KIND_EACH
			for (i = 0; i < OF_LANES; i++)
				sum[i] += AT(w, at + i * KIND_WIDE) *
					  (c[j] - AT(z, at + i * KIND_WIDE));
		}
		KIND_EACH
		for (i = 0; i < OF_LANES; i++)
			*(vec *)(out + i * KIND_WIDE) = sum[i];
		total[j] += gp_tile_sum(out);
	}
}

#undef vec
#undef vec_bits
#undef any_local
#undef any_distance
#undef group_values
#undef pair_weights
#undef INLINE
#undef AT
#undef OF_GROUP
#undef OF_LANES
