/*
 * Enumerates settings.
 *
 * An inactive parameter has one state, so combinations that differ only in
 * inactive parameters are one point.  Where each condition names one parameter
 * they form a forest: the children of a parameter are active under some of its
 * values.  A tree has as many points as the sum over the root's values of the
 * product over the children active there; the same counts convert a point's
 * number into the point, so no list of points is stored.
 *
 * Parameters that are connected by conditions of which one names several are
 * counted together: a node for each combination of values of those that decide
 * over others has the number of points under it.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/model/param.h"
#include "src/model/space-index.h"
#include "src/model/when.h"

#define PARENT_MAX (UINT64_C(1) << 20) /* values of a parameter with children */
#define NODES_MAX (UINT64_C(1) << 18) /* of parameters counted together */

/* A value of a parameter that decides, after values of those before it. */
struct node {
	uint64_t points;
	size_t below; /* first node of the next parameter */
};

/* Parameters that are counted together. */
struct joint {
	size_t *deciders, n_deciders; /* parents before children */
	size_t *leaves, n_leaves; /* without children */
	struct node *nodes;
	size_t n, cap;
	uint64_t points;
};

struct space_index {
	const struct space *space;
	uint64_t levels; /* of a continuous parameter */
	uint64_t *points; /* per parameter: points of its tree */
	bool *has_children;
	size_t
	    *group; /* per parameter: the first one that it is connected to */
	bool *is_joint; /* per group */
	struct joint *joints;
	size_t n_joints;
	struct value *values; /* the values of parents that are looked at */
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

/* The coordinate of level k of a continuous parameter. */
static double
level_coordinate(const struct space_index *l, uint64_t k)
{
	return l->levels == 1 ? 0.5 : (double)k / (double)(l->levels - 1);
}

/* Value number k of a parameter. */
static struct value
param_value(const struct space_index *l, const struct param *p, uint64_t k)
{
	struct value v = { .kind = VALUE_REAL };

	if (param_continuous(p)) {
		param_decode(p, level_coordinate(l, k), &v);
		return v;
	}
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

/* Whether parameter c is a child of parameter i that value k of it activates. */
static bool
child_active(const struct space_index *l, size_t c, size_t i, uint64_t k)
{
	const struct when *w = l->space->params[c].when;
	bool active;

	if (w == NULL || w->parents[0] != i)
		return false;
	l->values[i] = param_value(l, &l->space->params[i], k);
	active = when_holds(w, l->values);
	l->values[i] = (struct value){ .kind = VALUE_NONE };
	return active;
}

/* Points of all trees under parameter i when it has value number k. */
static uint64_t
below_count(const struct space_index *l, size_t i, uint64_t k)
{
	uint64_t n = 1;
	size_t c;

	for (c = 0; c < l->space->n; c++)
		if (child_active(l, c, i, k))
			n = times(n, l->points[c]);
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

/* Count the trees that are in no group that is counted together. */
static void
trees_count(struct space_index *l)
{
	size_t at, i;

	for (at = l->space->n; at-- > 0;) {
		i = (size_t)l->space->order[at];
		if (l->is_joint[l->group[i]])
			continue;
		l->points[i] = tree_count(l, i);
		if (l->space->params[i].when == NULL)
			l->n = times(l->n, l->points[i]);
	}
}

/* Give parameter i value number k; x: its coordinate if it is continuous. */
static void
space_index_value_put(const struct space_index *l, size_t i, uint64_t k,
    struct value *values, double *x)
{
	const struct param *p = &l->space->params[i];

	values[i] = param_value(l, p, k);
	if (param_continuous(p))
		x[i] = level_coordinate(l, k);
}

/*
 * Point number index of the tree of parameter i: find its value, then divide
 * the rest of the number among the children in turn.
 */
static void
tree_fill(const struct space_index *l, size_t i, uint64_t index,
    struct value *values, double *x)
{
	uint64_t k = 0, n;
	size_t c;

	if (!l->has_children[i])
		k = index;
	else
		while (index >= (n = below_count(l, i, k))) {
			index -= n;
			k++;
		}
	space_index_value_put(l, i, k, values, x);
	for (c = 0; c < l->space->n && l->has_children[i]; c++) {
		if (!child_active(l, c, i, k))
			continue;
		tree_fill(l, c, index % l->points[c], values, x);
		index /= l->points[c];
	}
}

/* Points of the leaves that are active under l->values. */
static uint64_t
leaves_count(const struct space_index *l, const struct joint *j)
{
	uint64_t n = 1;
	size_t k, i;

	for (k = 0; k < j->n_leaves; k++) {
		i = j->leaves[k];
		if (space_active(l->space, i, l->values))
			n = times(n, param_count(l, &l->space->params[i]));
	}
	return n;
}

/* The number of values of decider i under values; an inactive one has one. */
static uint64_t
decider_count(const struct space_index *l, size_t i, const struct value *values)
{
	return space_active(l->space, i, values)
		   ? param_count(l, &l->space->params[i])
		   : 1;
}

static struct value
decider_value(const struct space_index *l, size_t i, uint64_t k,
    const struct value *values)
{
	return space_active(l->space, i, values)
		   ? param_value(l, &l->space->params[i], k)
		   : (struct value){ .kind = VALUE_NONE };
}

/*
 * Make the nodes of the deciders from number depth on, under l->values of those
 * before them; *first: the first of them.  Returns their points.
 */
static uint64_t
joint_count(struct space_index *l, struct joint *j, size_t depth, size_t *first)
{
	uint64_t count, k, points, all = 0;
	size_t i, below = 0;

	if (depth == j->n_deciders)
		return leaves_count(l, j);
	i = j->deciders[depth];
	count = decider_count(l, i, l->values);
	if (count > NODES_MAX - j->n)
		return SPACE_INDEX_MAX + 1;
	*first = j->n;
	j->n += (size_t)count;
	if (j->n > j->cap) {
		j->cap = 2 * j->n;
		j->nodes = xreallocarray(j->nodes, j->cap, sizeof *j->nodes);
	}
	for (k = 0; k < count && all <= SPACE_INDEX_MAX; k++) {
		l->values[i] = (struct value){ .kind = VALUE_NONE };
		l->values[i] = decider_value(l, i, k, l->values);
		points = joint_count(l, j, depth + 1, &below);
		j->nodes[*first + k] =
		    (struct node){ .points = points, .below = below };
		all = plus(all, points);
	}
	l->values[i] = (struct value){ .kind = VALUE_NONE };
	return all;
}

static void
joint_fill(const struct space_index *l, const struct joint *j, uint64_t index,
    struct value *values, double *x)
{
	const struct node *node;
	size_t first = 0, depth, i, k;
	uint64_t n;

	for (depth = 0; depth < j->n_deciders; depth++) {
		i = j->deciders[depth];
		for (k = 0; index >= j->nodes[first + k].points; k++)
			index -= j->nodes[first + k].points;
		node = &j->nodes[first + k];
		if (space_active(l->space, i, values))
			space_index_value_put(l, i, k, values, x);
		first = node->below;
	}
	for (k = 0; k < j->n_leaves; k++) {
		i = j->leaves[k];
		if (!space_active(l->space, i, values))
			continue;
		n = param_count(l, &l->space->params[i]);
		space_index_value_put(l, i, index % n, values, x);
		index /= n;
	}
}

static void
joint_add(struct space_index *l, size_t group)
{
	struct joint *j = &l->joints[l->n_joints++];
	size_t n = l->space->n, k, i, first = 0;

	j->deciders = xcalloc(n, sizeof *j->deciders);
	j->leaves = xcalloc(n, sizeof *j->leaves);
	for (k = 0; k < n; k++) {
		i = (size_t)l->space->order[k];
		if (l->group[i] != group)
			continue;
		if (l->has_children[i])
			j->deciders[j->n_deciders++] = i;
		else
			j->leaves[j->n_leaves++] = i;
	}
	j->points = joint_count(l, j, 0, &first);
	l->n = times(l->n, j->points);
}

static void
joints_count(struct space_index *l)
{
	size_t i;

	l->joints = xcalloc(l->space->n + 1, sizeof *l->joints);
	for (i = 0; i < l->space->n; i++)
		if (l->group[i] == i && l->is_joint[i])
			joint_add(l, i);
}

/* Give the parameters of two groups the same one. */
static void
groups_join(struct space_index *l, size_t a, size_t b)
{
	size_t least = a < b ? a : b, other = a < b ? b : a, i;

	for (i = 0; i < l->space->n && a != b; i++)
		if (l->group[i] == other)
			l->group[i] = least;
}

/* A child of one parameter that is active only with it is part of a tree. */
static bool
is_of_tree(const struct space_index *l, const struct when *w)
{
	return w->n_parents == 1 && !when_holds(w, l->values);
}

static void
groups_find(struct space_index *l)
{
	const struct when *w;
	size_t i, k;

	for (i = 0; i < l->space->n; i++)
		l->group[i] = i;
	for (i = 0; i < l->space->n; i++) {
		w = l->space->params[i].when;
		for (k = 0; w != NULL && k < w->n_parents; k++) {
			l->has_children[w->parents[k]] = true;
			groups_join(l, l->group[i], l->group[w->parents[k]]);
		}
	}
	for (i = 0; i < l->space->n; i++) {
		w = l->space->params[i].when;
		if (w != NULL && !is_of_tree(l, w))
			l->is_joint[l->group[i]] = true;
	}
}

struct space_index *
space_index_new(const struct space *space, uint64_t levels)
{
	struct space_index *l = xcalloc(1, sizeof *l);

	l->space = space;
	l->levels = levels;
	l->n = 1;
	l->points = xcalloc(space->n + 1, sizeof *l->points);
	l->has_children = xcalloc(space->n + 1, sizeof *l->has_children);
	l->group = xcalloc(space->n + 1, sizeof *l->group);
	l->is_joint = xcalloc(space->n + 1, sizeof *l->is_joint);
	l->values = xcalloc(space->n + 1, sizeof *l->values);
	groups_find(l);
	trees_count(l);
	joints_count(l);
	return l;
}

void
space_index_free(struct space_index *l)
{
	size_t i;

	if (l == NULL)
		return;
	for (i = 0; i < l->n_joints; i++) {
		free(l->joints[i].deciders);
		free(l->joints[i].leaves);
		free(l->joints[i].nodes);
	}
	free(l->joints);
	free(l->points);
	free(l->has_children);
	free(l->group);
	free(l->is_joint);
	free(l->values);
	free(l);
}

uint64_t
space_index_count(const struct space_index *l)
{
	return l->n > SPACE_INDEX_MAX ? 0 : l->n;
}

void
space_index_point(const struct space_index *l, uint64_t index, double *x)
{
	const struct space *space = l->space;
	struct value *values = xcalloc(space->n + 1, sizeof *values);
	double *u = xcalloc(space->n + 1, sizeof *u);
	const struct joint *j;
	size_t i;

	for (i = 0; i < space->n; i++) {
		if (space->params[i].when != NULL || l->is_joint[l->group[i]])
			continue;
		tree_fill(l, i, index % l->points[i], values, u);
		index /= l->points[i];
	}
	for (i = 0; i < l->n_joints; i++) {
		j = &l->joints[i];
		joint_fill(l, j, index % j->points, values, u);
		index /= j->points;
	}
	space_encode(space, values, x);
	for (i = 0; i < space->n; i++)
		if (values[i].kind != VALUE_NONE &&
		    param_continuous(&space->params[i]))
			x[i] = u[i];
	free(values);
	free(u);
}
