/*
 * Writes a study as text: whole for the store, and the part that may not
 * change.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/model/study/study.h"

static void
put_values(struct buf *b, const struct value *values, size_t n)
{
	size_t i;

	buf_putc(b, '[');
	for (i = 0; i < n; i++) {
		if (i > 0)
			buf_putc(b, ',');
		param_value_put_json(b, &values[i]);
	}
	buf_putc(b, ']');
}

static void
put_range(struct buf *b, const struct param *p)
{
	buf_printf(b, ",\"scale\":%d,\"min\":", (int)p->scale);
	json_put_number(b, p->min);
	buf_puts(b, ",\"max\":");
	json_put_number(b, p->max);
	buf_puts(b, ",\"step\":");
	json_put_number(b, p->step);
}

/* All fields in fixed order, missing ones with their defaults. */
static void
put_param(struct buf *b, const struct space *s, const struct param *p)
{
	json_put_string(b, p->name);
	buf_printf(b, ":{\"type\":%d", (int)p->type);
	if (p->type == PARAM_FLOAT || p->type == PARAM_INT)
		put_range(b, p);
	else {
		buf_printf(b, ",\"ordered\":%d,\"values\":", p->ordered);
		put_values(b, p->values, p->n_values);
	}
	if (p->has_default) {
		buf_puts(b, ",\"default\":");
		param_value_put_json(b, &p->def);
	}
	if (p->parent >= 0) {
		buf_puts(b, ",\"when\":{");
		json_put_string(b, s->params[p->parent].name);
		buf_putc(b, ':');
		put_values(b, p->when, p->n_when);
		buf_putc(b, '}');
	}
	buf_putc(b, '}');
}

static int
param_compare(const void *a, const void *b)
{
	const struct param *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static void
put_params(struct buf *b, const struct space *s)
{
	const struct param **sorted = xcalloc(s->n, sizeof *sorted);
	size_t i;

	for (i = 0; i < s->n; i++)
		sorted[i] = &s->params[i];
	qsort(sorted, s->n, sizeof *sorted, param_compare);
	for (i = 0; i < s->n; i++) {
		if (i > 0)
			buf_putc(b, ',');
		put_param(b, s, sorted[i]);
	}
	free(sorted);
}

static void
put_objective(struct buf *b, const struct study *s)
{
	buf_puts(b, ",\"objective\":{\"metric\":");
	json_put_string(b, s->metric);
	buf_printf(b, ",\"goal\":\"%s\",\"value\":\"%s\",\"target\":",
	    s->maximize ? "maximize" : "minimize",
	    s->value_last ? "last" : "best");
	if (s->has_target)
		json_put_number(b, s->target);
	else
		buf_puts(b, "null");
	buf_putc(b, '}');
}

/* In the order of study.json, which is the order of recorded values. */
static void
put_objectives(struct buf *b, const struct study *s)
{
	size_t i;

	buf_puts(b, ",\"objectives\":[");
	for (i = 0; i < s->n_objectives; i++) {
		buf_puts(b, i > 0 ? ",[" : "[");
		json_put_string(b, s->objectives[i].metric);
		buf_puts(b, s->objectives[i].maximize ? ",\"maximize\"]"
						      : ",\"minimize\"]");
	}
	buf_putc(b, ']');
}

static void
put_constraints(struct buf *b, const struct study *s)
{
	size_t i;

	buf_puts(b, ",\"constraints\":[");
	for (i = 0; i < s->n_constraints; i++) {
		buf_puts(b, i > 0 ? ",[" : "[");
		json_put_string(b, s->constraints[i].metric);
		buf_putc(b, ',');
		json_put_number(b, s->constraints[i].min);
		buf_putc(b, ',');
		json_put_number(b, s->constraints[i].max);
		buf_putc(b, ']');
	}
	buf_putc(b, ']');
}

void
study_put_fixed(struct buf *b, const struct study *s)
{
	buf_puts(b, "{\"study\":");
	json_put_string(b, s->name);
	if (s->n_objectives > 1)
		put_objectives(b, s);
	else
		put_objective(b, s);
	if (s->n_constraints > 0)
		put_constraints(b, s);
	buf_puts(b, ",\"parameters\":{");
	put_params(b, s->space);
	buf_puts(b, "},\"strategy\":");
	json_put_string(b, s->strategy.name);
	if (s->has_seed)
		buf_printf(b, ",\"seed\":%" PRIu64, s->seed);
	buf_putc(b, '}');
}

void
study_put_json(struct buf *b, const struct study *s)
{
	json_write(b, json_root(s->doc));
}
