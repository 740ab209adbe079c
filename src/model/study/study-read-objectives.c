/* The objectives of a study and its constraints on other metrics. */

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/foreign-words.h"
#include "src/model/study/study-internal.h"

enum {
	CONSTRAINTS_MAX = 32,
	METRIC_NAME_MAX = 64 /* bytes, as in a report line */
};

/* Names that a report line can contain. */
static bool
metric_name_good(const char *name)
{
	size_t i;

	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	for (i = 0; name[i] != '\0'; i++)
		if (!isalnum((unsigned char)name[i]) &&
		    strchr("_-./:@", name[i]) == NULL)
			return false;
	return i <= METRIC_NAME_MAX;
}

/*
 * The name that a metric has here which is called otherwise in a file: each byte
 * that a name cannot have is '_' (metric_line_name_make).  NULL: there is none, as
 * for a name without a letter or a digit.
 */
static char *
metric_name_here(const char *name)
{
	struct buf b = { 0 };
	const char *p = name;
	bool speaks = false;

	if (*p == '\0' || strlen(p) >= METRIC_NAME_MAX)
		return NULL;
	if (!isalpha((unsigned char)*p) && *p != '_') {
		buf_putc(&b, '_');
		p += !isdigit((unsigned char)*p);
	}
	for (; *p != '\0'; p++) {
		speaks = speaks || isalnum((unsigned char)*p);
		buf_putc(&b,
		    isalnum((unsigned char)*p) || strchr("_-./:@", *p) != NULL
			? *p
			: '_');
	}
	if (speaks)
		return buf_take(&b);
	buf_free(&b);
	return NULL;
}

static int
metric_name_err(const struct json *j, const char *name, struct err *e)
{
	char *here = metric_name_here(name);

	json_err(j, e,
	    "the name of a metric is a letter or _, then up to %d letters, "
	    "digits, _ - . / : and @%s%s%s",
	    METRIC_NAME_MAX - 1,
	    here != NULL ? "; what files and libraries call so is \"" : "",
	    here != NULL ? here : "", here != NULL ? "\" here" : "");
	free(here);
	return -1;
}

int
study_read_metric_name(char **out, const struct json *j, struct err *e)
{
	const char *name;

	if (json_read_string(j, &name, e) != 0)
		return -1;
	if (!metric_name_good(name))
		return metric_name_err(j, name, e);
	if (strcmp(name, "step") == 0)
		return json_err(j, e,
		    "a metric may not be named step: trial.step_regex is the "
		    "pattern of the step");
	*out = xstrdup(name);
	return 0;
}

/* Two keys that every objective has. */
static int
read_metric_goal(
    struct study_objective *o, const struct json *block, struct err *e)
{
	static const char *const goals[] = { "minimize", "maximize", NULL };
	const struct json *j = json_need(block, "metric", e);
	size_t i;

	if (j == NULL || study_read_metric_name(&o->metric, j, e) != 0)
		return -1;
	o->where = j;
	j = json_need(block, "goal", e);
	if (j == NULL || foreign_words_read(j, FOREIGN_GOAL, goals, &i, e) != 0)
		return -1;
	o->maximize = i == 1;
	return 0;
}

/* "objective": "loss" is an object here. */
static int
objective_form(const struct json *j, struct err *e)
{
	if (json_type(j) != JSON_STRING)
		return 0;
	return json_err(j, e,
	    "expected an object: { \"metric\": \"loss\", \"goal\": "
	    "\"minimize\" }");
}

static int
read_objective(struct study *s, const struct json *block, struct err *e)
{
	static const char *const known[] = { "metric", "goal", "value",
		"target", NULL };
	static const char *const counts[] = { "best", "last", NULL };
	const struct json *j;
	size_t i;

	s->objectives = xcalloc(1, sizeof *s->objectives);
	s->n_objectives = 1;
	if (objective_form(block, e) != 0 ||
	    foreign_words_only(block, FOREIGN_OBJECTIVE, known, e) != 0 ||
	    read_metric_goal(s->objectives, block, e) != 0)
		return -1;
	j = json_get(block, "value");
	if (j != NULL) {
		if (json_read_word(j, counts, &i, e) != 0)
			return -1;
		s->value_last = i == 1;
	}
	j = json_get(block, "target");
	if (j == NULL)
		return 0;
	s->has_target = true;
	return json_read_number(j, -DBL_MAX, DBL_MAX, &s->target, e);
}

/* Keys that are valid with a single objective only. */
static int
refuse_single(const struct json *block, struct err *e)
{
	static const char *const single[] = { "value", "target", NULL };
	const struct json *j;
	size_t i;

	for (i = 0; single[i] != NULL; i++) {
		j = json_type(block) == JSON_OBJECT ? json_get(block, single[i])
						    : NULL;
		if (j != NULL)
			return json_err_key(j, e,
			    "this key goes with a single objective only: of "
			    "several the last reports count");
	}
	return 0;
}

