/* The key warm_start: studies whose trials are known from the start. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/study/study-internal.h"
#include "src/model/study/study.h"

enum { WARM_MAX = 1000 };

/* { "tuning_job": …, "region": …, "profile": …, "metric": … } */
static int
warm_read_tuning_job(struct study_warm *w, const struct json *j, struct err *e)
{
	static const char *const known[] = { "tuning_job", "region", "profile",
		"metric", NULL };

	if (json_want(j, JSON_OBJECT, e) != 0 || json_only(j, known, e) != 0 ||
	    json_need(j, "tuning_job", e) == NULL ||
	    study_read_text(&w->tuning_job, j, "tuning_job", e) != 0 ||
	    study_read_text(&w->region, j, "region", e) != 0 ||
	    study_read_text(&w->profile, j, "profile", e) != 0)
		return -1;
	return study_read_text(&w->metric, j, "metric", e);
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
warm_read(struct study_warm *w, const struct study *s, const struct json *j,
    struct err *e)
{
	const char *name;

	w->where = j;
	if (json_type(j) == JSON_OBJECT)
		return warm_read_tuning_job(w, j, e);
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
		if (warm_read(w, s, j, e) != 0)
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
	s->warm_start = NULL;
}
