/*
 * The texts of a training job: hyperparameters, environment, and the patterns
 * by which CloudWatch finds metrics in its output; with AWS's limits on number
 * and length.
 */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/sagemaker/options/sm-distribution.h"
#include "trials/sagemaker/request/sm-hyperparameters.h"
#include "trials/sagemaker/request/sm-request.h"

/* ---- those for the toolkit ---------------------------------------------- */

/* Of the launcher's row in sm-distribution.c, and the path of the program. */

static void
member_put(struct buf *b, bool *first, const char *key, const char *json)
{
	if (!*first)
		buf_putc(b, ',');
	*first = false;
	json_put_string(b, key);
	buf_putc(b, ':');
	json_put_string(b, json);
}

/* A text, which is JSON inside the string that every value is. */
static void
member_put_text(struct buf *b, bool *first, const char *key, const char *text)
{
	struct buf json = { 0 };

	json_put_string(&json, text);
	member_put(b, first, key, buf_str(&json));
	buf_free(&json);
}

static const char *
type_name(const struct sm_request *r)
{
	const struct sm_settings *s = r->settings;
	const char *group = sm_dist_text(s, "group");
	size_t i;

	if (r->plan->type != NULL)
		return r->plan->type->name;
	for (i = 0; group != NULL && i < s->n_groups; i++)
		if (strcmp(s->groups[i].name, group) == 0)
			return s->groups[i].type.name;
	return s->n_groups > 0 ? s->groups[0].type.name : "";
}

static void
dist_put_parameters(
    struct buf *b, const struct sm_settings *s, bool *first, const char *key)
{
	const struct json *j = json_get(s->dist, "parameters");
	struct buf json = { 0 };

	if (j != NULL)
		json_write(&json, j);
	member_put(b, first, key, j != NULL ? buf_str(&json) : "{}");
	buf_free(&json);
}

static void
dist_put_row(struct buf *b, const struct sm_request *r, bool *first,
    const char *key, enum sm_from from)
{
	const struct sm_settings *s = r->settings;
	const char *options = sm_dist_text(s, "custom_mpi_options");
	bool torch = false;
	char count[24];

	switch (from) {
	case SM_FROM_NOWHERE:
		break;
	case SM_FROM_TRUE:
		member_put(b, first, key, "true");
		break;
	case SM_FROM_FALSE:
		member_put(b, first, key, "false");
		break;
	case SM_FROM_TYPE:
		member_put_text(b, first, key, type_name(r));
		break;
	case SM_FROM_PER_HOST:
		(void)snprintf(count, sizeof count, "%d", s->per_host);
		if (s->per_host > 0)
			member_put(b, first, key, count);
		break;
	case SM_FROM_MPI_OPTIONS:
		member_put_text(b, first, key, options != NULL ? options : "");
		break;
	case SM_FROM_PARAMETERS:
		dist_put_parameters(b, s, first, key);
		break;
	case SM_FROM_TORCH:
		if (s->dist != NULL)
			(void)json_bool(
			    json_get(s->dist, "torch_distributed"), &torch);
		if (torch)
			member_put(b, first, key, "true");
		break;
	}
}

/* Script mode: where the program is and what the job is called. */
static void
script_put(struct buf *b, const struct sm_request *r, bool *first)
{
	const struct sm_settings *s = r->settings;
	struct err ignored = ERR_INIT;
	size_t at = 0;
	char *uri;

	(void)sm_distribution_find(r->spec->argv, &at, &ignored);
	member_put_text(b, first, "sagemaker_program",
	    sm_distribution_program(s, r->spec->argv[at]));
	uri = xasprintf("s3://%s/%s/code.tar.gz", s->bucket, r->code_key);
	member_put_text(b, first, "sagemaker_submit_directory", uri);
	free(uri);
	member_put(b, first, "sagemaker_container_log_level", "20");
	member_put_text(b, first, "sagemaker_job_name", r->job);
	member_put_text(b, first, "sagemaker_region", r->region);
}

