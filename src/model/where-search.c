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
