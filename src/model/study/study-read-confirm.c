/* The key confirm of study.json. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/evidence/paired-evidence.h"
#include "src/model/replicate-stats.h"
#include "src/model/space.h"
#include "src/model/study/study-internal.h"
#include "src/model/study/study.h"

enum { CONFIRM_PAIRS = 10 };
#define CONFIRM_ALPHA 0.05
#define CONFIRM_ALPHA_MOST 0.5

static bool
confirm_has_defaults(const struct space *space)
{
	size_t i;

	for (i = 0; i < space->n; i++)
		if (space->params[i].has_default)
			return true;
	return false;
}

static int
confirm_read_baseline(struct study *s, const struct json *block, struct err *e)
{
	static const char *const words[] = { "default", NULL };
	const struct json *j = json_get(block, "baseline");
	size_t i;

	if (j != NULL && json_type(j) == JSON_NUMBER)
		return json_read_integer(
		    j, 1, INT64_MAX, &s->confirm.baseline, e);
	if (j != NULL && json_type(j) != JSON_STRING)
		return json_err(
		    j, e, "expected \"default\" or the number of a trial");
	if (j != NULL && json_read_word(j, words, &i, e) != 0)
		return -1;
	if (!confirm_has_defaults(s->space))
		return json_err_key(j != NULL ? j : block, e,
		    "no parameter has a \"default\": add them, or give the "
		    "number of a trial as \"baseline\"");
	return 0;
}

static int
confirm_read_metric(struct study *s, const struct json *block, struct err *e)
{
	static const char *const goals[] = { "minimize", "maximize", NULL };
	struct study_confirm *c = &s->confirm;
	const struct json *j = json_get(block, "report");
	const struct json *goal = json_get(block, "goal");
	size_t i = s->maximize;

	if (j == NULL && goal != NULL)
		return json_err_key(goal, e,
		    "without \"report\" the objective is compared, which has "
		    "its own goal");
	if (j == NULL)
		c->metric = xstrdup(s->metric);
	else if (study_read_metric_name(&c->metric, j, e) != 0)
		return -1;
	if (goal != NULL && json_read_word(goal, goals, &i, e) != 0)
		return -1;
	c->maximize = i == 1;
	return 0;
}

/* The parameter that differs among the runs: that of replicates, or its own. */
static int
confirm_read_parameter(struct study *s, const struct json *block, struct err *e)
{
	const struct json *name = json_get(block, "parameter");
	struct study_replicates *r = &s->replicates;

	s->confirm.own = r->count == 0;
	if (s->confirm.own && name == NULL) {
		(void)json_need(block, "parameter", e);
		return -1;
	}
	if (!s->confirm.own) {
		if (name != NULL)
			return json_err_key(
			    name, e, "it is that of replicates: leave it out");
		return space_more_replicates(
		    s->space, r->where, (int64_t)s->confirm.pairs, e);
	}
	if (space_add_replicates(
		s->space, name, NULL, (int64_t)s->confirm.pairs + 1, e) != 0)
		return -1;
	*r = (struct study_replicates){ .count = 1,
		.param = s->space->n - 1,
		.quantile = NAN,
		.where = block };
	return 0;
}

int
study_read_confirm(struct study *s, const struct json *block, struct err *e)
{
	static const char *const known[] = { "parameter", "baseline",
		"replicates", "alpha", "report", "goal", NULL };
	struct study_confirm *c = &s->confirm;
	const struct json *alpha, *pairs;
	int64_t n = CONFIRM_PAIRS;
	size_t least;

	c->alpha = CONFIRM_ALPHA;
	if (json_want(block, JSON_OBJECT, e) != 0 ||
	    json_only(block, known, e) != 0)
		return -1;
	if (s->n_objectives > 1)
		return json_err_key(block, e,
		    "cannot be combined with several objectives, which have "
		    "no best setting");
	alpha = json_get(block, "alpha");
	pairs = json_get(block, "replicates");
	if ((alpha != NULL && json_read_number(alpha, 1e-6, CONFIRM_ALPHA_MOST,
				  &c->alpha, e) != 0) ||
	    (pairs != NULL &&
		json_read_integer(pairs, 1, REPLICATES_MAX, &n, e) != 0))
		return -1;
	least = paired_evidence_pairs_least(c->alpha);
	if ((size_t)n < least)
		return json_err_key(pairs != NULL ? pairs : alpha, e,
		    "nothing could ever be confirmed: at alpha %g it takes "
		    "%zu replicates at least",
		    c->alpha, least);
	c->pairs = (size_t)n;
	if (confirm_read_baseline(s, block, e) != 0 ||
	    confirm_read_metric(s, block, e) != 0)
		return -1;
	return confirm_read_parameter(s, block, e);
}

void
study_confirm_clear(struct study_confirm *c)
{
	free(c->metric);
}
