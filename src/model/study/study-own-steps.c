/*
 * Trials of different lengths: the steps of each, and where a step is on the
 * common axis, whose length is trial.max_steps.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/expression.h"
#include "src/model/space.h"
#include "src/model/study/study-internal.h"
#include "src/model/where.h"

/* A product of two of these fits an int64_t. */
#define OWN_STEPS_MAX 1000000000

static int
own_steps_expression(struct study *s, const struct json *j, struct err *e)
{
	struct span *all = xcalloc(s->space->n + 1, sizeof *all), most = { 0 };
	struct err why = ERR_INIT;
	int rc;

	where_all(all, s->space);
	rc = expression_parse_number(
	    &s->trial.own_steps, json_string(j), s->space, all, &why);
	if (rc == 0)
		most = expression_number(s->trial.own_steps, all);
	free(all);
	if (rc != 0)
		return json_err(j, e, "%s", why.text);
	if (most.kinds != SPAN_NUMBER)
		return json_err(j, e, "not a number for every setting");
	if (!(most.low > 0))
		return json_err(j, e,
		    "a trial may have %.15g steps: expected more than 0",
		    most.low);
	if (!(most.high <= OWN_STEPS_MAX))
		return json_err(j, e,
		    "a trial may have %.15g steps: expected at most %d",
		    most.high, OWN_STEPS_MAX);
	s->trial.max_steps = (int64_t)ceil(most.high);
	return 0;
}

static int
own_steps_metric(struct study *s, const struct json *block, struct err *e)
{
	static const char *const keys[] = { "metric", "most", NULL };
	const struct json *metric, *most;
	const char *name;

	if (json_only(block, keys, e) != 0 ||
	    (metric = json_need(block, "metric", e)) == NULL ||
	    (most = json_need(block, "most", e)) == NULL ||
	    json_read_string(metric, &name, e) != 0 ||
	    json_read_integer(most, 1, OWN_STEPS_MAX, &s->trial.max_steps, e) !=
		0)
		return -1;
	if (*name == '\0')
		return json_err(metric, e, "expected the name of a metric");
	if (s->metric != NULL && strcmp(name, s->metric) == 0)
		return json_err(metric, e,
		    "the objective is another metric than the number of steps");
	s->trial.own_metric = xstrdup(name);
	return 0;
}

int
study_read_max_steps(struct study *s, const struct json *j, struct err *e)
{
	if (json_type(j) == JSON_STRING)
		return own_steps_expression(s, j, e);
	if (json_type(j) == JSON_OBJECT)
		return own_steps_metric(s, j, e);
	return json_read_integer(
	    j, 1, STUDY_COUNT_MAX * 1000, &s->trial.max_steps, e);
}

bool
study_has_own_steps(const struct study_trial *t)
{
	return t->own_steps != NULL || t->own_metric != NULL;
}

int64_t
study_own_steps(const struct study *s, const struct value *values)
{
	struct span *params, own;
	size_t i;

	if (s->trial.own_steps == NULL)
		return 0;
	params = xcalloc(s->space->n + 1, sizeof *params);
	for (i = 0; i < s->space->n; i++)
		span_add(&params[i], &values[i]);
	own = expression_number(s->trial.own_steps, params);
	free(params);
	if (own.kinds != SPAN_NUMBER)
		return s->trial.max_steps;
	return study_own_steps_of(own.low);
}

int64_t
study_own_steps_of(double steps)
{
	if (isnan(steps) || steps <= 0)
		return 0;
	if (steps >= OWN_STEPS_MAX)
		return OWN_STEPS_MAX;
	/* 0.1 * 30 epochs are 3. */
	steps = ceil(steps * (1 - 1e-12));
	return steps < 1 ? 1 : (int64_t)steps;
}

int64_t
study_axis_step(int64_t most, int64_t own, int64_t step)
{
	if (own <= 0 || own == most || step < 0)
		return step;
	if (step >= own)
		return most + (step - own);
	return step * most / own;
}
