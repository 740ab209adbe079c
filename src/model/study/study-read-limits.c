/* The keys limits and enqueue of study.json. */

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/foreign-words.h"
#include "src/model/space.h"
#include "src/model/study/study-internal.h"
#include "src/model/study/study.h"
#include "src/model/where.h"

enum { ENQUEUE_MAX = 100000 };

static int
study_read_count(
    int64_t *out, const struct json *block, const char *key, struct err *e)
{
	const struct json *j = json_get(block, key);

	if (j == NULL)
		return 0;
	return json_read_integer(j, 1, STUDY_COUNT_MAX, out, e);
}

int
study_read_limits(
    struct study_limits *l, const struct json *block, struct err *e)
{
	static const char *const known[] = { "trials", "completed", "parallel",
		"wall_time", "cost", "gpu_hours", "failed_trials",
		"no_improvement", "drain", "convergence", NULL };
	const struct json *j;
	bool wanted = true;

	l->drain = true;
	if (foreign_words_only(block, FOREIGN_LIMITS, known, e) != 0 ||
	    study_read_count(&l->trials, block, "trials", e) != 0 ||
	    study_read_count(&l->completed, block, "completed", e) != 0 ||
	    study_read_count(&l->parallel, block, "parallel", e) != 0 ||
	    study_read_count(&l->failed_trials, block, "failed_trials", e) !=
		0 ||
	    study_read_count(&l->no_improvement, block, "no_improvement", e) !=
		0)
		return -1;
	j = json_get(block, "drain");
	if (j != NULL && json_read_bool(j, &l->drain, e) != 0)
		return -1;
	j = json_get(block, "convergence");
	if (j != NULL && json_type(j) != JSON_OBJECT &&
	    json_read_bool(j, &wanted, e) != 0)
		return json_err(j, e,
		    "expected true, false or an object, not %s",
		    json_type_name(json_type(j)));
	l->convergence = j != NULL && wanted;
	l->convergence_block =
	    j != NULL && json_type(j) == JSON_OBJECT ? j : NULL;
	l->convergence_where = j;
	j = json_get(block, "wall_time");
	if (j != NULL && study_read_duration(&l->wall_time_ms, j, e) != 0)
		return -1;
	j = json_get(block, "cost");
	if (j != NULL && json_read_number(j, 0, 1e12, &l->cost, e) != 0)
		return -1;
	if (j != NULL && l->cost <= 0)
		return json_err(j, e, "expected a number above 0");
	j = json_get(block, "gpu_hours");
	if (j != NULL && json_read_number(j, 0, 1e12, &l->gpu_hours, e) != 0)
		return -1;
	if (j != NULL && l->gpu_hours <= 0)
		return json_err(j, e, "expected a number above 0");
	if (l->trials == 0 && l->completed == 0 && l->wall_time_ms == 0 &&
	    l->cost == 0 && l->gpu_hours == 0)
		return json_err(block, e,
		    "the study would never end: expected one of trials, "
		    "completed, wall_time, cost or gpu_hours");
	return 0;
}

int
study_read_enqueue(struct study *s, const struct json *list, struct err *e)
{
	const struct json *j;
	struct value *values;
	const char *broken;

	if (json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(list) > ENQUEUE_MAX)
		return json_err(list, e, "more than %d settings", ENQUEUE_MAX);
	s->enqueue = xcalloc(json_count(list) + 1, sizeof *s->enqueue);
	for (j = json_first(list); j != NULL; j = json_next(j)) {
		values = xcalloc(s->space->n, sizeof *values);
		s->enqueue[s->n_enqueue++] = values;
		if (space_read_values(s->space, j, values, e) != 0)
			return -1;
		if (s->replicates.count > 0 &&
		    values[s->replicates.param].kind != VALUE_NONE)
			return json_err(j, e,
			    "%s is the parameter of replicates: a setting is "
			    "tried with all its values",
			    s->space->params[s->replicates.param].name);
		broken = where_broken(s->space, values);
		if (broken != NULL)
			return json_err(j, e,
			    "the setting does not satisfy %.200s", broken);
	}
	return 0;
}

/* An optional text; "" counts as missing. */
