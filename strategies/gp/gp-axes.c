/*
 * Parameters as coordinates of a process: which of them vary, their levels,
 * which are active.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/param.h"
#include "src/model/when.h"
#include "strategies/gp/gp.h"

double
gp_axes_level(const struct gp_axis *a, double x)
{
	struct value v;

	if (a->log_int) {
		param_decode(a->param, x, &v);
		return (double)(v.integer - (int64_t)a->param->min);
	}
	return fmin(fmax(floor(x * a->levels), 0), a->levels - 1);
}

double
gp_axes_of_level(const struct gp_axis *a, double level)
{
	struct value v = { .kind = VALUE_INT };

	if (a->log_int) {
		v.real = a->param->min + level;
		v.integer = (int64_t)v.real;
		return param_encode(a->param, &v);
	}
	return (level + 0.5) / a->levels;
}

static void
axis_add(struct gp_axes *g, size_t i)
{
	const struct param *p = &g->space->params[i];
	struct gp_axis *a = &g->axes[g->d];

	*a = (struct gp_axis){ .param = p, .at = i };
	a->levels = (double)param_levels(p);
	a->log_int =
	    p->type == PARAM_INT && p->scale == SCALE_LOG && a->levels > 0;
	a->category = p->type == PARAM_CHOICE && !p->ordered;
	g->conditional = g->conditional || p->when != NULL;
	g->axis_of[i] = (int)g->d;
	g->category[g->d++] = a->category;
}

void
gp_axes_init(struct gp_axes *g, const struct space *space)
{
	const struct when *w;
	size_t k, i;

	*g = (struct gp_axes){ .space = space };
	g->axes = xcalloc(space->n + 1, sizeof *g->axes);
	g->category = xcalloc(space->n + 1, sizeof *g->category);
	g->axis_of = xcalloc(space->n + 1, sizeof *g->axis_of);
	g->decides = xcalloc(space->n + 1, sizeof *g->decides);
	for (i = 0; i < space->n; i++) {
		g->axis_of[i] = -1;
		w = space->params[i].when;
		for (k = 0; w != NULL && k < w->n_parents; k++)
			g->decides[w->parents[k]] = true;
	}
	for (k = 0; k < space->n; k++) {
		i = (size_t)space->order[k];
		if (param_levels(&space->params[i]) != 1)
			axis_add(g, i);
	}
}

void
gp_axes_free(struct gp_axes *g)
{
	free(g->axes);
	free(g->category);
	free(g->axis_of);
	free(g->decides);
}

/*
 * Find which axes of a row are active, parents before children; snapped: the
 * row on levels, or NULL.  values: n, scratch.
 */
static void
row_visit(const struct gp_axes *g, const double *row, double *snapped,
    bool *active, struct value *values)
{
	const struct space *space = g->space;
	size_t k, i;
	double x;
	bool is;
	int at;

	for (k = 0; k < space->n; k++) {
		i = (size_t)space->order[k];
		at = g->axis_of[i];
		if (at < 0 && !g->decides[i])
			continue;
		is = !g->conditional || space_active(space, i, values);
		x = at >= 0 && is ? row[at] : 0.5;
		if (at >= 0) {
			active[at] = is;
			if (snapped != NULL && is && g->axes[at].levels > 0)
				x = gp_axes_of_level(&g->axes[at],
				    gp_axes_level(&g->axes[at], x));
			if (snapped != NULL)
				snapped[at] = x;
		}
		values[i] = (struct value){ .kind = VALUE_NONE };
		if (is && g->decides[i])
			param_decode(&space->params[i], x, &values[i]);
	}
}

void
gp_axes_active(const struct gp_axes *g, const double *row, bool *active)
{
	struct value *values;

	if (!g->conditional) {
		memset(active, true, g->d * sizeof *active);
		return;
	}
	values = xcalloc(g->space->n + 1, sizeof *values);
	row_visit(g, row, NULL, active, values);
	free(values);
}

/* Where all axes are active. */
static void
rows_level(const struct gp_axes *g, double *rows, size_t m)
{
	const struct gp_axis *a;
	size_t i, k;

	for (i = 0; i < m; i++, rows += g->d)
		for (k = 0; k < g->d; k++) {
			a = &g->axes[k];
			if (a->levels > 0)
				rows[k] = gp_axes_of_level(
				    a, gp_axes_level(a, rows[k]));
		}
}

void
gp_axes_snap(const struct gp_axes *g, double *rows, size_t m)
{
	struct value *values;
	bool *active;
	size_t i;

	if (!g->conditional) {
		rows_level(g, rows, m);
		return;
	}
	values = xcalloc(g->space->n + 1, sizeof *values);
	active = xcalloc(g->d + 1, sizeof *active);
	for (i = 0; i < m; i++, rows += g->d)
		row_visit(g, rows, rows, active, values);
	free(active);
	free(values);
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

bool
gp_axes_continuous(const struct gp_axes *g)
{
	size_t k;

	for (k = 0; k < g->d; k++)
		if (g->axes[k].levels > 0)
			return false;
	return true;
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
