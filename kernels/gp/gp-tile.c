/*
 * One point against positions of a strip of 64: loops of constant length over
 * groups of 16, compiled for several kinds of processors.
 */

#include "kernels/gp/gp-tile.h"

#define KIND_LOOPS "kernels/gp/gp-tile-loops.h"
#include "kernels/kinds.h"

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
	KIND_CALL(tile_distance, s, c, strip, to, r2);
}

void
gp_tile_values(const struct gp_coordinates *s, const double *c,
    const double *strip, size_t from, size_t to, double *k)
{
	KIND_CALL(tile_values, s, c, strip, from, to, k);
}

void
gp_tile_values_at(
    const struct gp_coordinates *s, const double *r2, size_t to, double *k)
{
	KIND_CALL(tile_values_at, s, r2, to, k);
}

void
gp_tile_shift(const struct gp_coordinates *s, size_t j, double c, double z,
    const double *strip, size_t to, double *r2)
{
	KIND_CALL(tile_shift, s, j, c, z, strip, to, r2);
}

void
gp_tile_both(const struct gp_coordinates *s, const double *c,
    const double *strip, size_t from, size_t to, double *k, double *slope,
    double *local)
{
	KIND_CALL(tile_both, s, c, strip, from, to, k, slope, local);
}

double
gp_tile_dot(const double *k, const double *w, size_t to)
{
	return KIND_CALL(tile_dot, k, w, to);
}

void
gp_tile_gradient(const struct gp_coordinates *s, const double *c,
    const double *strip, const struct gp_tile_pairs *p, size_t from, size_t to,
    double *total)
{
	KIND_CALL(tile_gradient, s, c, strip, p, from, to, total);
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
	KIND_CALL(tile_pull, s, c, strip, to, w, total);
}
