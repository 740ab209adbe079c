/*
 * Groups of parameters that are sampled together, and their observations.  A
 * parameter that is inactive in a trial is NaN in its point.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "strategies/tpe/tpe.h"

static bool
has_conditions(const struct space *space)
{
	size_t i;

	for (i = 0; i < space->n; i++)
		if (space->params[i].when != NULL)
			return true;
	return false;
}

static bool
is_told(const struct history *h, int64_t trial)
{
	enum trial_state state = history_state(h, trial);

	return state == TRIAL_COMPLETED || state == TRIAL_STOPPED;
}

/* Remove the parameters that the point lacks from group 0. */
static void
groups_cut(int *group, const double *point, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (group[i] == 0 && isnan(point[i]))
			group[i] = (int)i + 1;
}

/* Part every group into what the point has and what it lacks. */
static void
groups_part(int *group, const double *point, size_t n, int *fresh, int *next)
{
	size_t i;
	int g;

	for (i = 0; i < n; i++)
		fresh[group[i]] = 0;
	for (i = 0; i < n; i++) {
		if (isnan(point[i]))
			continue;
		g = group[i];
		if (fresh[g] == 0)
			fresh[g] = (*next)++;
		group[i] = fresh[g];
	}
}

/* Number the groups 0, 1, … by their first parameters; shrinks *next. */
static void
groups_renumber(int *group, size_t n, int *number, int *next)
{
	size_t i;
	int count = 1; /* 0 is for those that no trial had */

	for (i = 0; i < n; i++)
		number[group[i]] = 0;
	for (i = 0; i < n; i++) {
		if (group[i] == 0)
			continue;
		if (number[group[i]] == 0)
			number[group[i]] = count++;
		group[i] = number[group[i]];
	}
	*next = count;
}

static void
groups_learn(
    int *group, size_t n, const struct history *h, bool grouped, int *next)
{
	int *scratch = xcalloc(2 * n + 2, sizeof *scratch);
	int64_t i;

	for (i = history_first(h); i <= history_count(h); i++) {
		if (!is_told(h, i))
			continue;
		if (!grouped) {
			groups_cut(group, history_point(h, i), n);
			continue;
		}
		groups_part(group, history_point(h, i), n, scratch, next);
		groups_renumber(group, n, scratch, next);
	}
	free(scratch);
}

void
tpe_groups(int *group, const struct space *space, const struct history *h,
    enum tpe_joint joint)
{
	size_t i;
	int next = 1;

	for (i = 0; i < space->n; i++)
		group[i] = joint == TPE_ALONE ? (int)i + 1 : 0;
	if (joint == TPE_ALONE || !has_conditions(space))
		return;
	groups_learn(group, space->n, h, joint == TPE_GROUPED, &next);
	for (i = 0; joint == TPE_GROUPED && i < space->n; i++)
		if (group[i] == 0)
			group[i] = next++;
}

static bool
has_all(const double *point, const size_t *which, size_t dims)
{
	size_t d;

	for (d = 0; d < dims; d++)
		if (isnan(point[which[d]]))
			return false;
	return true;
}

double *
tpe_groups_observations(const struct history *h, const int64_t *trials,
    size_t n, const struct axis *axes, const size_t *which, size_t dims,
    size_t *n_kept)
{
	const double **points = xcalloc(n + 1, sizeof *points);
	double *z;
	size_t d, k, kept = 0;

	for (k = 0; k < n; k++) {
		points[kept] = history_point(h, trials[k]);
		kept += has_all(points[kept], which, dims);
	}
	z = xreallocarray(NULL, kept * dims + 1, sizeof *z);
	for (d = 0; d < dims; d++) {
		/* Numbers, which most are, without a call each. */
		for (k = 0; k < kept && axes[d].kind == TPE_AXIS_NUMBER; k++)
			z[d * kept + k] = points[k][which[d]];
		for (k = 0; k < kept && axes[d].kind != TPE_AXIS_NUMBER; k++)
			z[d * kept + k] =
			    tpe_axis_from_cube(&axes[d], points[k][which[d]]);
	}
	free(points);
	*n_kept = kept;
	return z;
}