/* Append the hyperparameters for the toolkit, as members of an object. */
static void
toolkit_put(struct buf *b, const struct sm_request *r, bool *first)
{
	const struct sm_distribution *row = sm_distribution_row(r->settings);
	const char *group = sm_dist_text(r->settings, "group");
	struct buf list = { 0 };
	size_t i;

	if (!row->toolkit)
		return;
	script_put(b, r, first);
	for (i = 0; row->hp[i].key != NULL; i++)
		dist_put_row(b, r, first, row->hp[i].key, row->hp[i].from);
	if (group == NULL)
		return;
	buf_putc(&list, '[');
	json_put_string(&list, group);
	buf_putc(&list, ']');
	member_put(
	    b, first, "sagemaker_distribution_instance_groups", buf_str(&list));
	buf_free(&list);
}

/* ---- members of the request --------------------------------------------- */

/* The hyperparameter by which a tuning job names its objective. */
#define TUNED "_tuning_objective_metric"

enum {
	ENTRIES_MAX = 100, /* hyperparameters, and variables */
	KEY_MAX = 256, /* characters of a hyperparameter's name */
	VALUE_MAX = 2500, /* and of its value */
	VARIABLE_MAX = 512, /* bytes of a variable's value */
	PIECES_MAX = 80, /* of the entry script's text */
	METRICS_MAX = 40,
	METRIC_NAME_MAX = 255,
	REGEX_MAX = 500
};

/* ---- hyperparameters ---------------------------------------------------- */

