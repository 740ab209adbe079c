/* A table of trials in CSV (RFC 4180), as other tools and ours export it. */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-results.h"
#include "src/import/import-study.h"

enum { COLUMNS_MOST = 4096 };

enum role { ROLE_NONE, ROLE_PARAM, ROLE_OBJECTIVE, ROLE_STATE, ROLE_STEP };

struct table {
	const char *file;
	char *next; /* rest of the text */
	char separator; /* of fields */
	size_t line;
	char *fields[COLUMNS_MOST];
	bool quoted[COLUMNS_MOST];
	size_t n;
	char *names[COLUMNS_MOST];
	enum role roles[COLUMNS_MOST];
	size_t columns;
};

/* The columns that tools have beside parameters. */
static const char *const values[] = { "objective", "value", "values_0", NULL };
static const char *const steps[] = { "step", "training_iteration", "epoch",
	NULL };
static const char *const others[] = { "trial", "number", "trial_id", "id",
	"name", "run", "run_id", "run_name", "status", "experiment_tag", "date",
	"timestamp", "hostname", "node_ip", "pid", "done", "created", "runtime",
	"datetime_start", "datetime_complete", "duration", "time_total_s",
	"time_this_iter_s", "iterations_since_restore", "time_since_restore",
	"model_uri", "output_uri", "user", "tags", "notes", "sweep", "",
	"_runtime", "_step", "_timestamp", NULL };
static const char *const prefixes[] = { "params_", "config/", "param.",
	"params.", "Config.", NULL };

/*
 * A comma, or without one in the first line a semicolon or a tab, as spreadsheets
 * write them where numbers have decimal commas, or as plain text.
 */
static char
separator_of(const char *text)
{
	static const char all[] = ",;\t";
	size_t i, n = strcspn(text, "\n");

	for (i = 0; all[i] != '\0'; i++)
		if (memchr(text, all[i], n) != NULL)
			return all[i];
	return ',';
}

/* 0,5 becomes 0.5 where fields are separated by something else. */
static void
decimal_point(char *field)
{
	char *comma = strchr(field, ','), *end;

	if (comma == NULL)
		return;
	*comma = '.';
	(void)strtod(field, &end);
	if (end <= comma || *end != '\0')
		*comma = ',';
}

/* One field, unquoted in place; false at the end of its line. */
static bool
field_next(struct table *t)
{
	char *from = t->next, *to = from;
	bool quoted = *from == '"', more;

	t->quoted[t->n] = quoted;
	t->fields[t->n++] = to;
	if (quoted)
		from++;
	for (; *from != '\0'; from++) {
		if (quoted && *from == '"') {
			if (from[1] != '"') {
				quoted = false;
				continue;
			}
			from++;
		} else if (!quoted && (*from == t->separator || *from == '\n' ||
					  (*from == '\r' && from[1] == '\n')))
			break;
		t->line += *from == '\n';
		*to++ = *from;
	}
	if (*from == '\r')
		from++;
	t->next = *from == '\0' ? from : from + 1;
	t->line += *from == '\n';
	more = *from == t->separator;
	*to = '\0';
	if (t->separator != ',' && !t->quoted[t->n - 1])
		decimal_point(t->fields[t->n - 1]);
	return more;
}

/* False at the end; an empty line has one empty field. */
static bool
row_next(struct table *t)
{
	t->n = 0;
	if (*t->next == '\0')
		return false;
	while (t->n < COLUMNS_MOST && field_next(t))
		;
	return true;
}

static bool
among(const char *const *words, const char *name)
{
	for (; *words != NULL; words++)
		if (strcasecmp(*words, name) == 0)
			return true;
	return false;
}

/* The rest of a name behind a prefix of parameters, or NULL. */
static const char *
behind_prefix(const char *name)
{
	const char *const *p;

	for (p = prefixes; *p != NULL; p++)
		if (strncmp(name, *p, strlen(*p)) == 0)
			return name + strlen(*p);
	return NULL;
}

/* Whether a name is in a list with commas. */
static bool
listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (; list != NULL; list = strchr(list, ',')) {
		list += *list == ',';
		if (strncmp(list, name, n) == 0 &&
		    (list[n] == ',' || list[n] == '\0'))
			return true;
	}
	return false;
}

static int
objective_find(struct table *t, const char **metric, struct err *e)
{
	struct buf all = { 0 };
	size_t i;
	int rc = 0;

	for (i = 0; i < t->columns; i++)
		if (*metric != NULL ? strcmp(t->names[i], *metric) == 0
				    : among(values, t->names[i]))
			break;
	if (i < t->columns) {
		t->roles[i] = ROLE_OBJECTIVE;
		*metric = t->names[i];
		return 0;
	}
	for (i = 0; i < t->columns; i++)
		buf_printf(&all, "%s%s", i > 0 ? ", " : "", t->names[i]);
	if (*metric != NULL)
		rc = err_set(e, ERR_USAGE, "%s: it has no column %s: %s",
		    t->file, *metric, buf_str(&all));
	else
		rc = err_set(e, ERR_USAGE,
		    "%s: name the column of the objective with --metric: %s",
		    t->file, buf_str(&all));
	buf_free(&all);
	return rc;
}

