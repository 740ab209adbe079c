/* Log masses of levels by distance and bandwidth. */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "strategies/tpe/tpe-levels.h"
#include "strategies/tpe/tpe-masses.h"
#include "strategies/tpe/tpe-parzen.h"

enum {
	BANDWIDTHS_MAX = 32,
	WORTH = 2 /* times as many masses must be saved */
};

/* The level with this coordinate; false where it is not the middle of one. */
static bool
tpe_levels_of(const struct axis *a, double x, size_t *level)
{
	double i = x * a->levels - 0.5, near = rint(i);

	if (!(near >= 0 && near < a->levels && fabs(i - near) < 1e-9))
		return false;
	*level = (size_t)near;
	return true;
}

/* The place of a bandwidth among those so far, or a new one. */
static size_t
tpe_levels_place_of(double *scales, size_t *n, double scale)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (scales[i] == scale)
			return i;
	if (*n < BANDWIDTHS_MAX)
		scales[(*n)++] = scale;
	return i;
}

/* The masses of all distances for each bandwidth. */
static void
masses_fill(struct tpe_levels *l, const double *scales, size_t n)
{
	double *middle = xcalloc(2 * l->levels, sizeof *middle), by;
	double *half = middle + l->levels, levels = (double)l->levels;
	size_t i, k;

	l->mass = xcalloc(n * l->levels, sizeof *l->mass);
	for (k = 0; k < n; k++) {
		by = scales[k] * M_SQRT2;
		for (i = 0; i < l->levels; i++) {
			middle[i] = (double)i / levels * by;
			half[i] = by / (2 * levels);
		}
		tpe_masses_log(
		    l->mass + k * l->levels, middle, half, l->levels);
	}
	free(middle);
}

/*
 * False where it does not save computing the masses of m levels in each group
 * of the dimension, and then there is nothing to free.
 */
bool
tpe_levels_init(
    struct tpe_levels *l, const struct parzen *p, size_t d, size_t m)
{
	const struct axis *a = &p->axes[d];
	const uint32_t *member = p->member + p->table[d] * p->stride;
	double scales[BANDWIDTHS_MAX], most;
	size_t groups = p->n_groups[d], n = 0, g, at;
	uint32_t k;

	most = (double)groups * (double)m / WORTH;
	if (a->kind != TPE_AXIS_LEVELS || !(a->levels < most))
		return false;
	*l = (struct tpe_levels){ .p = p, .d = d, .levels = (size_t)a->levels };
	l->row = xcalloc(2 * groups, sizeof *l->row);
	l->centre = l->row + groups;
	for (g = 0; g < groups; g++) {
		k = member[g];
		l->row[g] = SIZE_MAX;
		if (!tpe_levels_of(a, p->mu[d * p->stride + k], &l->centre[g]))
			continue;
		at = tpe_levels_place_of(
		    scales, &n, p->scale[d * p->stride + k]);
		if (at < BANDWIDTHS_MAX)
			l->row[g] = at * l->levels;
	}
	if (!((double)n * a->levels < most)) {
		free(l->row);
		return false;
	}
	masses_fill(l, scales, n);
	return true;
}

void
tpe_levels_free(struct tpe_levels *l)
{
	free(l->mass);
	free(l->row);
}

/*
 * The masses at coordinate x by group; rest receives the groups that have none
 * here, whose number is returned.
 */
size_t
tpe_levels_fill(
    const struct tpe_levels *l, double x, double *table, uint32_t *rest)
{
	size_t groups = l->p->n_groups[l->d], n = 0, g, level, centre;
	bool known = tpe_levels_of(&l->p->axes[l->d], x, &level);

	for (g = 0; g < groups; g++) {
		centre = l->centre[g];
		if (known && l->row[g] != SIZE_MAX)
			table[g] = l->mass[l->row[g] +
					   (level < centre ? centre - level
							   : level - centre)];
		else
			rest[n++] = (uint32_t)g;
	}
	return n;
}
