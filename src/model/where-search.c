/*
 * Finds settings that satisfy all conditions: random points, then a search that
 * halves boxes of the space in random order and leaves out those where a
 * condition holds for no value (branch and prune: Kearfott, "Rigorous global
 * search", 1996).  Where few boxes do not suffice, random points are moved before
 * more boxes are halved.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/param.h"
#include "src/model/partial-setting.h"
#include "src/model/space.h"
#include "src/model/when.h"
#include "src/model/where-internal.h"

enum {
	RANDOM_POINTS = 1000,
	FEW_BOXES = 1000, /* of a search that is enough for most spaces */
	BOXES = 4000, /* of each of the last ones */
	SEARCHES = 4,
	DEPTH = 500,
	HALVINGS = 40 /* of a line */
};

/* Range of a continuous parameter, of which decode makes two values at most. */
static const double narrowest = 1e-15;

struct search {
	const struct space *space;
	const struct value *fixed; /* or NULL */
	struct rng *rng;
	struct where_range *box;
	struct span *spans;
	bool *matters; /* per parameter: named by a condition, or its parent */
	struct value *values;
	double *u; /* the result */
	int boxes; /* left to look at */
	bool unsure; /* a part was left out that may have a setting */
};

/* Bring the values to where decode of the point gives them again. */
static bool
try_values(struct search *s)
{
	space_encode(s->space, s->values, s->u);
	space_snap(s->space, s->u);
	return where_holds(s->space, s->u);
}

/* A random level, each as likely as its share of the cube. */
static void
draw_level(struct value *v, const struct param *p, const struct where_range *r,
    struct rng *rng)
{
	double levels = (double)param_levels(p), low = r->low / levels;
	double high = (r->high + 1) / levels, level;

	if (p->type == PARAM_INT && p->scale == SCALE_LOG) {
		param_level_value(p, (uint64_t)r->low, v);
		low = param_encode(p, v);
		param_level_value(p, (uint64_t)r->high, v);
		high = param_encode(p, v);
	}
	param_decode(p, low + (high - low) * rng_uniform(rng), v);
	level = (double)param_level_of(p, v);
	if (level < r->low || level > r->high)
		param_level_value(
		    p, (uint64_t)(level < r->low ? r->low : r->high), v);
}

/* A random setting of the box. */
static bool
try_box(struct search *s)
{
	const struct space *space = s->space;
	const struct where_range *r;
	size_t k, i;

	for (k = 0; k < space->n; k++) {
		i = (size_t)space->order[k];
		r = &s->box[i];
		if (!space_active(space, i, s->values))
			s->values[i] = (struct value){ .kind = VALUE_NONE };
		else if (s->fixed != NULL && s->fixed[i].kind != VALUE_NONE)
			s->values[i] = s->fixed[i];
		else if (param_levels(&space->params[i]) > 0)
			draw_level(&s->values[i], &space->params[i], r, s->rng);
		else
			param_decode(&space->params[i],
			    r->low + (r->high - r->low) * rng_uniform(s->rng),
			    &s->values[i]);
	}
	return try_values(s);
}

/* Whether a condition holds nowhere in the box; open: whether one may fail. */
static bool
is_empty(struct search *s, bool *open)
{
	const struct where *w = s->space->where;
	unsigned truth;
	size_t i;

	where_spans(s->spans, s->space, s->box);
	*open = false;
	for (i = 0; i < w->n; i++) {
		truth = expression_test(w->list[i], s->spans);
		if (truth == SPAN_FALSE)
			return true;
		*open = *open || (truth & SPAN_FALSE) != 0;
	}
	return false;
}

