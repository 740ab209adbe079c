/*
 * study.json -> struct study: reads the top-level keys and calls the readers of
 * the parts in order.
 */

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "src/model/replicate-stats.h"
#include "src/model/space.h"
#include "src/model/study/study-internal.h"
#include "src/model/study/study.h"
#include "src/model/where.h"

/* ---- limits, enqueue, warm_start ------------------------------------- */

enum { ENQUEUE_MAX = 100000, WARM_MAX = 1000 };

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

static int
study_read_limits(
    struct study_limits *l, const struct json *block, struct err *e)
{
	static const char *const known[] = { "trials", "parallel", "wall_time",
		"cost", "gpu_hours", "failed_trials", "no_improvement",
		"convergence", NULL };
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
	j = json_get(block, "gpu_hours");
	if (j != NULL && json_read_number(j, 0, 1e12, &l->gpu_hours, e) != 0)
		return -1;
	if (j != NULL && l->gpu_hours <= 0)
		return json_err(j, e, "expected a number above 0");
	if (l->trials == 0 && l->wall_time_ms == 0 && l->cost == 0 &&
	    l->gpu_hours == 0)
		return json_err(block, e,
		    "the study would never end: expected one of trials, "
		    "wall_time, cost or gpu_hours");
	return 0;
}

static int
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

static int
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

static void
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

/* ---- strategy, stopping rules, backends ---------------------------------- */

enum {
	PLUGS_MAX = 64 /* rules or backends of one study */
};

static const char default_strategy[] = "auto";
static const char former_default_strategy[] = "tpe";
static const char default_rule[] = "median";
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
		if (json_get(j, key) != NULL || fallback == NULL)
			plug->where = json_need(j, key, e);
		if (plug->where == NULL)
			return -1;
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

static int
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

void
study_set_strategy(struct study *s, const char *recorded)
{
	struct study_plugin *plug = &s->strategy;

	if ((plug->where != NULL && plug->where != plug->block) ||
	    strcmp(recorded, former_default_strategy) != 0)
		return;
	free(plug->name);
	plug->name = xstrdup(recorded);
}

static int
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
static int
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

/* ---- hooks, provenance -------------------------------------------------- */

enum { PROGRAM_WORDS_MAX = 1024, HOOK_TIMEOUT_MS = 60000 };

static const char *const hook_names[] = {
	[STUDY_HOOK_BEST] = "best",
	[STUDY_HOOK_FAILED] = "failed",
	[STUDY_HOOK_FINISHED] = "finished",
	NULL,
};

const char *
study_hook_name(enum study_hook hook)
{
	return hook_names[hook];
}

/* A program and its arguments; the caller frees *argv, also after an error. */
static int
study_read_program(char ***argv, const struct json *list, struct err *e)
{
	const struct json *j;
	const char *text;
	size_t n = 0;

	if (json_type(list) != JSON_ARRAY || json_count(list) == 0 ||
	    json_count(list) > PROGRAM_WORDS_MAX)
		return json_err(list, e,
		    "expected a list of texts: a program and its arguments");
	*argv = xcalloc(json_count(list) + 1, sizeof **argv);
	for (j = json_first(list); j != NULL; j = json_next(j)) {
		if (json_read_string(j, &text, e) != 0)
			return -1;
		(*argv)[n++] = xstrdup(text);
	}
	return **argv[0] != '\0' ? 0
				 : json_err(json_first(list), e,
				       "expected the name of a program");
}

static int
study_read_hooks(
    struct study_hooks *hooks, const struct json *block, struct err *e)
{
	static const char *const known[] = { "best", "failed", "finished",
		"timeout", NULL };
	const struct json *j;
	int i;

	hooks->timeout_ms = HOOK_TIMEOUT_MS;
	if (json_want(block, JSON_OBJECT, e) != 0 ||
	    json_only(block, known, e) != 0)
		return -1;
	for (i = 0; i < STUDY_HOOKS; i++) {
		j = json_get(block, hook_names[i]);
		if (j != NULL && study_read_program(&hooks->argv[i], j, e) != 0)
			return -1;
	}
	j = json_get(block, "timeout");
	return j != NULL ? study_read_duration(&hooks->timeout_ms, j, e) : 0;
}

