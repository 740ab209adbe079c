/*
 * Enumerates settings.
 *
 * An inactive parameter has one state, so combinations that differ only in
 * inactive parameters are one point.  Conditions form a forest: the children of
 * a parameter are active under some of its values.  A tree has as many points
 * as the sum over the root's values of the product over the children active
 * there; the same counts convert a point's number into the point, so no list of
 * points is stored.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/model/space-index.h"
#include "src/model/space.h"

#define PARENT_MAX (UINT64_C(1) << 20) /* values of a parameter with children */

struct space_index {
	const struct space *space;
	uint64_t levels; /* of a continuous parameter */
	uint64_t *points; /* per parameter: points of its tree */
	bool *has_children;
	uint64_t n; /* points of the whole space */
};

/* a * b and a + b, limited to SPACE_INDEX_MAX + 1. */
static uint64_t
times(uint64_t a, uint64_t b)
{
	return b != 0 && a > SPACE_INDEX_MAX / b ? SPACE_INDEX_MAX + 1 : a * b;
}

static uint64_t
plus(uint64_t a, uint64_t b)
{
	return a > SPACE_INDEX_MAX || b > SPACE_INDEX_MAX ? SPACE_INDEX_MAX + 1
							  : a + b;
}

static bool
param_continuous(const struct param *p)
{
	return param_levels(p) == 0 && p->min < p->max;
}

static uint64_t
param_count(const struct space_index *l, const struct param *p)
{
	if (param_continuous(p))
		return l->levels > 0 ? l->levels : SPACE_INDEX_MAX + 1;
	return param_levels(p) > 0 ? param_levels(p) : 1;
}

/* Value number k of a parameter; a continuous one is set by its coordinate. */
static struct value
param_value(const struct param *p, uint64_t k)
{
	struct value v = { .kind = VALUE_REAL };

	switch (p->type) {
	case PARAM_CHOICE:
	case PARAM_FIXED:
		return p->values[k];
	case PARAM_INT:
		v.kind = VALUE_INT;
		v.real = p->min + (double)k * (p->step > 0 ? p->step : 1);
		v.integer = (int64_t)v.real;
		return v;
	case PARAM_FLOAT:
		v.real = fmin(p->min + (double)k * p->step, p->max);
		return v;
	}
	return v;
}

static bool
child_active(const struct param *child, const struct value *parent)
{
	size_t i;

	for (i = 0; i < child->n_when; i++)
		if (param_value_equal(&child->when[i], parent))
			return true;
	return false;
}

/* Points of all trees under parameter i when it has value number k. */
static uint64_t
below_count(const struct space_index *l, size_t i, uint64_t k)
{
	struct value v = param_value(&l->space->params[i], k);
	const struct param *child;
	uint64_t n = 1;
	size_t c;

	for (c = 0; c < l->space->n; c++) {
		child = &l->space->params[c];
		if (child->parent == (int)i && child_active(child, &v))
			n = times(n, l->points[c]);
	}
	return n;
}

/*
 * Count the points of the tree of parameter i; its children are counted
 * already.
 */
static uint64_t
tree_count(const struct space_index *l, size_t i)
{
	uint64_t count = param_count(l, &l->space->params[i]), n = 0, k;

	if (!l->has_children[i])
		return count;
	if (count > PARENT_MAX)
		return SPACE_INDEX_MAX + 1;
	for (k = 0; k < count; k++)
		n = plus(n, below_count(l, i, k));
	return n;
}

struct space_index *
space_index_new(const struct space *space, uint64_t levels)
{
	struct space_index *l = xcalloc(1, sizeof *l);
	size_t at, i;

	l->space = space;
	l->levels = levels;
	l->n = 1;
	l->points = xcalloc(space->n + 1, sizeof *l->points);
	l->has_children = xcalloc(space->n + 1, sizeof *l->has_children);
	for (i = 0; i < space->n; i++)
		if (space->params[i].parent >= 0)
			l->has_children[space->params[i].parent] = true;
	for (at = space->n; at-- > 0;) {
		i = (size_t)space->order[at];
		l->points[i] = tree_count(l, i);
		if (space->params[i].parent < 0)
			l->n = times(l->n, l->points[i]);
	}
	return l;
}

void
space_index_free(struct space_index *l)
{
	if (l == NULL)
		return;
	free(l->points);
	free(l->has_children);
	free(l);
}

uint64_t
space_index_count(const struct space_index *l)
{
	return l->n > SPACE_INDEX_MAX ? 0 : l->n;
}

/*
 * Point number index of the tree of parameter i: find its value, then divide
 * the rest of the number among the children in turn.
 */
static void
tree_fill(const struct space_index *l, size_t i, uint64_t index,
    struct value *values, double *x)
{
	const struct param *p = &l->space->params[i], *child;
	uint64_t k = 0, n;
	size_t c;

	if (!l->has_children[i])
		k = index;
	else
		while (index >= (n = below_count(l, i, k))) {
			index -= n;
			k++;
		}
	values[i] = param_value(p, k);
	if (param_continuous(p))
		x[i] =
		    l->levels == 1 ? 0.5 : (double)k / (double)(l->levels - 1);
	for (c = 0; c < l->space->n && l->has_children[i]; c++) {
		child = &l->space->params[c];
		if (child->parent != (int)i || !child_active(child, &values[i]))
			continue;
		tree_fill(l, c, index % l->points[c], values, x);
		index /= l->points[c];
	}
}

void
space_index_point(const struct space_index *l, uint64_t index, double *x)
{
	const struct space *space = l->space;
	struct value *values = xcalloc(space->n + 1, sizeof *values);
	double *u = xcalloc(space->n + 1, sizeof *u);
	size_t i;

	for (i = 0; i < space->n; i++) {
		if (space->params[i].parent >= 0)
			continue;
		tree_fill(l, i, index % l->points[i], values, u);
		index /= l->points[i];
	}
	space_encode(space, values, x);
	for (i = 0; i < space->n; i++)
		if (values[i].kind != VALUE_NONE &&
		    param_continuous(&space->params[i]))
			x[i] = u[i];
	free(values);
	free(u);
}
