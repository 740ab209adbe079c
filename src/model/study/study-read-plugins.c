/* The keys strategy, stopping and backend: names and their blocks. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/foreign-words.h"
#include "src/model/study/study-internal.h"
#include "src/model/study/study.h"

enum {
	PLUGS_MAX = 64 /* rules or backends of one study */
};

static const char default_strategy[] = "auto";
static const char former_default_strategy[] = "tpe";
static const char default_rule[] = "begun";
static const char former_default_rule[] = "median";
static const char default_backend[] = "local";
static const char no_rule[] = "none";

static void
plugin_default(struct study_plugin *plug, const char *name)
{
	*plug = (struct study_plugin){ .name = xstrdup(name) };
}

/*
 * A bare name, or an object with the name under key.  Without the key the name
 * is fallback, unless that is NULL.
 */
static int
plugin_read(struct study_plugin *plug, const struct json *j, const char *key,
    const char *fallback, struct err *e)
{
	const char *name = fallback;

	*plug = (struct study_plugin){ .where = j };
	if (json_type(j) == JSON_OBJECT) {
		plug->block = j;
		if (json_get(j, key) == NULL && fallback == NULL)
			return foreign_words_need(j,
			    strcmp(key, "rule") == 0 ? FOREIGN_STOPPING
						     : FOREIGN_BACKEND,
			    key, e);
		if (json_get(j, key) != NULL)
			plug->where = json_get(j, key);
	} else if (json_type(j) != JSON_STRING) {
		return json_err(j, e, "expected a name or an object, not %s",
		    json_type_name(json_type(j)));
	}
	if (plug->where != plug->block &&
	    json_read_string(plug->where, &name, e) != 0)
		return -1;
	if (*name == '\0')
		return json_err(plug->where, e, "expected a name");
	plug->name = xstrdup(name);
	return 0;
}

/* One plug-in, or a list of them. */
static int
plugins_read_list(struct study_plugin **plugins, size_t *n,
    const struct json *j, const char *key, struct err *e)
{
	const struct json *first = j, *item;
	size_t count = 1;

	if (json_type(j) == JSON_ARRAY) {
		first = json_first(j);
		count = json_count(j);
	}
	if (count < 1 || count > PLUGS_MAX)
		return json_err(j, e, "expected 1 to %d of them", PLUGS_MAX);
	*plugins = xcalloc(count, sizeof **plugins);
	for (item = first; *n < count; item = json_next(item))
		if (plugin_read(&(*plugins)[(*n)++], item, key, NULL, e) != 0)
			return -1;
	return 0;
}

const char *const study_strategy_keys[] = { "name", "seed", "duplicates",
	"device", NULL };

/* The index of the word under key, 0 when the key is missing. */
static int
word_read(size_t *i, const struct json *block, const char *key,
    const char *const *words, struct err *e)
{
	const struct json *j = json_get(block, key);

	*i = 0;
	return j != NULL ? json_read_word(j, words, i, e) : 0;
}

static int
strategy_read_keys(struct study *s, const struct json *block, struct err *e)
{
	static const char *const duplicates[] = { "resample", "reuse", NULL };
	static const char *const devices[] = { "auto", "cpu", "cuda", NULL };
	size_t i;

	if (word_read(&i, block, "duplicates", duplicates, e) != 0)
		return -1;
	s->duplicates = (enum study_duplicates)i;
	if (word_read(&i, block, "device", devices, e) != 0)
		return -1;
	s->device = (enum study_device)i;
	return 0;
}

int
study_read_strategy(struct study *s, const struct json *j, struct err *e)
{
	int64_t seed;

	if (j == NULL) {
		plugin_default(&s->strategy, default_strategy);
		return 0;
	}
	if (plugin_read(&s->strategy, j, "name", default_strategy, e) != 0 ||
	    strategy_read_keys(s, j, e) != 0)
		return -1;
	j = json_get(j, "seed");
	if (j == NULL)
		return 0;
	if (json_read_integer(j, 0, INT64_C(9007199254740991), &seed, e) != 0)
		return -1;
	s->has_seed = true;
	s->seed = (uint64_t)seed;
	return 0;
}

/* Give a plug-in that study.json does not name the former default. */
static void
plugin_set_former(
    struct study_plugin *plug, const char *former, const char *recorded)
{
	if ((plug->where != NULL && plug->where != plug->block) ||
	    strcmp(recorded, former) != 0)
		return;
	free(plug->name);
	plug->name = xstrdup(recorded);
}

void
study_set_former(struct study *s, const char *strategy, const char *rule)
{
	plugin_set_former(&s->strategy, former_default_strategy, strategy);
	if (s->n_stopping == 1 &&
	    strcmp(s->stopping[0].name, default_rule) == 0)
		plugin_set_former(&s->stopping[0], former_default_rule, rule);
}

int
study_read_stopping(struct study *s, const struct json *j, struct err *e)
{
	size_t i;

	if (j == NULL) {
		s->stopping = xcalloc(1, sizeof *s->stopping);
		plugin_default(&s->stopping[s->n_stopping++],
		    s->n_objectives > 1 ? no_rule : default_rule);
		return 0;
	}
	if (plugins_read_list(&s->stopping, &s->n_stopping, j, "rule", e) != 0)
		return -1;
	for (i = 0; i < s->n_stopping && s->n_stopping > 1; i++)
		if (strcmp(s->stopping[i].name, no_rule) == 0)
			return json_err(s->stopping[i].where, e,
			    "\"none\" cannot be combined with other rules");
	for (i = 0; i < s->n_stopping && s->n_objectives > 1; i++)
		if (strcmp(s->stopping[i].name, no_rule) != 0)
			return json_err(s->stopping[i].where, e,
			    "a rule judges by one metric: with several "
			    "objectives expected \"none\"");
	return 0;
}

/*
 * Each may be NULL: then the default.  Read the stopping rules after the
 * objectives.
 */
int
study_read_backend(struct study *s, const struct json *j, struct err *e)
{
	size_t i, k;

	if (j == NULL) {
		s->backends = xcalloc(1, sizeof *s->backends);
		plugin_default(&s->backends[s->n_backends++], default_backend);
		return 0;
	}
	if (plugins_read_list(&s->backends, &s->n_backends, j, "name", e) != 0)
		return -1;
	for (i = 1; i < s->n_backends; i++)
		for (k = 0; k < i; k++)
			if (strcmp(s->backends[i].name, s->backends[k].name) ==
			    0)
				return json_err(s->backends[i].where, e,
				    "this backend is given twice");
	return 0;
}
