/* Reads curves from a file of CSV, gzip or plain. */

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/gz/gz.h"
#include "src/base/mem.h"
#include "src/replay/curve-csv.h"
#include "src/replay/curve-file.h"

#define CSV_BYTES_MAX ((size_t)1 << 30)

enum { COLUMNS_MAX = 65536 };

/* Reads one line at a time, split into fields in place. */
struct reader {
	const char *path;
	char *next; /* rest of the text */
	size_t line;
	char **fields;
	size_t n, cap;
};

/* The format of the file, from its header. */
struct shape {
	int64_t *step; /* per column; -1 = not a report */
	size_t columns;
	int64_t last; /* step of the last report column */
	size_t reports;
	size_t trial, at, value; /* columns of the long format */
	size_t key; /* the column with the metric's name, when has_key */
	bool is_long, has_key;
	const char *metric; /* or NULL */
};

/* The columns of the long format, as tools name them. */
static const char *const trial_names[] = { "trial", "trial_id", "trial_number",
	"run_id", "run", "number", NULL };
static const char *const step_names[] = { "step", "_step", "epoch",
	"training_iteration", "iteration", NULL };
static const char *const key_names[] = { "metric", "key", "tag", NULL };

/* The curve of a trial, by its name. */
struct named {
	char *name;
	size_t curve;
};

struct names {
	void *tree; /* of struct named */
	const struct named *last;
};

/* Remove the quotes of a field that begins with one; returns what follows it. */
static char *
field_unquote(char *field)
{
	char *from = field + 1, *to = field;

	while (*from != '\0' && (*from != '"' || from[1] == '"')) {
		from += *from == '"';
		*to++ = *from++;
	}
	from += *from == '"';
	from += strcspn(from, ",");
	*to = '\0';
	return *from == ',' ? from + 1 : NULL;
}

