/*
 * Writes a study as text: whole for the store, and the part that may not
 * change.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/goal.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/when.h"

static void
study_write_put_values(struct json_writer *w, const char *key,
    const struct value *values, size_t n)
{
	size_t i;

	json_writer_array(w, key);
	for (i = 0; i < n; i++)
		param_value_put_json(json_writer_value(w, NULL), &values[i]);
	json_writer_end(w);
}

/* The tests of one alternative by name. */
static void
put_when_all(struct json_writer *w, const char *key, const struct space *s,
    const struct when_all *all)
{
	const struct when_test *t, *next;
	const char *last = NULL, *name;
	size_t i, k;

	json_writer_object(w, key);
	for (i = 0; i < all->n; i++) {
		next = NULL;
		for (k = 0; k < all->n; k++) {
			t = &all->tests[k];
			name = s->params[t->param].name;
			if ((last == NULL || strcmp(name, last) > 0) &&
			    (next == NULL ||
				strcmp(name, s->params[next->param].name) < 0))
				next = t;
		}
		last = s->params[next->param].name;
		study_write_put_values(w, last, next->values, next->n);
	}
	json_writer_end(w);
}

/* The condition of a parameter, or nothing. */
static void
put_when(struct json_writer *w, const struct space *s, const struct when *when)
{
	size_t i;

	if (when == NULL)
		return;
	if (when->expression != NULL)
		json_writer_text(w, "when", when->text);
	else if (when->n == 1)
		put_when_all(w, "when", s, &when->any[0]);
	else {
		json_writer_array(w, "when");
		for (i = 0; i < when->n; i++)
			put_when_all(w, NULL, s, &when->any[i]);
		json_writer_end(w);
	}
}

/* All fields in fixed order, missing ones with their defaults. */
static void
study_write_put_param(
    struct json_writer *w, const struct space *s, const struct param *p)
{
	size_t i;

	json_writer_object(w, p->name);
	json_writer_integer(w, "type", (int)p->type);
	if (p->type == PARAM_FLOAT || p->type == PARAM_INT) {
		json_writer_integer(w, "scale", (int)p->scale);
		json_writer_number(w, "min", p->min);
		json_writer_number(w, "max", p->max);
		json_writer_number(w, "step", p->step);
		if (p->sd > 0) {
			json_writer_number(w, "mean", p->mean);
			json_writer_number(w, "sd", p->sd);
		}
	} else {
		json_writer_integer(w, "ordered", p->ordered);
		study_write_put_values(w, "values", p->values, p->n_values);
		if (p->weights != NULL) {
			json_writer_array(w, "weights");
			for (i = 0; i < p->n_values; i++)
				json_writer_number(w, NULL, p->weights[i]);
			json_writer_end(w);
		}
	}
	if (p->has_default)
		param_value_put_json(json_writer_value(w, "default"), &p->def);
	put_when(w, s, p->when);
	json_writer_end(w);
}

static int
param_compare(const void *a, const void *b)
{
	const struct param *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static void
put_params(struct json_writer *w, const struct space *s)
{
	const struct param **sorted = xcalloc(s->n, sizeof *sorted);
	size_t i;

	for (i = 0; i < s->n; i++)
		sorted[i] = &s->params[i];
	qsort(sorted, s->n, sizeof *sorted, param_compare);
	json_writer_object(w, "parameters");
	for (i = 0; i < s->n; i++)
		study_write_put_param(w, s, sorted[i]);
	json_writer_end(w);
	free(sorted);
}

static void
put_objective(struct json_writer *w, const struct study *s)
{
	json_writer_object(w, "objective");
	json_writer_text(w, "metric", s->metric);
	json_writer_text(w, "goal", goal_name(s->maximize));
	json_writer_text(w, "value", s->value_last ? "last" : "best");
	json_writer_number(w, "target", s->has_target ? s->target : NAN);
	json_writer_end(w);
}

/* In the order of study.json, which is the order of recorded values. */
static void
put_objectives(struct json_writer *w, const struct study *s)
{
	size_t i;

	json_writer_array(w, "objectives");
	for (i = 0; i < s->n_objectives; i++) {
		json_writer_array(w, NULL);
		json_writer_text(w, NULL, s->objectives[i].metric);
		json_writer_text(w, NULL, goal_name(s->objectives[i].maximize));
		json_writer_end(w);
	}
	json_writer_end(w);
}

static void
put_constraints(struct json_writer *w, const struct study *s)
{
	size_t i;

	json_writer_array(w, "constraints");
	for (i = 0; i < s->n_constraints; i++) {
		json_writer_array(w, NULL);
		json_writer_text(w, NULL, s->constraints[i].metric);
		json_writer_number(w, NULL, s->constraints[i].min);
		json_writer_number(w, NULL, s->constraints[i].max);
		json_writer_end(w);
	}
	json_writer_end(w);
}

static void
put_replicates(struct json_writer *w, const struct study *s)
{
	const struct study_replicates *r = &s->replicates;
	const struct param *p = &s->space->params[r->param];

	/* No object: count and values may say the same. */
	json_writer_array(w, s->confirm.own ? "confirm" : "replicates");
	json_writer_text(w, NULL, p->name);
	/* Without those behind them, of confirm, which may change. */
	study_write_put_values(w, NULL, p->values, r->count);
	json_writer_number(w, NULL, r->quantile);
	json_writer_end(w);
}

/* Trials of another commit would be no trials of the same program. */
static void
put_source(struct json_writer *w, const struct study *s)
{
	json_writer_object(w, "trial");
	json_writer_object(w, "source");
	json_writer_text(w, "commit", s->trial.source.commit);
	json_writer_end(w);
	json_writer_end(w);
}

void
study_put_fixed(struct buf *b, const struct study *s)
{
	struct json_writer w = { .out = b };

	json_writer_object(&w, NULL);
	json_writer_text(&w, "study", s->name);
	if (s->n_objectives > 1)
		put_objectives(&w, s);
	else
		put_objective(&w, s);
	if (s->n_constraints > 0)
		put_constraints(&w, s);
	put_params(&w, s->space);
	if (s->replicates.count > 0)
		put_replicates(&w, s);
	if (s->trial.source.git != NULL)
		put_source(&w, s);
	json_writer_text(&w, "strategy", s->strategy.name);
	if (s->has_seed)
		buf_printf(json_writer_value(&w, "seed"), "%" PRIu64, s->seed);
	json_writer_end(&w);
}

void
study_put_json(struct buf *b, const struct study *s)
{
	json_write(b, json_root(s->doc));
}
