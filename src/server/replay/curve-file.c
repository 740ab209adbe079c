/* Curves in memory, and their readers: CSV, and TensorBoard event files. */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/gz.h"
#include "src/base/mem.h"
#include "src/base/tfevents.h"
#include "src/server/replay/curve-file.h"

/* Both arrays grow at powers of two. */
static bool
is_full(size_t n)
{
	return (n & (n - 1)) == 0;
}

struct curve_file_curve *
curve_file_begin(struct curve_file *b)
{
	if (is_full(b->n))
		b->curves =
		    xreallocarray(b->curves, b->n * 2 + 1, sizeof(*b->curves));
	b->curves[b->n] = (struct curve_file_curve){ 0 };
	return &b->curves[b->n++];
}

static void
curve_file_lengthen(
    struct curve_file *b, const struct curve_file_curve *c, int64_t step)
{
	int64_t before = c->n > 0 ? c->steps[c->n - 1] : step, more = 0;

	if (step > before && (b->interval == 0 || step - before < b->interval))
		b->interval = step - before;
	b->from_zero = b->from_zero || (c->n == 0 && step == 0);
	b->last_step = step > b->last_step ? step : b->last_step;
	if (b->from_zero)
		more = b->interval > 0 ? b->interval : 1;
	b->max_steps =
	    b->last_step <= INT64_MAX - more ? b->last_step + more : INT64_MAX;
}

int64_t
curve_file_last_step(const struct curve_file *b)
{
	return b->last_step < b->max_steps ? b->last_step : 0;
}

void
curve_file_report(struct curve_file *b, struct curve_file_curve *c,
    int64_t step, double value)
{
	curve_file_lengthen(b, c, step);
	if (is_full(c->n)) {
		c->steps =
		    xreallocarray(c->steps, c->n * 2 + 1, sizeof(*c->steps));
		c->values =
		    xreallocarray(c->values, c->n * 2 + 1, sizeof(*c->values));
	}
	c->steps[c->n] = step;
	c->values[c->n++] = value;
}

/* Of the longest curve. */
static size_t
most_reports(const struct curve_file *b)
{
	size_t i, most = 0;

	for (i = 0; i < b->n; i++)
		most = b->curves[i].n > most ? b->curves[i].n : most;
	return most;
}

/* ---- CSV ---------------------------------------------------------------- */

#define BANK_BYTES_MAX ((size_t)1 << 30)

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
number_read(const char *text, double *v)
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
		if (!number_read(r->fields[i], &v))
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
			abort();
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
	    !number_read(r->fields[s->at], &step) || !(fabs(step) <= 9e15) ||
	    !number_read(r->fields[s->value], &v))
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

/* Fill an empty one from a CSV file; on -1 the caller frees it. */
static int
curve_csv_read(
    struct curve_file *b, const char *path, const char *metric, struct err *e)
{
	struct reader r = { .path = path };
	struct shape s = { .metric = metric };
	char *text;
	size_t len;
	int rc;

	if (gz_load(&text, &len, path, BANK_BYTES_MAX, e) != 0)
		return -1;
	r.next = text;
	rc = csv_rows(b, &r, &s, e);
	free(s.step);
	free(r.fields);
	free(text);
	return rc;
}

/* ---- TensorBoard event files -------------------------------------------- */

#define EVENTS_BYTES_MAX ((size_t)1 << 30)

enum { FOLDERS_DEEP = 16 };

/* One report of a trial, in the order in which it was written. */
struct scalar {
	int64_t step;
	size_t order;
	double value;
};

struct events {
	struct curve_file *bank;
	const char *metric; /* as given, or NULL */
	char *tag; /* the only one that was seen, owned */
	char *other; /* another one, owned */
	struct scalar *list; /* of the trial that is read */
	size_t n, cap;
};

static void
on_scalar(void *arg, const struct tfevents_scalar *s)
{
	struct events *v = arg;
	const char *want = v->metric != NULL ? v->metric : v->tag;

	if (want == NULL)
		want = v->tag = xstrndup(s->tag, s->tag_len);
	if (strlen(want) != s->tag_len ||
	    memcmp(want, s->tag, s->tag_len) != 0) {
		if (v->metric == NULL && v->other == NULL)
			v->other = xstrndup(s->tag, s->tag_len);
		return;
	}
	if (s->step < 0)
		return;
	XGROW(v->list, v->n, v->cap);
	v->list[v->n] = (struct scalar){
		.step = s->step, .order = v->n, .value = s->value
	};
	v->n++;
}