/* Which columns are parameters. */
static void
roles_find(struct table *t, const char *params)
{
	bool marked = false;
	size_t i;

	for (i = 0; i < t->columns; i++)
		marked = marked || behind_prefix(t->names[i]) != NULL;
	for (i = 0; i < t->columns; i++) {
		if (t->roles[i] != ROLE_NONE)
			continue;
		if (params != NULL)
			t->roles[i] = listed(params, t->names[i]) ? ROLE_PARAM
								  : ROLE_NONE;
		else if (marked)
			t->roles[i] = behind_prefix(t->names[i]) != NULL
					  ? ROLE_PARAM
					  : ROLE_NONE;
		else if (!among(others, t->names[i]) &&
			 !among(values, t->names[i]))
			t->roles[i] = ROLE_PARAM;
		if (t->roles[i] == ROLE_PARAM &&
		    (params != NULL || behind_prefix(t->names[i]) != NULL))
			continue;
		if (strcasecmp(t->names[i], "state") == 0)
			t->roles[i] = ROLE_STATE;
		else if (among(steps, t->names[i]))
			t->roles[i] = ROLE_STEP;
	}
}

static bool
number_of(const char *text, double *x)
{
	char *end;

	*x = strtod(text, &end);
	return end != text && *end == '\0';
}

/* A value as JSON: a number as it is written, true, false, or text. */
static void
value_put(
    struct json_writer *w, const char *name, const char *text, bool quoted)
{
	struct json_doc *doc;
	double x;

	if (!quoted &&
	    json_parse(&doc, text, strlen(text), NULL, false, NULL) == 0) {
		json_writer_raw(w, name, text);
		json_free(doc);
	} else if (strcasecmp(text, "true") == 0 ||
		   strcasecmp(text, "false") == 0)
		json_writer_bool(w, name, strcasecmp(text, "true") == 0);
	else if (!quoted && number_of(text, &x) && isfinite(x))
		json_writer_number(w, name, x);
	else
		json_writer_text(w, name, text);
}

static const char *
state_of(const char *text)
{
	static const char *const all[][4] = { { "completed", "complete",
						  "COMPLETE", "finished" },
		{ "stopped", "pruned", "PRUNED", "early_stopped" },
		{ "failed", "fail", "crashed", "ERROR" } };
	size_t i, k;

	for (i = 0; i < 3; i++)
		for (k = 0; k < 4; k++)
			if (strcasecmp(all[i][k], text) == 0)
				return all[i][0];
	return NULL;
}

/* The name of the parameter that is in a column. */
static void
column_name(struct buf *out, const char *column)
{
	const char *name = behind_prefix(column);

	import_put_name(out, name != NULL ? name : column);
}

static void
row_put(struct json_writer *w, const struct table *t)
{
	const char *state = "completed";
	struct buf clean = { 0 };
	double x;
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->roles[i] == ROLE_STATE)
			state = state_of(t->fields[i]);
	if (state == NULL)
		return;
	json_writer_object(w, NULL);
	json_writer_text(w, "state", state);
	for (i = 0; i < t->n; i++)
		if (number_of(t->fields[i], &x) && isfinite(x) &&
		    (t->roles[i] == ROLE_OBJECTIVE || t->roles[i] == ROLE_STEP))
			json_writer_number(w,
			    t->roles[i] == ROLE_STEP ? "step" : "objective", x);
	json_writer_object(w, "params");
	for (i = 0; i < t->n; i++) {
		if (t->roles[i] != ROLE_PARAM ||
		    (*t->fields[i] == '\0' && !t->quoted[i]))
			continue;
		buf_clear(&clean);
		column_name(&clean, t->names[i]);
		value_put(w, buf_str(&clean), t->fields[i], t->quoted[i]);
	}
	buf_free(&clean);
	json_writer_end(w);
	json_writer_end(w);
}

/* Two columns may become the same parameter. */
static int
names_check(const struct table *t, struct err *e)
{
	struct buf one = { 0 }, other = { 0 };
	size_t i, k;
	int rc = 0;

	for (i = 0; i < t->n && rc == 0; i++)
		for (k = 0; k < i && rc == 0; k++) {
			if (t->roles[i] != ROLE_PARAM ||
			    t->roles[k] != ROLE_PARAM)
				continue;
			buf_clear(&one);
			buf_clear(&other);
			column_name(&one, t->names[k]);
			column_name(&other, t->names[i]);
			if (strcmp(buf_str(&one), buf_str(&other)) == 0)
				rc = err_set(e, ERR_USAGE,
				    "%s: its columns %s and %s would both be "
				    "named %s",
				    t->file, t->names[k], t->names[i],
				    buf_str(&one));
		}
	buf_free(&one);
	buf_free(&other);
	return rc;
}

static int
table_read(struct table *t, struct buf *trials, const char **metric,
    const char *params, struct err *e)
{
	struct json_writer w = { .out = trials };
	size_t i, line = 1;

	if (!row_next(t) || t->n < 2)
		return err_set(e, ERR_USAGE,
		    "%s: its first line does not name columns", t->file);
	t->columns = t->n;
	for (i = 0; i < t->n; i++)
		t->names[i] = t->fields[i];
	if (objective_find(t, metric, e) != 0)
		return -1;
	roles_find(t, params);
	if (names_check(t, e) != 0)
		return -1;
	json_writer_array(&w, NULL);
	for (line = t->line + 1; row_next(t); line = t->line + 1) {
		if (t->n == 1 && *t->fields[0] == '\0')
			continue;
		if (t->n != t->columns)
			return err_set(e, ERR_USAGE,
			    "%s:%zu: it has %zu fields, and the first line "
			    "%zu",
			    t->file, line, t->n, t->columns);
		row_put(&w, t);
	}
	json_writer_end(&w);
	return 0;
}

int
import_csv(struct buf *trials, const char **metric, const char *params,
    char *text, const char *file, struct err *e)
{
	struct table *t = xcalloc(1, sizeof *t);
	int rc;

	if (strncmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
		text += 3;
	t->file = file;
	t->next = text;
	t->separator = separator_of(text);
	rc = table_read(t, trials, metric, params, e);
	free(t);
	return rc;
}
