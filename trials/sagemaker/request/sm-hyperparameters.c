/*
 * The hyperparameters of a training job, with AWS's limits on number and
 * length.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "trials/sagemaker/options/sm-distribution.h"
#include "trials/sagemaker/request/sm-hyperparameters.h"
#include "trials/sagemaker/request/sm-request.h"
#include "trials/sagemaker/request/sm-toolkit-hyperparameters.h"

/* The hyperparameter by which a tuning job names its objective. */
#define TUNED "_tuning_objective_metric"

enum {
	ENTRIES_MAX = 100,
	KEY_MAX = 256, /* characters of a hyperparameter's name */
	VALUE_MAX = 2500 /* and of its value */
};

size_t
sm_hyperparameters_length(const char *s)
{
	size_t n = 0;

	for (; *s != '\0'; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

bool
sm_hyperparameters_one_line(const char *s)
{
	return strpbrk(s, "\r\n\v\f") == NULL &&
	       strstr(s, "\xc2\x85") == NULL &&
	       strstr(s, "\xe2\x80\xa8") == NULL &&
	       strstr(s, "\xe2\x80\xa9") == NULL;
}

/* The line separators that JSON has no need to escape, escaped. */
static char *
hyperparameters_escape(const char *json)
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
	if (sm_hyperparameters_length(key) > KEY_MAX ||
	    !sm_hyperparameters_one_line(key))
		return err_set(e, ERR_LAUNCH,
		    "a training job takes no hyperparameter of this name: %s",
		    key);
	if (sm_hyperparameters_length(value) > VALUE_MAX)
		return err_set(e, ERR_LAUNCH,
		    "a training job takes hyperparameters of at most %d "
		    "characters, and %s has %zu",
		    VALUE_MAX, key, sm_hyperparameters_length(value));
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
	line = text != NULL && sm_hyperparameters_one_line(text)
		   ? xstrdup(text)
		   : hyperparameters_escape(buf_str(json));
	rc = entry_put(w, n, name, line, e);
	free(line);
	return rc;
}

/* For information only, shown in the console. */
static int
hyperparameters_params_put(
    struct json_writer *w, const struct json *params, struct err *e)
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
	line = hyperparameters_escape(buf_str(&b));
	buf_free(&b);
	return line;
}

/* Whether one of argv[from..at) sets the same name; pairs are two words. */
static int
hyperparameters_name_check(
    char *const *argv, size_t from, size_t at, struct err *e)
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
hyperparameters_pair_put(struct json_writer *w, size_t *n,
    const struct json *params, const char *argument, struct err *e)
{
	const char *name = argument + strspn(argument, "-");
	struct buf json = { 0 };
	char *line;
	int rc;

	json_write(&json, json_get(params, name));
	line = hyperparameters_escape(buf_str(&json));
	rc = entry_put(w, n, name, line, e);
	free(line);
	buf_free(&json);
	return rc;
}

static int
hyperparameters_argument_put(struct json_writer *w, size_t *n,
    const struct json *params, const struct sm_request *r, size_t at,
    struct err *e)
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
	sm_toolkit_hyperparameters_put(&own, r, &first);
	for (p = buf_str(&own); *p != '\0'; p++)
		n += strncmp(p, "\"sagemaker_", 11) == 0;
	while (rc == 0 && argv[++at] != NULL) {
		rc = hyperparameters_name_check(argv, from, at, e);
		if (rc == 0 && strchr(argv[at], '=') != NULL)
			rc = hyperparameters_argument_put(
			    w, &n, params, r, at, e);
		else if (rc == 0)
			rc = hyperparameters_pair_put(
			    w, &n, params, argv[at++], e);
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
		rc = hyperparameters_params_put(w, json_root(doc), e);
	json_writer_end(w);
	json_free(doc);
	return rc;
}