/* The next field of the line; false at its end. */
static bool
field_cut(char **rest, char **field)
{
	char *p = *rest, *end;

	if (p == NULL)
		return false;
	while (*p == ' ' || *p == '\t')
		p++;
	*field = p;
	if (*p == '"') {
		*rest = field_unquote(p);
		return true;
	}
	end = p + strcspn(p, ",");
	*rest = *end == ',' ? end + 1 : NULL;
	*end = '\0';
	while (end > p && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return true;
}

/* The next line that is not empty; false at the end. */
static bool
reader_line(struct reader *r)
{
	char *line, *field;

	do {
		line = r->next;
		if (*line == '\0')
			return false;
		r->next = line + strcspn(line, "\n");
		if (*r->next == '\n')
			*r->next++ = '\0';
		r->line++;
	} while (line[strspn(line, " \t\r")] == '\0');
	for (r->n = 0; field_cut(&line, &field); r->n++) {
		XGROW(r->fields, r->n, r->cap);
		r->fields[r->n] = field;
	}
	return true;
}

static int
reader_err(const struct reader *r, struct err *e, const char *what)
{
	return err_set(e, ERR_USAGE, "%s:%zu: %s", r->path, r->line, what);
}

/* The step that a column is named after, or -1. */
static int64_t
column_step(const char *name)
{
	char *end;
	long long step;

	if (*name == 's')
		name++;
	if (!isdigit((unsigned char)*name))
		return -1;
	errno = 0;
	step = strtoll(name, &end, 10);
	return *end == '\0' && errno == 0 ? step : -1;
}

static bool
column_find(const struct reader *r, const char *name, size_t *at)
{
	for (*at = 0; *at < r->n; ++*at)
		if (strcasecmp(r->fields[*at], name) == 0)
			return true;
	return false;
}

static bool
column_find_any(const struct reader *r, const char *const *names, size_t *at)
{
	for (; *names != NULL; names++)
		if (column_find(r, *names, at))
			return true;
	return false;
}

/* Whether a row is a report. */
static bool
shape_long(struct shape *s, const struct reader *r)
{
	if (!column_find_any(r, trial_names, &s->trial) ||
	    !column_find_any(r, step_names, &s->at))
		return false;
	if (s->metric != NULL && column_find(r, s->metric, &s->value))
		return true;
	if (!column_find(r, "value", &s->value))
		return false;
	s->has_key = column_find_any(r, key_names, &s->key);
	return s->has_key || s->metric == NULL;
}

static int
shape_read(struct shape *s, const struct reader *r, struct err *e)
{
	size_t i;

	s->columns = r->n;
	if (r->n > COLUMNS_MAX)
		return reader_err(r, e, "too many columns");
	s->is_long = shape_long(s, r);
	if (s->is_long)
		return 0;
	if (s->metric != NULL)
		return err_set(e, ERR_USAGE,
		    "%s:%zu: expected columns for the trial, the step and "
		    "\"%s\"",
		    r->path, r->line, s->metric);
	s->step = xcalloc(r->n, sizeof(*s->step));
	for (i = 0; i < r->n; i++) {
		s->step[i] = column_step(r->fields[i]);
		if (s->step[i] < 0)
			continue;
		if (s->reports > 0 && s->step[i] <= s->last)
			return reader_err(r, e, "the steps do not ascend");
		s->last = s->step[i];
		s->reports++;
	}
	if (s->reports == 0)
		return reader_err(r, e,
		    "expected columns s0, s1, … or trial, step, value; "
		    "--metric NAME reads the values of another column");
	return 0;
}

static bool
curve_csv_number_read(const char *text, double *v)
{
	char *end;

	*v = strtod(text, &end);
	return *text != '\0' && *end == '\0';
}

/* One row, one curve. */
static int
wide_row(struct curve_file *b, const struct shape *s, struct reader *r,
    struct err *e)
{
	struct curve_file_curve *c;
	double v;
	size_t i;

	if (r->n != s->columns)
		return reader_err(r, e, "expected as many fields as columns");
	c = curve_file_begin(b);
	for (i = 0; i < r->n; i++) {
		if (s->step[i] < 0 || *r->fields[i] == '\0')
			continue;
		if (!curve_csv_number_read(r->fields[i], &v))
			return reader_err(r, e, "expected numbers");
		curve_file_report(b, c, s->step[i], v);
	}
	return 0;
}

static int
named_order(const void *a, const void *b)
{
	return strcmp(
	    ((const struct named *)a)->name, ((const struct named *)b)->name);
}

static void
named_free(void *named)
{
	struct named *n = named;

	free(n->name);
	free(n);
}

/* The curve of the trial with this name, a new one the first time. */
static struct curve_file_curve *
trial_curve(struct curve_file *b, struct names *names, char *name)
{
	struct named key = { .name = name }, *found, *made, **at;

	if (names->last != NULL && strcmp(names->last->name, name) == 0)
		return &b->curves[names->last->curve];
	at = tfind(&key, &names->tree, named_order);
	if (at != NULL)
		found = *at;
	else {
		made = xcalloc(1, sizeof *made);
		*made = (struct named){ xstrdup(name), b->n };
		(void)curve_file_begin(b);
		if (tsearch(made, &names->tree, named_order) == NULL)
			mem_fail();
		found = made;
	}
	names->last = found;
	return &b->curves[found->curve];
}

/* Whether the row has the metric; the first row decides which if none is said. */
static int
row_metric(struct shape *s, const struct reader *r, char **seen, bool *is,
    struct err *e)
{
	const char *key = s->has_key ? r->fields[s->key] : NULL;

	*is = key == NULL || (s->metric != NULL && strcmp(key, s->metric) == 0);
	if (*is || s->metric != NULL)
		return 0;
	if (*seen == NULL)
		*seen = xstrdup(key);
	*is = strcmp(*seen, key) == 0;
	if (!*is)
		return err_set(e, ERR_USAGE,
		    "%s:%zu: there are several metrics, \"%s\" and \"%s\": "
		    "choose one with --metric",
		    r->path, r->line, *seen, key);
	return 0;
}

/* One row, one report. */
static int
long_row(struct curve_file *b, const struct shape *s, struct reader *r,
    struct names *names, struct err *e)
{
	struct curve_file_curve *c;
	double step, v;

	if (*r->fields[s->value] == '\0')
		return 0;
	if (*r->fields[s->trial] == '\0' ||
	    !curve_csv_number_read(r->fields[s->at], &step) ||
	    !(fabs(step) <= 9e15) ||
	    !curve_csv_number_read(r->fields[s->value], &v))
		return reader_err(
		    r, e, "expected a trial and two numbers, step and value");
	if (step != floor(step))
		return reader_err(r, e, "a step is a whole number");
	c = trial_curve(b, names, r->fields[s->trial]);
	if (c->n > 0 && (int64_t)step <= c->steps[c->n - 1])
		return reader_err(r, e, "the steps of a trial do not ascend");
	curve_file_report(b, c, (int64_t)step, v);
	return 0;
}

static int
long_rows(
    struct curve_file *b, struct shape *s, struct reader *r, struct err *e)
{
	struct names names = { 0 };
	char *seen = NULL;
	bool is = false;
	int rc = 0;

	while (rc == 0 && reader_line(r)) {
		if (r->n != s->columns) {
			rc = reader_err(
			    r, e, "expected as many fields as columns");
			break;
		}
		rc = row_metric(s, r, &seen, &is, e);
		if (rc == 0 && is)
			rc = long_row(b, s, r, &names, e);
	}
	tdestroy(names.tree, named_free);
	free(seen);
	if (rc == 0 && b->n == 0 && s->metric != NULL)
		return err_set(e, ERR_USAGE, "%s: no report of \"%s\"", r->path,
		    s->metric);
	return rc;
}

static int
csv_rows(struct curve_file *b, struct reader *r, struct shape *s, struct err *e)
{
	int rc = 0;

	if (!reader_line(r))
		return err_set(e, ERR_USAGE, "%s: empty", r->path);
	if (shape_read(s, r, e) != 0)
		return -1;
	if (s->is_long)
		return long_rows(b, s, r, e);
	while (rc == 0 && reader_line(r))
		rc = wide_row(b, s, r, e);
	return rc;
}

int
curve_csv_read(
    struct curve_file *b, const char *path, const char *metric, struct err *e)
{
	struct reader r = { .path = path };
	struct shape s = { .metric = metric };
	char *text;
	size_t len;
	int rc;

	if (gz_load(&text, &len, path, CSV_BYTES_MAX, e) != 0)
		return -1;
	r.next = text;
	/* Of a file it was seen before; a pipe cannot be read as one. */
	if (strncmp(text, "SQLite format 3", len < 15 ? len : 15) == 0 &&
	    len > 15)
		rc = err_set(e, ERR_USAGE,
		    "%s: a database is read from its file, not from a pipe: "
		    "give its path",
		    path);
	else
		rc = csv_rows(b, &r, &s, e);
	free(s.step);
	free(r.fields);
	free(text);
	return rc;
}
