/*
 * Parameters as coordinates of a process: which of them vary, their levels,
 * which are active.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/model/param.h"
#include "src/model/space.h"
#include "strategies/gp/gp.h"

static bool
is_log_int(const struct param *p)
{
	return p->type == PARAM_INT && p->scale == SCALE_LOG &&
	       param_levels(p) > 0;
}

double
gp_axes_level(const struct gp_axis *a, double x)
{
	struct value v;

	if (is_log_int(a->param)) {
		param_decode(a->param, x, &v);
		return (double)(v.integer - (int64_t)a->param->min);
	}
	return fmin(fmax(floor(x * a->levels), 0), a->levels - 1);
}

double
gp_axes_of_level(const struct gp_axis *a, double level)
{
	struct value v = { .kind = VALUE_INT };

	if (is_log_int(a->param)) {
		v.real = a->param->min + level;
		v.integer = (int64_t)v.real;
		return param_encode(a->param, &v);
	}
	return (level + 0.5) / a->levels;
}

/* The axis of parameter i, or -1 when it has none. */
static int
axis_of(const struct gp_axes *g, int param)
{
	size_t k;

	for (k = 0; k < g->d; k++)
		if ((int)g->axes[k].at == param)
			return (int)k;
	return -1;
}

static bool
is_wanted(const struct param *p, const struct value *parent)
{
	size_t k;

	for (k = 0; k < p->n_when; k++)
		if (param_value_equal(&p->when[k], parent))
			return true;
	return false;
}

/* Whether it never varies: one value, or a parent that has no value for it. */
static bool
is_constant(const struct gp_axes *g, const struct param *p)
{
	const struct param *parent;
	struct value v;

	if (param_levels(p) == 1)
		return true;
	if (p->parent < 0 || axis_of(g, p->parent) >= 0)
		return false;
	parent = &g->space->params[p->parent];
	param_decode(parent, 0.5, &v);
	return param_levels(parent) != 1 || !is_wanted(p, &v);
}

void
gp_axes_init(struct gp_axes *g, const struct space *space)
{
	const struct param *p;
	struct gp_axis *a;
	size_t k, i;

	*g = (struct gp_axes){ .space = space };
	g->axes = xcalloc(space->n + 1, sizeof *g->axes);
	g->category = xcalloc(space->n + 1, sizeof *g->category);
	for (k = 0; k < space->n; k++) {
		i = (size_t)space->order[k];
		p = &space->params[i];
		if (is_constant(g, p))
			continue;
		a = &g->axes[g->d];
		*a = (struct gp_axis){ .param = p, .at = i };
		a->levels = (double)param_levels(p);
		a->category = p->type == PARAM_CHOICE && !p->ordered;
		a->parent = p->parent < 0 ? -1 : axis_of(g, p->parent);
		g->category[g->d++] = a->category;
	}
}

void
gp_axes_free(struct gp_axes *g)
{
	free(g->axes);
	free(g->category);
}

/* Whether axis k of a row is active; earlier axes are on their levels. */
static bool
axis_active(
    const struct gp_axes *g, const double *row, const bool *active, size_t k)
{
	const struct gp_axis *a = &g->axes[k];
	struct value parent;

	if (a->parent < 0)
		return true;
	if (!active[a->parent])
		return false;
	param_decode(g->axes[a->parent].param, row[a->parent], &parent);
	return is_wanted(a->param, &parent);
}

void
gp_axes_active(const struct gp_axes *g, const double *row, bool *active)
{
	size_t k;

	for (k = 0; k < g->d; k++)
		active[k] = axis_active(g, row, active, k);
}

void
gp_axes_snap(const struct gp_axes *g, double *rows, size_t m)
{
	bool *active = xcalloc(g->d + 1, sizeof *active);
	const struct gp_axis *a;
	double *x;
	size_t i, k;

	for (i = 0; i < m; i++) {
		x = rows + i * g->d;
		for (k = 0; k < g->d; k++) {
			a = &g->axes[k];
			active[k] = axis_active(g, x, active, k);
			if (!active[k])
				x[k] = 0.5;
			else if (a->levels > 0)
				x[k] =
				    gp_axes_of_level(a, gp_axes_level(a, x[k]));
		}
	}
	free(active);
}

void
gp_axes_encode(const struct gp_axes *g, const double *point, double *row)
{
	size_t k;

	for (k = 0; k < g->d; k++)
		row[k] =
		    isnan(point[g->axes[k].at]) ? 0.5 : point[g->axes[k].at];
	gp_axes_snap(g, row, 1);
}

void
gp_axes_decode(const struct gp_axes *g, const double *row, double *point)
{
	size_t i, k;

	for (i = 0; i < g->space->n; i++)
		point[i] = 0.5;
	for (k = 0; k < g->d; k++)
		point[g->axes[k].at] = row[k];
}

double
gp_axes_size(const struct gp_axes *g)
{
	double size = 1;
	size_t k;

	for (k = 0; k < g->d; k++)
		size *= g->axes[k].levels > 0 ? g->axes[k].levels : INFINITY;
	return size;
}