static int
read_objectives(struct study *s, const struct json *list, struct err *e)
{
	static const char *const known[] = { "metric", "goal", NULL };
	struct study_objective *o;
	const struct json *j;
	size_t i;

	if (json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(list) < 2 || json_count(list) > STUDY_OBJECTIVES_MAX)
		return json_err(list, e,
		    "expected 2 to %d objectives; a single one is written as "
		    "\"objective\"",
		    STUDY_OBJECTIVES_MAX);
	s->objectives = xcalloc(json_count(list), sizeof *s->objectives);
	for (j = json_first(list); j != NULL; j = json_next(j)) {
		o = &s->objectives[s->n_objectives++];
		if (refuse_single(j, e) != 0 || objective_form(j, e) != 0 ||
		    foreign_words_only(j, FOREIGN_OBJECTIVE, known, e) != 0 ||
		    read_metric_goal(o, j, e) != 0)
			return -1;
		for (i = 0; i + 1 < s->n_objectives; i++)
			if (strcmp(s->objectives[i].metric, o->metric) == 0)
				return json_err(
				    o->where, e, "this metric is given twice");
	}
	s->value_last = true;
	return 0;
}

static int
read_bounds(struct study_constraint *c, const struct json *block, struct err *e)
{
	const struct json *min = json_get(block, "min");
	const struct json *max = json_get(block, "max");

	c->min = -INFINITY;
	c->max = INFINITY;
	if (min == NULL && max == NULL)
		return json_err(block, e,
		    "a constraint has a bound: expected min, max or both");
	if (min != NULL &&
	    json_read_number(min, -DBL_MAX, DBL_MAX, &c->min, e) != 0)
		return -1;
	if (max == NULL)
		return 0;
	if (json_read_number(max, -DBL_MAX, DBL_MAX, &c->max, e) != 0)
		return -1;
	if (c->max < c->min)
		return json_err(max, e, "max is less than min");
	return 0;
}

static int
read_constraints(struct study *s, const struct json *list, struct err *e)
{
	static const char *const known[] = { "metric", "min", "max", NULL };
	struct study_constraint *c;
	const struct json *j;
	size_t i;

	if (json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(list) < 1 || json_count(list) > CONSTRAINTS_MAX)
		return json_err(
		    list, e, "expected 1 to %d constraints", CONSTRAINTS_MAX);
	s->constraints = xcalloc(json_count(list), sizeof *s->constraints);
	for (j = json_first(list); j != NULL; j = json_next(j)) {
		c = &s->constraints[s->n_constraints++];
		if (json_only(j, known, e) != 0)
			return -1;
		c->where = json_need(j, "metric", e);
		if (c->where == NULL ||
		    study_read_metric_name(&c->metric, c->where, e) != 0 ||
		    read_bounds(c, j, e) != 0)
			return -1;
		for (i = 0; i + 1 < s->n_constraints; i++)
			if (strcmp(s->constraints[i].metric, c->metric) == 0)
				return json_err(c->where, e,
				    "this metric is given twice: one "
				    "constraint can have min and max");
	}
	return 0;
}

int
study_read_objectives(struct study *s, const struct json *root, struct err *e)
{
	const struct json *several = json_get(root, "objectives");
	const struct json *one = json_get(root, "objective");
	const struct json *j = json_get(root, "constraints");
	int rc;

	if (several != NULL && one != NULL)
		return json_err_key(several, e,
		    "expected either \"objective\" or \"objectives\"");
	if (several != NULL)
		rc = read_objectives(s, several, e);
	else if ((one = json_need(root, "objective", e)) != NULL)
		rc = read_objective(s, one, e);
	else
		return -1;
	if (rc == 0 && j != NULL)
		rc = read_constraints(s, j, e);
	s->metric = s->n_objectives > 0 ? s->objectives[0].metric : NULL;
	s->maximize = s->n_objectives > 0 && s->objectives[0].maximize;
	return rc;
}

void
study_objectives_clear(struct study *s)
{
	size_t i;

	for (i = 0; i < s->n_objectives; i++)
		free(s->objectives[i].metric);
	for (i = 0; i < s->n_constraints; i++)
		free(s->constraints[i].metric);
	free(s->objectives);
	free(s->constraints);
	s->objectives = NULL;
	s->constraints = NULL;
	s->n_objectives = s->n_constraints = 0;
	s->metric = NULL;
}

double
study_violation(const struct study_constraint *c, double value)
{
	if (!isfinite(value))
		return NAN;
	return fmax(value - c->max, c->min - value);
}
