/* Reads the conditions of a space, and tests settings against them. */

#include <math.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/param.h"
#include "src/model/partial-setting.h"
#include "src/model/when-internal.h"
#include "src/model/where-internal.h"

enum {
	CONDITIONS_MAX = 100,
	SPANS_FEW = 32, /* on the stack */
	LEVELS_LISTED = 1000 /* of a choice: at most as many as it may have */
};

void
where_range_of(
    struct where_range *range, const struct param *p, const struct value *value)
{
	uint64_t levels = param_levels(p);

	*range = (struct where_range){ .high = levels > 0 ? (double)(levels - 1)
							  : 1 };
	if (value == NULL || value->kind == VALUE_NONE)
		return;
	range->low = range->high = levels > 0 ? (double)param_level_of(p, value)
					      : param_encode(p, value);
}

void
where_box(struct where_range *box, const struct space *space,
    const struct value *fixed)
{
	size_t i;

	for (i = 0; i < space->n; i++)
		where_range_of(&box[i], &space->params[i],
		    fixed != NULL ? &fixed[i] : NULL);
}

static void
bound_value(struct value *v, const struct param *p, double bound)
{
	if (param_levels(p) > 0)
		param_level_value(p, (uint64_t)bound, v);
	else
		param_decode(p, bound, v);
}

void
where_range_span(
    struct span *s, const struct param *p, const struct where_range *r)
{
	struct value low, high;
	uint64_t k;

	if (p->type == PARAM_CHOICE || p->type == PARAM_FIXED) {
		for (k = (uint64_t)r->low;
		     k <= (uint64_t)r->high && k < LEVELS_LISTED; k++)
			span_add(s, &p->values[k]);
		return;
	}
	bound_value(&low, p, r->low);
	bound_value(&high, p, r->high);
	span_add_numbers(
	    s, fmin(low.real, high.real), fmax(low.real, high.real));
}

struct box_part {
	const struct space *space;
	const struct where_range *box;
	const struct span *spans;
};

/* Whether a value of the box may fulfil a test, or may not. */
static unsigned
test_truth(const struct when_test *t, const void *arg)
{
	const struct box_part *part = arg;
	const struct where_range *r = &part->box[t->param];
	unsigned kinds = part->spans[t->param].kinds;
	unsigned truth = kinds & SPAN_NONE;
	double n = 0, level;
	size_t k;

	if (kinds == SPAN_NONE)
		return truth;
	for (k = 0; k < t->n; k++) {
		level = (double)param_level_of(
		    &part->space->params[t->param], &t->values[k]);
		n += level >= r->low && level <= r->high;
	}
	truth |= n > 0 ? SPAN_TRUE : 0;
	return n < r->high - r->low + 1 ? truth | SPAN_FALSE : truth;
}

void
where_span(struct span *spans, const struct space *space,
    const struct where_range *box, size_t i)
{
	struct box_part part = { .space = space, .box = box, .spans = spans };
	const struct param *p = &space->params[i];
	unsigned truth = SPAN_TRUE;

	spans[i] = (struct span){ 0 };
	if (p->when != NULL)
		truth = when_truth(p->when, test_truth, &part, spans);
	if ((truth & SPAN_TRUE) != 0)
		where_range_span(&spans[i], p, &box[i]);
	if (truth != SPAN_TRUE)
		spans[i].kinds |= SPAN_NONE;
}

void
where_spans(struct span *spans, const struct space *space,
    const struct where_range *box)
{
	size_t k;

	for (k = 0; k < space->n; k++)
		where_span(spans, space, box, (size_t)space->order[k]);
}

size_t
where_count(const struct space *space)
{
	return space->where != NULL ? space->where->n : 0;
}

const char *
where_text(const struct space *space, size_t i)
{
	return space->where->texts[i];
}

static const char *
spans_broken(const struct where *w, const struct span *spans)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		if (expression_test(w->list[i], spans) == SPAN_FALSE)
			return w->texts[i];
	return NULL;
}

void
where_setting_spans(
    struct span *spans, const struct space *space, const struct value *values)
{
	size_t i;

	for (i = 0; i < space->n; i++) {
		spans[i] = (struct span){ 0 };
		span_add(&spans[i], &values[i]);
	}
}