/* The parameter whose range is the largest share of its whole one, or -1. */
static int
widest(const struct search *s)
{
	const struct where_range *r;
	double share, most = 0;
	uint64_t levels;
	int best = -1;
	size_t i;

	for (i = 0; i < s->space->n; i++) {
		r = &s->box[i];
		levels = param_levels(&s->space->params[i]);
		share = r->high - r->low;
		if (levels > 1)
			share /= (double)(levels - 1);
		/* Ties at random would cost numbers: the first one. */
		if (s->matters[i] && share > most) {
			most = share;
			best = (int)i;
		}
	}
	return best;
}

static bool search_box(struct search *, int depth);

/* Both halves of a range, one of them by chance first. */
static bool
search_halves(struct search *s, struct where_range *r, bool levels, int depth)
{
	struct where_range whole = *r;
	double middle = (whole.low + whole.high) / 2;
	bool upper = rng_below(s->rng, 2) != 0;
	int half;

	bool ends = !levels && whole.high - whole.low < narrowest;

	if (levels)
		middle = floor(middle);
	for (half = 0; half < 2; half++) {
		*r = whole;
		if (upper == (half == 0))
			r->low = ends	  ? whole.high
				 : levels ? middle + 1
					  : middle;
		else
			r->high = ends ? whole.low : middle;
		if (search_box(s, depth))
			return true;
	}
	*r = whole;
	return false;
}

static bool
search_box(struct search *s, int depth)
{
	bool open;
	int i;

	if (s->boxes-- <= 0 || depth > DEPTH) {
		s->unsure = true;
		return false;
	}
	if (is_empty(s, &open))
		return false;
	if (try_box(s))
		return true;
	i = widest(s);
	if (i < 0) {
		/* A single setting of numbers with levels was tried. */
		s->unsure = true;
		return false;
	}
	return search_halves(
	    s, &s->box[i], param_levels(&s->space->params[i]) > 0, depth + 1);
}

/* Named by a condition, and all that decides whether those are active. */
static void
matters_find(struct search *s)
{
	const struct where *w = s->space->where;
	const struct when *when;
	size_t at, i, k;

	for (i = 0; i < s->space->n; i++)
		for (k = 0; k < w->n; k++)
			if (expression_names(w->list[k], i))
				s->matters[i] = true;
	/* Children first. */
	for (at = s->space->n; at-- > 0;) {
		i = (size_t)s->space->order[at];
		when = s->space->params[i].when;
		for (k = 0;
		     when != NULL && s->matters[i] && k < when->n_parents; k++)
			s->matters[when->parents[k]] = true;
	}
}

static enum where_found
search_boxes(struct search *s, int boxes)
{
	where_box(s->box, s->space, s->fixed);
	s->boxes = boxes;
	s->unsure = false;
	if (search_box(s, 0))
		return WHERE_FOUND;
	return s->unsure ? WHERE_UNKNOWN : WHERE_EMPTY;
}

/* ---- moving a setting --------------------------------------------------- */

/*
 * A random setting is moved until it satisfies all conditions: one parameter after
 * the other to where the conditions are broken least.  It finds what the boxes
 * of the search do not in many dimensions, such as thirty shares with a sum
 * of at most 1.  Then it walks on among the settings that satisfy them, one
 * parameter after the other (Neal, "Slice sampling", 2003, section 5.1), so that
 * the result is not at their border.
 */

enum {
	STARTS = 3,
	ROUNDS = 200, /* of one start, each of all parameters */
	IDLE = 30, /* rounds without an improvement end a start */
	TRIES = 6, /* values of a parameter in a round */
	FINEST = 20, /* halvings of the least move */
	WALKS = 3, /* rounds among the settings found */
	SHRINKS = 12
};

/* A cost that no other start makes less: an equation between floats. */
static const double nearly = 1e-4;

struct repair {
	const struct space *space;
	const struct value *fixed; /* or NULL */
	const bool *matters; /* per parameter: of a condition */
	struct rng *rng;
	double *u; /* the setting, without NaN where it is inactive */
	struct value *values;
	struct span *spans;
};

