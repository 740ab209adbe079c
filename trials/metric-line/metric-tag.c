/*
 * Metrics that have another name where they are written: "tag" and "name" of
 * trial.metrics.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/metric-line/metric-internal.h"
#include "trials/metric-line/metric-line.h"

struct metric_tags {
	struct metric_json_names names;
	char *step;
	struct study_tag *list;
	size_t n;
};

static bool
metric_tag_is(const char *tag, const char *text, size_t len, bool in_objects)
{
	size_t i;

	if (strlen(tag) != len)
		return false;
	for (i = 0; i < len; i++)
		if (tag[i] != text[i] &&
		    !(in_objects && tag[i] == '.' && text[i] == '/'))
			return false;
	return true;
}

const char *
metric_tag_name(const struct study_tag *tags, size_t n, const char *text,
    size_t len, bool in_objects)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (metric_tag_is(tags[i].tag, text, len, false))
			return tags[i].name;
	for (i = 0; in_objects && i < n; i++)
		if (metric_tag_is(tags[i].tag, text, len, true))
			return tags[i].name;
	return NULL;
}

static const char *
metric_tag_member(void *arg, const char *path, size_t len,
    char room[METRIC_LINE_NAME_MAX + 1])
{
	const struct metric_tags *t = arg;
	const char *name = metric_tag_name(t->list, t->n, path, len, true);

	if (name == NULL && metric_line_name_make(room, path, len))
		name = room;
	return name;
}

struct metric_tags *
metric_tags_new(const struct study_trial *trial)
{
	struct metric_tags *t = xcalloc(1, sizeof *t);
	size_t i;

	if (trial->lines_step != NULL)
		t->step = xstrdup(trial->lines_step);
	t->names.step = t->step;
	t->list = xcalloc(trial->n_tags + 1, sizeof *t->list);
	t->n = trial->n_tags;
	for (i = 0; i < t->n; i++)
		t->list[i] =
		    (struct study_tag){ .tag = xstrdup(trial->tags[i].tag),
			    .name = xstrdup(trial->tags[i].name) };
	if (t->n > 0) {
		t->names.name = metric_tag_member;
		t->names.arg = t;
	}
	return t;
}

void
metric_tags_free(struct metric_tags *t)
{
	size_t i;

	if (t == NULL)
		return;
	for (i = 0; i < t->n; i++) {
		free(t->list[i].tag);
		free(t->list[i].name);
	}
	free(t->list);
	free(t->step);
	free(t);
}

const struct metric_json_names *
metric_tags_names(const struct metric_tags *t)
{
	return &t->names;
}
