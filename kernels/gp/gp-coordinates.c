/*
 * Coordinates in the form of the covariance: multiplied by their relevance,
 * numbers before categories, in strips.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/alloc.h"
#include "kernels/gp/gp-tile.h"

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
void
gp_coordinates_tiles(struct gp_tiles *t, const struct gp_coordinates *s,
    const double *x, size_t n, const size_t *order)
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
void
gp_coordinates_tiles_free(struct gp_tiles *t)
{
	free(t->z);
}