/* 0: all conditions hold. */
static double
cost(struct repair *r)
{
	const struct where *w = r->space->where;
	double sum = 0;
	size_t i;

	space_decode(r->space, r->u, r->values);
	if (r->fixed != NULL) {
		partial_setting_overlay(r->space, r->values, r->fixed);
		partial_setting_complete(r->space, r->values);
	}
	where_setting_spans(r->spans, r->space, r->values);
	for (i = 0; i < w->n; i++)
		sum += log1p(expression_distance(w->list[i], r->spans));
	return sum;
}

static bool
is_open(const struct repair *r, size_t i)
{
	return r->matters[i] &&
	       (r->fixed == NULL || r->fixed[i].kind == VALUE_NONE);
}

/* A random value, or one that is nearer by a random power of two. */
static double
moved(struct repair *r, double from)
{
	double reach = ldexp(1, -(int)rng_below(r->rng, FINEST));
	double to = from + (2 * rng_uniform(r->rng) - 1) * reach;

	return reach == 1 || to < 0 || to > 1 ? rng_uniform(r->rng) : to;
}

/* Move each parameter to the best of some values; the cost after it. */
static double
improve(struct repair *r, double least)
{
	size_t first = (size_t)rng_below(r->rng, r->space->n), k, i;
	double from, now;
	int n;

	for (k = 0; k < r->space->n && least > 0; k++) {
		i = (first + k) % r->space->n;
		for (n = 0; n < TRIES && is_open(r, i) && least > 0; n++) {
			from = r->u[i];
			r->u[i] = moved(r, from);
			now = cost(r);
			if (now <= least)
				least = now;
			else
				r->u[i] = from;
		}
	}
	return least;
}

/* A random value that keeps the conditions, of each parameter. */
static void
walk(struct repair *r)
{
	double from, low, high;
	size_t i;
	int n;

	for (i = 0; i < r->space->n; i++) {
		from = r->u[i];
		low = 0;
		high = 1;
		for (n = 0; n < SHRINKS && is_open(r, i); n++) {
			r->u[i] = low + (high - low) * rng_uniform(r->rng);
			if (cost(r) == 0)
				break;
			if (r->u[i] < from)
				low = r->u[i];
			else
				high = r->u[i];
			r->u[i] = from;
		}
	}
}

/* What is left of the cost: 0 is a setting. */
static double
start(struct repair *r)
{
	double least, before;
	int round, idle = 0;
	size_t i;

	for (i = 0; i < r->space->n; i++)
		r->u[i] = rng_uniform(r->rng);
	least = cost(r);
	for (round = 0; round < ROUNDS && idle < IDLE && least > 0; round++) {
		before = least;
		least = improve(r, least);
		idle = least < before ? 0 : idle + 1;
	}
	for (i = 0; i < WALKS && least == 0; i++)
		walk(r);
	return least;
}

/*
 * A setting that satisfies all conditions, into u, by moving a random one;
 * matters: per parameter, whether a condition depends on it.  False: not found.
 */
static bool
where_repair(double *u, const struct space *space, const struct value *fixed,
    const bool *matters, struct rng *rng)
{
	struct repair r = {
		.space = space,
		.fixed = fixed,
		.matters = matters,
		.rng = rng,
		.u = xcalloc(space->n, sizeof *r.u),
		.values = xcalloc(space->n, sizeof *r.values),
		.spans = xcalloc(space->n, sizeof *r.spans),
	};
	double left = INFINITY;
	bool found = false;
	int i;

	for (i = 0; i < STARTS && left > nearly; i++)
		left = start(&r);
	if (left == 0) {
		(void)cost(&r);
		space_encode(space, r.values, u);
		space_snap(space, u);
		found = where_holds(space, u);
	}
	free(r.u);
	free(r.values);
	free(r.spans);
	return found;
}

/* ---- searching ---------------------------------------------------------- */