static void
study_hooks_clear(struct study_hooks *hooks)
{
	int i;

	for (i = 0; i < STUDY_HOOKS; i++) {
		strv_free(hooks->argv[i]);
		hooks->argv[i] = NULL;
	}
}

static int
study_read_provenance(
    struct study_provenance *p, const struct json *block, struct err *e)
{
	static const char *const known[] = { "git", "packages", NULL };
	const struct json *j;
	bool git = true;

	if (json_want(block, JSON_OBJECT, e) != 0 ||
	    json_only(block, known, e) != 0)
		return -1;
	j = json_get(block, "git");
	if (j != NULL && json_read_bool(j, &git, e) != 0)
		return -1;
	p->without_git = !git;
	j = json_get(block, "packages");
	return j != NULL ? study_read_program(&p->packages, j, e) : 0;
}

/* ---- keep: which checkpoints stay --------------------------------------- */

static int
study_read_keep(struct keep_rule *rule, const struct json *block, struct err *e)
{
	static const char *const known[] = { "best", "last", "bytes", NULL };
	const struct json *j;

	if (json_want(block, JSON_OBJECT, e) != 0 ||
	    json_only(block, known, e) != 0)
		return -1;
	*rule = (struct keep_rule){ .given = true, .best = 1 };
	j = json_get(block, "best");
	if (j != NULL &&
	    json_read_integer(j, 0, STUDY_COUNT_MAX, &rule->best, e) != 0)
		return -1;
	j = json_get(block, "last");
	if (j != NULL &&
	    json_read_integer(j, 0, STUDY_COUNT_MAX, &rule->last, e) != 0)
		return -1;
	j = json_get(block, "bytes");
	if (j != NULL && size_read(&rule->bytes, j, e) != 0)
		return -1;
	if (j != NULL && rule->bytes == 0)
		return json_err(j, e, "expected a size above 0");
	return 0;
}

/* ---- replicates --------------------------------------------------------- */

static const char *const aggregates[] = { "mean", "median", "worst", NULL };

static int
read_aggregate(struct study_replicates *r, const struct json *j, struct err *e)
{
	static const double quantiles[] = { NAN, 0.5, 1 };
	size_t i = 0;

	r->quantile = NAN;
	if (j == NULL)
		return 0;
	if (json_type(j) == JSON_NUMBER)
		return json_read_number(j, 0, 1, &r->quantile, e);
	if (json_type(j) != JSON_STRING)
		return json_err(j, e,
		    "expected mean, median, worst or a quantile from 0 to 1");
	if (json_read_word(j, aggregates, &i, e) != 0)
		return -1;
	r->quantile = quantiles[i];
	return 0;
}

/* Adds its parameter to the space; call after that and the objectives were read. */
static int
study_read_replicates(struct study *s, const struct json *block, struct err *e)
{
	static const char *const known[] = { "parameter", "count", "values",
		"aggregate", "racing", NULL };
	struct study_replicates *r = &s->replicates;
	const struct json *name, *values, *count, *j;
	int64_t n = 0;

	if (json_want(block, JSON_OBJECT, e) != 0 ||
	    json_only(block, known, e) != 0 ||
	    (name = json_need(block, "parameter", e)) == NULL)
		return -1;
	values = json_get(block, "values");
	count = json_get(block, "count");
	if ((values == NULL) == (count == NULL))
		return json_err(block, e, "expected one of count and values");
	if (count != NULL &&
	    json_read_integer(count, 2, REPLICATES_MAX, &n, e) != 0)
		return -1;
	if (values != NULL && json_want(values, JSON_ARRAY, e) != 0)
		return -1;
	if (values != NULL) {
		n = (int64_t)json_count(values);
		if (n < 2 || n > REPLICATES_MAX)
			return json_err(values, e, "expected 2 to %d values",
			    REPLICATES_MAX);
	}
	r->racing = true;
	j = json_get(block, "racing");
	if ((j != NULL && json_read_bool(j, &r->racing, e) != 0) ||
	    read_aggregate(r, json_get(block, "aggregate"), e) != 0 ||
	    space_add_replicates(s->space, name, values, n, e) != 0)
		return -1;
	r->param = s->space->n - 1;
	r->count = (size_t)n;
	r->where = block;
	return 0;
}

/* ---- the study ----------------------------------------------------------- */

enum { NAME_MAX_LEN = 32 };

