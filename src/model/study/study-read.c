/*
 * The smaller parts of study.json: names of metrics, limits, enqueue,
 * warm_start.
 */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "src/model/study/study-internal.h"

enum {
	METRIC_NAME_MAX = 64, /* bytes, as in a report line */
	ENQUEUE_MAX = 100000,
	WARM_MAX = 1000
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

int
study_read_metric_name(char **out, const struct json *j, struct err *e)
{
	const char *name;

	if (json_read_string(j, &name, e) != 0)
		return -1;
	if (!metric_name_good(name))
		return json_err(j, e,
		    "the name of a metric is a letter or _, then up to %d "
		    "letters, digits, _ - . / : and @",
		    METRIC_NAME_MAX - 1);
	if (strcmp(name, "step") == 0)
		return json_err(j, e, "a metric may not be named step");
	*out = xstrdup(name);
	return 0;
}

int
study_read_duration(int64_t *ms, const struct json *j, struct err *e)
{
	if (duration_read(ms, j, e) != 0)
		return -1;
	if (*ms == 0)
		return json_err(j, e, "expected a duration above 0");
	return 0;
}

static int
read_count(
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
	static const char *const known[] = { "trials", "parallel", "wall_time",
		"cost", "failed_trials", "no_improvement", "convergence",
		NULL };
	const struct json *j;
	bool wanted = true;

	if (json_only(block, known, e) != 0 ||
	    read_count(&l->trials, block, "trials", e) != 0 ||
	    read_count(&l->parallel, block, "parallel", e) != 0 ||
	    read_count(&l->failed_trials, block, "failed_trials", e) != 0 ||
	    read_count(&l->no_improvement, block, "no_improvement", e) != 0)
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
	if (l->trials == 0 && l->wall_time_ms == 0 && l->cost == 0)
		return json_err(block, e,
		    "the study would never end: expected one of trials, "
		    "wall_time or cost");
	return 0;
}

int
study_read_enqueue(struct study *s, const struct json *list, struct err *e)
{
	const struct json *j;
	struct value *values;

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
	}
	return 0;
}

/* An optional text; "" counts as missing. */
static int
read_text(char **out, const struct json *block, const char *key, struct err *e)
{
	const struct json *j = json_get(block, key);
	const char *text;

	if (j == NULL)
		return 0;
	if (json_read_string(j, &text, e) != 0)
		return -1;
	if (*text == '\0')
		return json_err(j, e, "expected a text that is not empty");
	*out = xstrdup(text);
	return 0;
}

/* { "tuning_job": …, "region": …, "profile": …, "metric": … } */
static int
read_tuning_job(struct study_warm *w, const struct json *j, struct err *e)
{
	static const char *const known[] = { "tuning_job", "region", "profile",
		"metric", NULL };

	if (json_want(j, JSON_OBJECT, e) != 0 || json_only(j, known, e) != 0 ||
	    json_need(j, "tuning_job", e) == NULL ||
	    read_text(&w->tuning_job, j, "tuning_job", e) != 0 ||
	    read_text(&w->region, j, "region", e) != 0 ||
	    read_text(&w->profile, j, "profile", e) != 0)
		return -1;
	return read_text(&w->metric, j, "metric", e);
}

static bool
warm_same(const struct study_warm *a, const struct study_warm *b)
{
	const char *x = a->region != NULL ? a->region : "";
	const char *y = b->region != NULL ? b->region : "";

	if (a->path != NULL || b->path != NULL)
		return a->path != NULL && b->path != NULL &&
		       strcmp(a->path, b->path) == 0;
	return strcmp(a->tuning_job, b->tuning_job) == 0 && strcmp(x, y) == 0;
}

static int
read_warm(struct study_warm *w, const struct study *s, const struct json *j,
    struct err *e)
{
	const char *name;

	w->where = j;
	if (json_type(j) == JSON_OBJECT)
		return read_tuning_job(w, j, e);
	if (json_type(j) != JSON_STRING)
		return json_err(j, e,
		    "expected the name of a database, or an object with "
		    "tuning_job, not %s",
		    json_type_name(json_type(j)));
	name = json_string(j);
	if (*name == '\0')
		return json_err(j, e, "expected the name of a database");
	w->path =
	    *name == '/' ? xstrdup(name) : xasprintf("%s/%s", s->dir, name);
	return 0;
}

int
study_read_warm_start(struct study *s, const struct json *list, struct err *e)
{
	const struct json *j;
	struct study_warm *w;
	size_t i;

	if (json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(list) > WARM_MAX)
		return json_err(list, e, "more than %d databases", WARM_MAX);
	s->warm_start = xcalloc(json_count(list) + 1, sizeof *s->warm_start);
	for (j = json_first(list); j != NULL; j = json_next(j)) {
		w = &s->warm_start[s->n_warm_start++];
		if (read_warm(w, s, j, e) != 0)
			return -1;
		for (i = 0; i + 1 < s->n_warm_start; i++)
			if (warm_same(&s->warm_start[i], w))
				return json_err(j, e, "this %s is given twice",
				    w->path != NULL ? "database"
						    : "tuning job");
	}
	return 0;
}

void
study_warm_clear(struct study *s)
{
	struct study_warm *w;

	while (s->n_warm_start > 0) {
		w = &s->warm_start[--s->n_warm_start];
		free(w->path);
		free(w->tuning_job);
		free(w->region);
		free(w->profile);
		free(w->metric);
	}
	free(s->warm_start);
}