/* Characters, not bytes. */
static size_t
length(const char *s)
{
	size_t n = 0;

	for (; *s != '\0'; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* AWS's pattern for a value is that of one line. */
static bool
is_line(const char *s)
{
	return strpbrk(s, "\r\n\v\f") == NULL &&
	       strstr(s, "\xc2\x85") == NULL &&
	       strstr(s, "\xe2\x80\xa8") == NULL &&
	       strstr(s, "\xe2\x80\xa9") == NULL;
}

/* The line separators that JSON has no need to escape, escaped. */
static char *
escape(const char *json)
{
	static const struct {
		const char *from, *to;
	} rows[] = { { "\xc2\x85", "\\u0085" }, { "\xe2\x80\xa8", "\\u2028" },
		{ "\xe2\x80\xa9", "\\u2029" } };
	struct buf b = { 0 };
	size_t i, n;

	while (*json != '\0') {
		for (i = 0; i < 3; i++) {
			n = strlen(rows[i].from);
			if (strncmp(json, rows[i].from, n) == 0)
				break;
		}
		if (i < 3) {
			buf_puts(&b, rows[i].to);
			json += n;
		} else {
			buf_putc(&b, *json++);
		}
	}
	return buf_take(&b);
}

static int
entry_put(struct json_writer *w, size_t *n, const char *key, const char *value,
    struct err *e)
{
	if (++*n > ENTRIES_MAX)
		return err_set(e, ERR_LAUNCH,
		    "a training job takes at most %d hyperparameters, and "
		    "there are more",
		    ENTRIES_MAX);
	if (length(key) > KEY_MAX || !is_line(key))
		return err_set(e, ERR_LAUNCH,
		    "a training job takes no hyperparameter of this name: %s",
		    key);
	if (length(value) > VALUE_MAX)
		return err_set(e, ERR_LAUNCH,
		    "a training job takes hyperparameters of at most %d "
		    "characters, and %s has %zu",
		    VALUE_MAX, key, length(value));
	json_writer_text(w, key, value);
	return 0;
}

/* A bare text; other values, and a text of several lines, as JSON. */
static int
bare_put(struct json_writer *w, size_t *n, const char *name,
    const struct json *j, struct buf *json, struct err *e)
{
	const char *text = json_string(j);
	char *line;
	int rc;

	buf_clear(json);
	json_write(json, j);
	line = text != NULL && is_line(text) ? xstrdup(text)
					     : escape(buf_str(json));
	rc = entry_put(w, n, name, line, e);
	free(line);
	return rc;
}

/* For information only, shown in the console. */
static int
params_put(struct json_writer *w, const struct json *params, struct err *e)
{
	const struct json *j;
	struct buf json = { 0 };
	size_t n = 0;
	int rc = 0;

	for (j = json_first(params); j != NULL && rc == 0; j = json_next(j))
		rc = bare_put(w, &n, json_key(j), j, &json, e);
	buf_free(&json);
	return rc;
}

/* --NAME=VALUE for the toolkit: a parameter as its JSON, else a JSON text. */
static char *
argument_json(const struct json *params, const char *name, const char *value)
{
	const struct json *j = json_get(params, name);
	struct buf b = { 0 };
	char *line;

	if (j != NULL && json_string(j) == NULL) {
		json_write(&b, j);
		if (strcmp(buf_str(&b), value) != 0)
			j = NULL;
	}
	if (j == NULL || json_string(j) != NULL) {
		buf_clear(&b);
		json_put_string(&b, value);
	}
	line = escape(buf_str(&b));
	buf_free(&b);
	return line;
}

/* Whether one of argv[from..at) sets the same name; pairs are two words. */
static int
name_check(char *const *argv, size_t from, size_t at, struct err *e)
{
	size_t len = strcspn(argv[at], "="), i = from;

	while (i < at) {
		if (strcspn(argv[i], "=") == len &&
		    strncmp(argv[i], argv[at], len) == 0)
			return err_set(e, ERR_LAUNCH,
			    "the toolkit accepts an argument once, but %.*s is "
			    "given twice",
			    (int)len, argv[at]);
		i += strchr(argv[i], '=') != NULL ? 1 : 2;
	}
	return 0;
}

/* --NAME VALUE, from trial.arguments: a parameter as its JSON. */
static int
pair_put(struct json_writer *w, size_t *n, const struct json *params,
    const char *argument, struct err *e)
{
	const char *name = argument + strspn(argument, "-");
	struct buf json = { 0 };
	char *line;
	int rc;

	json_write(&json, json_get(params, name));
	line = escape(buf_str(&json));
	rc = entry_put(w, n, name, line, e);
	free(line);
	buf_free(&json);
	return rc;
}

static int
argument_put(struct json_writer *w, size_t *n, const struct json *params,
    const struct sm_request *r, size_t at, struct err *e)
{
	const char *argument = r->spec->argv[at];
	size_t len = strcspn(argument, "=");
	char *name = xstrndup(argument + 2, len - 2), *line;
	int rc;

	line = argument_json(params, name, argument + len + 1);
	rc = entry_put(w, n, name, line, e);
	free(line);
	free(name);
	return rc;
}

static int
arguments_put(struct json_writer *w, const struct json *params,
    const struct sm_request *r, struct err *e)
{
	struct buf own = { 0 };
	char *const *argv = r->spec->argv;
	bool first = true;
	size_t from, at, n = 0;
	const char *p;
	int rc = 0;

	if (sm_distribution_find(argv, &at, e) != 0)
		return -1;
	from = at + 1;
	toolkit_put(&own, r, &first);
	for (p = buf_str(&own); *p != '\0'; p++)
		n += strncmp(p, "\"sagemaker_", 11) == 0;
	while (rc == 0 && argv[++at] != NULL) {
		rc = name_check(argv, from, at, e);
		if (rc == 0 && strchr(argv[at], '=') != NULL)
			rc = argument_put(w, &n, params, r, at, e);
		else if (rc == 0)
			rc = pair_put(w, &n, params, argv[at++], e);
	}
	if (rc == -1) {
		buf_free(&own);
		return -1;
	}
	json_writer_raw(w, NULL, buf_str(&own));
	buf_free(&own);
	return 0;
}

/*
 * Hyperparameters of built-in algorithms: plain texts under their names, and
 * the objective in the format of a tuning job.
 */
static int
algorithm_params_put(struct json_writer *w, const struct json *params,
    const struct sm_request *r, struct err *e)
{
	const struct sm_settings *s = r->settings;
	const struct sm_algorithm *a = sm_algorithm_of(s, params, e);
	const struct json *j, *fixed;
	const char *objective, *name;
	struct buf json = { 0 };
	size_t n = 0;
	int rc = 0;

	if (a == NULL)
		return -1;
	fixed = a->hyperparameters;
	for (j = json_first(params); j != NULL && rc == 0; j = json_next(j)) {
		if (!sm_algorithm_takes(s, a, json_key(j), &name))
			continue;
		if (fixed != NULL && json_get(fixed, name) != NULL)
			rc = err_set(e, ERR_LAUNCH,
			    "%s is a parameter and in the algorithm's "
			    "hyperparameters",
			    name);
		else
			rc = bare_put(w, &n, name, j, &json, e);
	}
	for (j = json_first(fixed); j != NULL && rc == 0; j = json_next(j))
		rc = bare_put(w, &n, json_key(j), j, &json, e);
	objective = sm_algorithm_objective(a, r->metric);
	if (rc == 0 && objective != NULL &&
	    (fixed == NULL || json_get(fixed, TUNED) == NULL) &&
	    json_get(params, TUNED) == NULL)
		rc = entry_put(w, &n, TUNED, objective, e);
	buf_free(&json);
	return rc;
}

int
sm_hyperparameters_put(
    struct json_writer *w, const struct sm_request *r, struct err *e)
{
	const char *text = r->spec->params_json;
	struct json_doc *doc;
	int rc;

	if (json_parse(&doc, text, strlen(text), NULL, false, e) != 0)
		return -1;
	json_writer_object(w, "HyperParameters");
	if (r->settings->algorithm)
		rc = algorithm_params_put(w, json_root(doc), r, e);
	else if (sm_distribution_is_toolkit(r->settings))
		rc = arguments_put(w, json_root(doc), r, e);
	else
		rc = params_put(w, json_root(doc), e);
	json_writer_end(w);
	json_free(doc);
	return rc;
}

/* ---- environment -------------------------------------------------------- */

/* Bytes of the next piece: not more than fit, and no character cut. */
static size_t
piece_len(const char *s, size_t left)
{
	size_t n = left;

	if (left > VARIABLE_MAX) {
		n = VARIABLE_MAX;
		while (n > 1 && ((unsigned char)s[n] & 0xc0) == 0x80)
			n--;
	}
	return n;
}

static int
pieces_put(struct json_writer *w, const struct sm_request *r, struct err *e)
{
	struct buf text = { 0 };
	size_t at = 0, n;
	char name[24], *piece;
	int i = 0, rc = 0;

	sm_script_vars_put(&text, r);
	for (; at < text.len && rc == 0; at += n) {
		n = piece_len(text.data + at, text.len - at);
		(void)snprintf(name, sizeof name, "HPT_SPEC_%d", i);
		piece = xstrndup(text.data + at, n);
		json_writer_text(w, name, piece);
		free(piece);
		if (++i > PIECES_MAX)
			rc = err_set(e, ERR_LAUNCH,
			    "command, parameters and environment have %zu "
			    "bytes, and a training job takes %d",
			    text.len, PIECES_MAX * VARIABLE_MAX);
	}
	buf_free(&text);
	return rc;
}

/*
 * False: a later entry replaces it, or it names files that the job does not
 * have.
 */
static bool
variable_wanted(char *const *env, const char *word, size_t len)
{
	static const char *const not [] = { "HPOTUNE_PARAMS=",
		"HPOTUNE_METRICS=", "HPOTUNE_ATTEMPT_UUID=", NULL };
	size_t i;

	if (strncmp(word, "SM_", 3) == 0)
		return false;
	for (i = 0; not [i] != NULL; i++)
		if (strncmp(word, not [i], strlen(not [i])) == 0)
			return false;
	for (; env != NULL && *env != NULL; env++)
		if (*env != word && strncmp(*env, word, len + 1) == 0)
			return false;
	return true;
}

static int
variables_put(struct json_writer *w, size_t *n, char *const *env,
    char *const *over, struct err *e)
{
	size_t len;
	char *name;
	int rc = 0;

	for (; env != NULL && *env != NULL && rc == 0; env++) {
		len = strcspn(*env, "=");
		if ((*env)[len] != '=' || !variable_wanted(over, *env, len))
			continue;
		name = xstrndup(*env, len);
		if (strlen(*env + len + 1) > VARIABLE_MAX)
			rc = err_set(e, ERR_LAUNCH,
			    "a training job takes variables of at most %d "
			    "bytes, and %s has more",
			    VARIABLE_MAX, name);
		else if (++*n > ENTRIES_MAX - 1)
			rc = err_set(e, ERR_LAUNCH,
			    "a training job takes at most %d variables, and "
			    "there are more",
			    ENTRIES_MAX);
		else
			json_writer_text(w, name, *env + len + 1);
		free(name);
	}
	return rc;
}

int
sm_hyperparameters_put_env(
    struct json_writer *w, const struct sm_request *r, struct err *e)
{
	size_t n = 0;
	int rc;

	json_writer_object(w, "Environment");
	json_writer_text(w, "HPOTUNE_ATTEMPT_UUID", r->spec->uuid);
	if (!sm_distribution_is_toolkit(r->settings)) {
		rc = pieces_put(w, r, e);
	} else {
		rc = variables_put(
		    w, &n, launcher_spec_env(r->spec), r->spec->env, e);
		if (rc == 0)
			rc = variables_put(w, &n, r->spec->env, NULL, e);
	}
	json_writer_end(w);
	return rc;
}

/* ---- metrics ------------------------------------------------------------ */

/*
 * Regular expression for the value of a name in a tagged line, as a pair or as
 * JSON.  One group, no look-around: supported by every engine.  The value is a
 * word, so that exponents, nan and Infinity are matched whole; lines of other
 * ranks have no such tag.
 */
static char *
tag_regex(const char *name, const char *value)
{
	struct buf b = { 0 };

	buf_puts(&b, "hpotune[-json]*:.*[ \"]");
	for (; *name != '\0'; name++)
		buf_printf(&b, "%s%c", *name == '.' ? "\\" : "", *name);
	buf_printf(&b, "[ =\":]+(%s)", value);
	return buf_take(&b);
}

static void
metric_put(struct json_writer *w, const char *name, const char *regex)
{
	json_writer_object(w, NULL);
	json_writer_text(w, "Name", name);
	json_writer_text(w, "Regex", regex);
	json_writer_end(w);
}

static bool
metric_fits(const struct study_metric *m)
{
	return length(m->name) <= METRIC_NAME_MAX &&
	       length(m->regex) <= REGEX_MAX && is_line(m->regex) &&
	       is_line(m->name);
}

void
sm_hyperparameters_put_metrics(
    struct json_writer *w, const struct sm_request *r)
{
	const struct study_trial *t = r->spec->settings;
	char *tagged = tag_regex(r->metric, "[-+.0-9A-Za-z]+");
	char *step = tag_regex("step", "[0-9]+");
	const char *objective = NULL;
	size_t i, k, n = 2;

	json_writer_array(w, "MetricDefinitions");
	for (i = 0; i < t->n_metrics && objective == NULL; i++)
		if (strcmp(t->metrics[i].name, r->metric) == 0 &&
		    metric_fits(&t->metrics[i]))
			objective = t->metrics[i].regex;
	metric_put(
	    w, SM_METRIC_OBJECTIVE, objective != NULL ? objective : tagged);
	metric_put(w, SM_METRIC_STEP,
	    objective != NULL && t->step_regex != NULL &&
		    length(t->step_regex) <= REGEX_MAX && is_line(t->step_regex)
		? t->step_regex
		: step);
	for (i = 0; i < t->n_metrics && n < METRICS_MAX; i++) {
		for (k = 0; k < i; k++)
			if (strcmp(t->metrics[k].name, t->metrics[i].name) == 0)
				break;
		if (k < i || !metric_fits(&t->metrics[i]) ||
		    strcmp(t->metrics[i].name, r->metric) == 0)
			continue;
		metric_put(w, t->metrics[i].name, t->metrics[i].regex);
		n++;
	}
	json_writer_end(w);
	free(step);
	free(tagged);
}
