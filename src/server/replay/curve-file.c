/* Reads CSV files of curves. */

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/gz.h"
#include "src/base/mem.h"
#include "src/server/replay/curve-file.h"

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
	bool is_long;
};

/* The next field of the line; false at its end. */
static bool
field_cut(char **rest, char **field)
{
	char *p = *rest, *end;

	if (p == NULL)
		return false;
	while (*p == ' ' || *p == '\t')
		p++;
	end = p + strcspn(p, ",");
	*rest = *end == ',' ? end + 1 : NULL;
	*end = '\0';
	while (end > p && isspace((unsigned char)end[-1]))
		*--end = '\0';
	if (end - p >= 2 && *p == '"' && end[-1] == '"') {
		*--end = '\0';
		p++;
	}
	*field = p;
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
		if (strcmp(r->fields[*at], name) == 0)
			return true;
	return false;
}

static int
shape_read(struct shape *s, const struct reader *r, struct err *e)
{
	size_t i;

	s->columns = r->n;
	if (r->n > COLUMNS_MAX)
		return reader_err(r, e, "too many columns");
	if (column_find(r, "trial", &s->trial) &&
	    column_find(r, "step", &s->at) &&
	    column_find(r, "value", &s->value)) {
		s->is_long = true;
		return 0;
	}
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
		return reader_err(
		    r, e, "expected columns s0, s1, … or trial, step, value");
	return 0;
}

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
		return reader_err(r, e, "as many fields as columns expected");
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

/* One row, one report: of the current curve or of a new one. */
static int
long_row(struct curve_file *b, const struct shape *s, struct reader *r,
    double *last, struct err *e)
{
	struct curve_file_curve *c;
	double trial, step, v;

	if (r->n != s->columns || !number_read(r->fields[s->trial], &trial) ||
	    !number_read(r->fields[s->at], &step) || fabs(step) > 9e15 ||
	    !number_read(r->fields[s->value], &v))
		return reader_err(r, e, "expected three numbers");
	c = b->n == 0 || trial != *last ? curve_file_begin(b)
					: &b->curves[b->n - 1];
	*last = trial;
	if (c->n > 0 && (int64_t)step <= c->steps[c->n - 1])
		return reader_err(r, e, "the steps of a trial do not ascend");
	curve_file_report(b, c, (int64_t)step, v);
	return 0;
}

static int
curve_file_read(
    struct curve_file *b, struct reader *r, struct shape *s, struct err *e)
{
	double last = NAN;
	int rc = 0;

	if (!reader_line(r))
		return err_set(e, ERR_USAGE, "%s: empty", r->path);
	if (shape_read(s, r, e) != 0)
		return -1;
	while (rc == 0 && reader_line(r))
		rc = s->is_long ? long_row(b, s, r, &last, e)
				: wide_row(b, s, r, e);
	if (rc == 0 && b->n == 0)
		return err_set(e, ERR_USAGE, "%s: no curves", r->path);
	return rc;
}

int
curve_file_load(struct curve_file *b, const char *path, struct err *e)
{
	struct reader r = { .path = path };
	struct shape s = { 0 };
	char *text;
	size_t len;
	int rc;

	*b = (struct curve_file){ 0 };
	if (gz_load(&text, &len, path, BANK_BYTES_MAX, e) != 0)
		return -1;
	r.next = text;
	rc = curve_file_read(b, &r, &s, e);
	if (rc == -1)
		curve_file_free(b);
	free(s.step);
	free(r.fields);
	free(text);
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