/* All whole records of a file; what is damaged is passed over. */
static int
events_file(struct events *v, const char *path, struct err *e)
{
	struct tfevents_record record;
	enum tfevents_status is;
	char *bytes;
	size_t len, at = 0;

	if (gz_load(&bytes, &len, path, EVENTS_BYTES_MAX, e) != 0)
		return -1;
	for (;;) {
		is = tfevents_record_read(&record, bytes + at, len - at);
		if (is == TFEVENTS_RECORD)
			(void)tfevents_scalars(
			    record.data, record.len, on_scalar, v);
		else if (is != TFEVENTS_BAD_DATA)
			break;
		at += (size_t)record.size;
	}
	free(bytes);
	return 0;
}

/* By step; of one step, as written. */
static int
scalar_order(const void *a, const void *b)
{
	const struct scalar *x = a, *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* The reports of the folder become a curve; the last one of a step counts. */
static void
events_curve(struct events *v)
{
	struct curve_file_curve *c;
	size_t i;

	if (v->n == 0)
		return;
	qsort(v->list, v->n, sizeof *v->list, scalar_order);
	c = curve_file_begin(v->bank);
	for (i = 0; i < v->n; i++)
		if (i + 1 == v->n || v->list[i + 1].step != v->list[i].step)
			curve_file_report(
			    v->bank, c, v->list[i].step, v->list[i].value);
	v->n = 0;
}

static int
entry_wanted(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int
events_folder(struct events *, const char *folder, int depth, struct err *);

/* An entry of a folder: files first, then the folders in it. */
static int
events_entry(struct events *v, const char *folder, const char *name,
    bool folders, int depth, struct err *e)
{
	char *path = xasprintf("%s/%s", folder, name);
	struct stat st;
	int rc = 0;

	if (lstat(path, &st) == 0) {
		if (folders && S_ISDIR(st.st_mode))
			rc = events_folder(v, path, depth + 1, e);
		else if (!folders && S_ISREG(st.st_mode) &&
			 strstr(name, "tfevents") != NULL)
			rc = events_file(v, path, e);
	}
	free(path);
	return rc;
}

static int
events_folder(struct events *v, const char *folder, int depth, struct err *e)
{
	struct dirent **list;
	int n, i, rc = 0;

	if (depth > FOLDERS_DEEP)
		return 0;
	n = scandir(folder, &list, entry_wanted, alphasort);
	if (n == -1)
		return err_set(e, ERR_USAGE, "%s: %s", folder, strerror(errno));
	for (i = 0; i < n && rc == 0; i++)
		rc = events_entry(v, folder, list[i]->d_name, false, depth, e);
	events_curve(v);
	for (i = 0; i < n && rc == 0; i++)
		rc = events_entry(v, folder, list[i]->d_name, true, depth, e);
	for (i = 0; i < n; i++)
		free(list[i]);
	free(list);
	return rc;
}

/* The same from a folder of TensorBoard event files. */
static int
curve_events_read(
    struct curve_file *b, const char *folder, const char *metric, struct err *e)
{
	struct events v = { .bank = b, .metric = metric };
	int rc = events_folder(&v, folder, 0, e);

	if (rc == 0 && v.other != NULL)
		rc = err_set(e, ERR_USAGE,
		    "%s: there are several metrics, \"%s\" and \"%s\": choose "
		    "one with --metric",
		    folder, v.tag, v.other);
	else if (rc == 0 && b->n == 0)
		rc = metric != NULL
			 ? err_set(e, ERR_USAGE,
			       "%s: no event file has a report of \"%s\"",
			       folder, metric)
			 : err_set(e, ERR_USAGE,
			       "%s: no event file has a report", folder);
	free(v.tag);
	free(v.other);
	free(v.list);
	return rc;
}

/* ---- a file or a folder ------------------------------------------------- */

int
curve_file_load(
    struct curve_file *b, const char *path, const char *metric, struct err *e)
{
	struct stat st;
	int rc;

	*b = (struct curve_file){ 0 };
	if (stat(path, &st) == -1)
		return err_set(e, ERR_USAGE, "%s: %s", path, strerror(errno));
	rc = S_ISDIR(st.st_mode) ? curve_events_read(b, path, metric, e)
				 : curve_csv_read(b, path, metric, e);
	if (rc == 0 && b->n == 0)
		rc = err_set(e, ERR_USAGE, "%s: no curves", path);
	else if (rc == 0 && most_reports(b) < 2)
		rc = err_set(e, ERR_USAGE,
		    "%s: each trial has one report: there is nothing that a "
		    "rule could save",
		    path);
	if (rc == -1)
		curve_file_free(b);
	return rc;
}

void
curve_file_free(struct curve_file *b)
{
	size_t i;

	for (i = 0; i < b->n; i++) {
		free(b->curves[i].steps);
		free(b->curves[i].values);
	}
	free(b->curves);
	*b = (struct curve_file){ 0 };
}