static const char *const known[] = { "$schema", "description", "study",
	"objective", "objectives", "constraints", "parameters", "where",
	"strategy", "stopping", "trial", "backend", "limits", "enqueue",
	"warm_start", "notify", "keep", "hooks", "provenance", "replicates",
	NULL };

bool
study_name_good(const char *name)
{
	size_t i;

	for (i = 0; name[i] != '\0'; i++)
		if (!islower((unsigned char)name[i]) &&
		    !isdigit((unsigned char)name[i]) &&
		    (i == 0 || name[i] != '-'))
			return false;
	return i > 0 && i <= NAME_MAX_LEN;
}

static int
read_name(struct study *s, const struct json *root, struct err *e)
{
	const struct json *j = json_need(root, "study", e);
	const char *name;

	if (j == NULL || json_read_string(j, &name, e) != 0)
		return -1;
	if (!study_name_good(name))
		return json_err(j, e,
		    "the name of a study has 1 to %d lower-case letters, "
		    "digits or - and begins with no -",
		    NAME_MAX_LEN);
	s->name = xstrdup(name);
	return 0;
}

static int
read_parts(struct study *s, const struct json *root, struct err *e)
{
	const struct json *j;

	const char *schema;

	if (json_only(root, known, e) != 0 || read_name(s, root, e) != 0)
		return -1;
	j = json_get(root, "$schema");
	if ((j != NULL && json_read_string(j, &schema, e) != 0) ||
	    read_text(&s->description, root, "description", e) != 0)
		return -1;
	if (study_read_objectives(s, root, e) != 0)
		return -1;
	j = json_need(root, "parameters", e);
	if (j == NULL || space_read(&s->space, j, e) != 0)
		return -1;
	j = json_get(root, "where");
	if (j != NULL && where_read(s->space, j, e) != 0)
		return -1;
	/* After where: no condition is on its parameter. */
	j = json_get(root, "replicates");
	if (j != NULL && study_read_replicates(s, j, e) != 0)
		return -1;
	if (study_read_strategy(s, json_get(root, "strategy"), e) != 0 ||
	    study_read_stopping(s, json_get(root, "stopping"), e) != 0)
		return -1;
	j = json_get(root, "trial");
	if (study_read_trial(s, j, e) != 0 ||
	    study_read_backend(s, json_get(root, "backend"), e) != 0)
		return -1;
	/* Without a backend the study may be for ask and tell. */
	if (s->trial.command[0] == NULL && json_get(root, "backend") != NULL &&
	    json_need(j != NULL ? j : root, j != NULL ? "command" : "trial",
		e) == NULL)
		return -1;
	j = json_need(root, "limits", e);
	if (j == NULL || study_read_limits(&s->limits, j, e) != 0)
		return -1;
	j = json_get(root, "enqueue");
	if (j != NULL && study_read_enqueue(s, j, e) != 0)
		return -1;
	j = json_get(root, "warm_start");
	if (j != NULL && study_read_warm_start(s, j, e) != 0)
		return -1;
	j = json_get(root, "hooks");
	if (j != NULL && study_read_hooks(&s->hooks, j, e) != 0)
		return -1;
	j = json_get(root, "provenance");
	if (j != NULL && study_read_provenance(&s->provenance, j, e) != 0)
		return -1;
	j = json_get(root, "keep");
	if (j != NULL && study_read_keep(&s->keep, j, e) != 0)
		return -1;
	j = json_get(root, "notify");
	return j != NULL ? study_read_notify(&s->notify, j, e) : 0;
}

/* Absolute names of the file and its folder, which need not exist. */
static int
read_path(struct study *s, const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	char *dir, *cwd;

	dir = slash == NULL ? xstrdup(".")
			    : xstrndup(path, (size_t)(slash - path) + 1);
	s->dir = realpath(dir, NULL);
	if (s->dir == NULL && *dir == '/') {
		s->dir = xstrdup(dir);
		if (slash != path)
			s->dir[slash - path] = '\0';
	} else if (s->dir == NULL) {
		cwd = getcwd(NULL, 0);
		if (cwd == NULL) {
			free(dir);
			return err_set(e, ERR_FILE, "the current folder: %s",
			    strerror(errno));
		}
		s->dir = xasprintf("%s/%s", cwd, dir);
		free(cwd);
	}
	free(dir);
	s->path = xasprintf("%s/%s", strcmp(s->dir, "/") == 0 ? "" : s->dir,
	    slash == NULL ? path : slash + 1);
	return 0;
}