const char *
where_broken(const struct space *space, const struct value *values)
{
	struct span few[SPANS_FEW], *spans = few;
	struct where_range *box;
	const char *broken;

	if (space->where == NULL)
		return NULL;
	if (space->n > SPANS_FEW)
		spans = xcalloc(space->n, sizeof *spans);
	if (space_is_full(space, values))
		where_setting_spans(spans, space, values);
	else {
		box = xcalloc(space->n, sizeof *box);
		where_box(box, space, values);
		where_spans(spans, space, box);
		free(box);
	}
	broken = spans_broken(space->where, spans);
	if (spans != few)
		free(spans);
	return broken;
}

bool
where_holds(const struct space *space, const double *u)
{
	struct value few[SPANS_FEW], *values = few;
	bool holds;

	if (space->where == NULL)
		return true;
	if (space->n > SPANS_FEW)
		values = xcalloc(space->n, sizeof *values);
	space_decode(space, u, values);
	holds = where_broken(space, values) == NULL;
	if (values != few)
		free(values);
	return holds;
}

double
where_share(const struct space *space, uint64_t seed, size_t n)
{
	double *u = xcalloc(space->n, sizeof *u);
	struct rng rng;
	size_t i, k, good = 0;

	rng_init(&rng, seed, 0);
	for (i = 0; i < n; i++) {
		for (k = 0; k < space->n; k++)
			u[k] = rng_uniform(&rng);
		good += where_holds(space, u);
	}
	free(u);
	return (double)good / (double)n;
}

static int
condition_read(struct where *w, const struct space *space,
    const struct span *all, const struct json *j, struct err *e)
{
	struct err why = ERR_INIT;
	const char *text;

	if (json_read_string(j, &text, e) != 0)
		return -1;
	if (expression_parse(&w->list[w->n], text, space, all, &why) != 0)
		return json_err(j, e, "%s", why.text);
	w->texts[w->n] = xstrdup(text);
	w->n++;
	if (expression_test(w->list[w->n - 1], all) == SPAN_FALSE)
		return json_err(j, e, "no setting satisfies this");
	return 0;
}

void
where_all(struct span *all, const struct space *space)
{
	struct where_range *box = xcalloc(space->n, sizeof *box);

	where_box(box, space, NULL);
	where_spans(all, space, box);
	free(box);
}

static int
conditions_read(struct space *space, const struct json *list, struct err *e)
{
	struct span *all = xcalloc(space->n, sizeof *all);
	const struct json *j;
	int rc = 0;

	where_all(all, space);
	for (j = json_first(list); j != NULL && rc == 0; j = json_next(j))
		rc = condition_read(space->where, space, all, j, e);
	free(all);
	return rc;
}

/* The first trial has the defaults. */
static int
defaults_check(
    const struct space *space, const struct json *list, struct err *e)
{
	struct value *def = xcalloc(space->n, sizeof *def);
	const char *broken = NULL;

	if (partial_setting_defaults(space, def))
		broken = where_broken(space, def);
	free(def);
	return broken == NULL
		   ? 0
		   : json_err(
			 list, e, "the defaults do not satisfy %.200s", broken);
}

/* Whether the space has a setting. */
static int
setting_exists(
    const struct space *space, const struct json *list, struct err *e)
{
	double *u = xcalloc(space->n, sizeof *u);
	enum where_found found = where_search(u, space, NULL, 0, 0);

	free(u);
	switch (found) {
	case WHERE_FOUND:
		break;
	case WHERE_EMPTY:
		return json_err(list, e, "no setting satisfies all of them");
	case WHERE_UNKNOWN:
		return json_err(list, e,
		    "no setting was found that satisfies all of them: an "
		    "equation between floats may have none");
	}
	return 0;
}

int
where_read(struct space *space, const struct json *list, struct err *e)
{
	size_t n;

	if (json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	n = json_count(list);
	if (n > CONDITIONS_MAX)
		return json_err(
		    list, e, "more than %d conditions", CONDITIONS_MAX);
	if (n == 0)
		return 0;
	space->where = xcalloc(1, sizeof *space->where);
	space->where->list = xcalloc(n, sizeof *space->where->list);
	space->where->texts = xcalloc(n, sizeof *space->where->texts);
	if (conditions_read(space, list, e) != 0)
		return -1;
	return setting_exists(space, list, e) != 0 ||
		       defaults_check(space, list, e) != 0
		   ? -1
		   : 0;
}

void
where_free(struct where *w)
{
	size_t i;

	if (w == NULL)
		return;
	for (i = 0; i < w->n; i++) {
		expression_free(w->list[i]);
		free(w->texts[i]);
	}
	free(w->list);
	free(w->texts);
	free(w);
}