/* Where random points do not find one. */
static enum where_found
search_rare(struct search *s)
{
	enum where_found found;
	int i;

	matters_find(s);
	found = search_boxes(s, FEW_BOXES);
	if (found == WHERE_UNKNOWN &&
	    where_repair(s->u, s->space, s->fixed, s->matters, s->rng))
		found = WHERE_FOUND;
	for (i = 0; i < SEARCHES && found == WHERE_UNKNOWN; i++)
		found = search_boxes(s, BOXES);
	return found;
}

enum where_found
where_search(double *u, const struct space *space, const struct value *fixed,
    uint64_t seed, uint64_t stream)
{
	struct rng rng;
	struct search s = {
		.space = space, .fixed = fixed, .rng = &rng, .u = u
	};
	enum where_found found = WHERE_UNKNOWN;
	int i;

	rng_init(&rng, seed, stream ^ UINT64_C(0x7768657265) << 16);
	s.box = xcalloc(space->n, sizeof *s.box);
	s.spans = xcalloc(space->n, sizeof *s.spans);
	s.matters = xcalloc(space->n, sizeof *s.matters);
	s.values = xcalloc(space->n, sizeof *s.values);
	where_box(s.box, space, fixed);
	for (i = 0; i < RANDOM_POINTS && found != WHERE_FOUND; i++)
		if (try_box(&s))
			found = WHERE_FOUND;
	if (found != WHERE_FOUND)
		found = search_rare(&s);
	free(s.box);
	free(s.spans);
	free(s.matters);
	free(s.values);
	return found;
}

/* A point between two: an inactive coordinate counts as the middle. */
static void
between(
    double *out, const double *from, const double *to, double share, size_t n)
{
	double a, b;
	size_t i;

	for (i = 0; i < n; i++) {
		a = isnan(from[i]) ? 0.5 : from[i];
		b = isnan(to[i]) ? 0.5 : to[i];
		out[i] = a + (b - a) * share;
	}
}

void
where_approach(double *from, const struct space *space, const double *to)
{
	double *at = xcalloc(space->n, sizeof *at), low = 0, high = 1, middle;
	double *best = xcalloc(space->n, sizeof *best);
	int i;

	memcpy(best, to, space->n * sizeof *best);
	for (i = 0; i < HALVINGS; i++) {
		middle = (low + high) / 2;
		between(at, from, to, middle, space->n);
		space_snap(space, at);
		if (where_holds(space, at)) {
			memcpy(best, at, space->n * sizeof *best);
			high = middle;
		} else
			low = middle;
	}
	memcpy(from, best, space->n * sizeof *best);
	free(at);
	free(best);
}

/* The values of a point, and over them those that are fixed. */
static void
decode_over(struct value *values, const struct space *space, const double *u,
    const struct value *fixed)
{
	space_decode(space, u, values);
	partial_setting_overlay(space, values, fixed);
	partial_setting_complete(space, values);
}

bool
where_complete(const struct space *space, struct value *suggested,
    const struct value *fixed, uint64_t seed, uint64_t stream)
{
	struct value *at = xcalloc(space->n, sizeof *at);
	double *u = xcalloc(3 * space->n, sizeof *u), low = 0, high = 1;
	double *from = u + space->n, *point = from + space->n, middle;
	bool found;
	int i;

	found = where_search(u, space, fixed, seed, stream) == WHERE_FOUND;
	space_encode(space, suggested, from);
	if (found) {
		space_decode(space, u, suggested);
		partial_setting_overlay(space, suggested, fixed);
	}
	for (i = 0; i < HALVINGS && found; i++) {
		middle = (low + high) / 2;
		between(point, from, u, middle, space->n);
		decode_over(at, space, point, fixed);
		if (where_broken(space, at) == NULL) {
			memcpy(suggested, at, space->n * sizeof *at);
			high = middle;
		} else
			low = middle;
	}
	free(at);
	free(u);
	return found;
}