/* Takes ownership of doc. */
static int
study_read(
    struct study **out, struct json_doc *doc, const char *path, struct err *e)
{
	struct study *s = xcalloc(1, sizeof *s);

	s->doc = doc;
	if (read_path(s, path, e) != 0 ||
	    json_want(json_root(doc), JSON_OBJECT, e) != 0 ||
	    read_parts(s, json_root(doc), e) != 0) {
		study_free(s);
		return -1;
	}
	*out = s;
	return 0;
}

int
study_load(struct study **out, const char *path, struct err *e)
{
	struct json_doc *doc;

	*out = NULL;
	if (json_load(&doc, path, e) != 0)
		return -1;
	return study_read(out, doc, path, e);
}

int
study_parse(struct study **out, const char *text, size_t len, const char *path,
    struct err *e)
{
	struct json_doc *doc;

	*out = NULL;
	if (json_parse(&doc, text, len, path, true, e) != 0)
		return -1;
	return study_read(out, doc, path, e);
}

int
study_parse_recorded(
    struct study **out, const char *text, const char *dir, struct err *e)
{
	char *path = xasprintf("%s/study.json", dir);
	int rc = study_parse(out, text, strlen(text), path, e);

	free(path);
	return rc;
}

void
study_free(struct study *s)
{
	size_t i;

	if (s == NULL)
		return;
	for (i = 0; i < s->n_stopping; i++)
		free(s->stopping[i].name);
	for (i = 0; i < s->n_backends; i++)
		free(s->backends[i].name);
	for (i = 0; i < s->n_enqueue; i++)
		free(s->enqueue[i]);
	study_warm_clear(s);
	study_notify_clear(&s->notify);
	study_hooks_clear(&s->hooks);
	strv_free(s->provenance.packages);
	free(s->stopping);
	free(s->backends);
	free(s->enqueue);
	free(s->strategy.name);
	study_trial_clear(&s->trial);
	space_free(s->space);
	study_objectives_clear(s);
	free(s->name);
	free(s->description);
	free(s->path);
	free(s->dir);
	json_free(s->doc);
	free(s);
}

/* ---- one trial of this machine: hpotune try ----------------------------- */

/* Keep the backend that runs trials on this machine. */
static bool
backend_keep_local(struct study *s)
{
	struct study_plugin local;
	size_t i, at;

	for (at = 0; at < s->n_backends; at++)
		if (strcmp(s->backends[at].name, "local") == 0)
			break;
	if (at == s->n_backends)
		return false;
	local = s->backends[at];
	for (i = 0; i < s->n_backends; i++)
		if (i != at)
			free(s->backends[i].name);
	s->backends[0] = local;
	s->n_backends = 1;
	return true;
}

bool
study_one_trial(struct study *s, const struct value *setting)
{
	size_t i;

	if (!backend_keep_local(s))
		return false;
	study_warm_clear(s);
	study_notify_clear(&s->notify);
	study_hooks_clear(&s->hooks);
	s->limits = (struct study_limits){ .trials = 1,
		.parallel = 1,
		.wall_time_ms = s->limits.wall_time_ms };
	s->has_target = false;
	s->replicates.count = 0;
	s->trial.retries = 0;
	if (setting == NULL)
		return true;
	for (i = 0; i < s->n_enqueue; i++)
		free(s->enqueue[i]);
	s->enqueue = xreallocarray(s->enqueue, 1, sizeof *s->enqueue);
	s->enqueue[0] = xcalloc(s->space->n + 1, sizeof **s->enqueue);
	memcpy(s->enqueue[0], setting, s->space->n * sizeof *setting);
	s->n_enqueue = 1;
	return true;
}

void
study_stop_nobody(struct study *s)
{
	size_t i;

	for (i = 0; i < s->n_stopping; i++)
		free(s->stopping[i].name);
	if (s->stopping == NULL)
		s->stopping = xcalloc(1, sizeof *s->stopping);
	s->stopping[0] = (struct study_plugin){ .name = xstrdup("none") };
	s->n_stopping = 1;
}
