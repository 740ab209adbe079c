/* What all sections write: a heading, a note, a table. */

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/html/section.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/view/rows.h"
#include "src/view/sparkline.h"

enum {
	COLUMNS = 8, /* up to so many parameters have a column each */
	JITTERED = 12 /* up to so many values are drawn as columns of marks */
};

void
section_begin(struct html *h, const char *title)
{
	html_open(h, "section");
	html_leaf(h, "h2", NULL, title);
}

void
section_end(struct html *h)
{
	html_close(h, "section");
}

void
section_note(struct html *h, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	html_leaf(h, "p", "note", line);
}

const char *
section_verdict(const char *verdict)
{
#define MEANING(name, meaning) { name, meaning },
	static const struct {
		const char *name, *meaning;
	} verdicts[] = { SECTION_VERDICTS(MEANING) };
#undef MEANING
	size_t i;

	for (i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
		if (strcmp(verdicts[i].name, verdict) == 0)
			return verdicts[i].meaning;
	return NULL;
}

bool
section_params_part(const struct page *r)
{
	return r->study->space->n <= COLUMNS;
}

void
section_trial_link(struct page *r, const char *number, const char *text)
{
	if (r->links != NULL) {
		html_open(&r->h, "a");
		html_attrf(&r->h, "href", "%s/trial/%s", r->links, number);
	}
	html_text(&r->h, text);
	if (r->links != NULL)
		html_close(&r->h, "a");
}

bool
section_param_is_number(const struct page *r, size_t i)
{
	const struct param *p = &r->study->space->params[i];

	return p->type == PARAM_FLOAT || p->type == PARAM_INT;
}

double
section_param_jitter(const struct param *p, int64_t number)
{
	uint64_t levels = param_levels(p);

	if (levels == 0 || levels > JITTERED)
		return 0;
	return (fmod((double)number * 0.6180339887498949, 1) - 0.5) * 0.6 /
	       (double)levels;
}

/* A cell for each parameter: all to h, or each to an html of its own from h. */
static void
section_params_put(struct page *r, struct html *h, bool apart, const char *json)
{
	const struct space *space = r->study->space;
	const struct json *value;
	struct json_doc *doc = NULL;
	struct buf text = { 0 };
	double number;
	size_t i;

	(void)json_parse(&doc, json, strlen(json), NULL, false, NULL);
	for (i = 0; i < space->n; i++) {
		value = doc == NULL
			    ? NULL
			    : json_get(json_root(doc), space->params[i].name);
		if (value != NULL && json_number(value, &number))
			rows_put_number(&text, number, 5);
		else if (value != NULL && json_string(value) != NULL)
			buf_puts(&text, json_string(value));
		else if (value != NULL)
			json_write(&text, value);
		html_leaf(apart ? h + i : h, "td",
		    apart || section_param_is_number(r, i) ? "n" : NULL,
		    buf_str(&text));
		buf_clear(&text);
	}
	json_free(doc);
	buf_free(&text);
}

/* The number of a trial, which leads to its page where there is one. */
static void
section_trial_put(struct page *r, const char *number)
{
	struct html *h = &r->h;

	html_open(h, "td");
	html_attr(h, "class", "n");
	section_trial_link(r, number, number);
	html_close(h, "td");
}

static bool
is_trial(const struct section_column *column)
{
	return strcmp(column->head, "trial") == 0;
}

static void
section_cell_put(struct page *r, const struct store_rows *rows, int col,
    const struct section_column *column)
{
	struct buf text = { 0 };
	const char *s = store_rows_text(rows, col);

	if (is_trial(column)) {
		section_trial_put(r, s);
		return;
	}
	switch (column->kind) {
	case COLUMN_TEXT:
	case COLUMN_WORD:
		html_leaf(
		    &r->h, "td", column->kind == COLUMN_WORD ? "w" : NULL, s);
		break;
	case COLUMN_NUMBER:
		if (s != NULL && strspn(s, "-0123456789") == strlen(s))
			buf_puts(&text, s);
		else if (s != NULL)
			rows_put_number(
			    &text, store_rows_real(rows, col), PAGE_DIGITS);
		html_leaf(&r->h, "td", "n", buf_str(&text));
		break;
	case COLUMN_PARAMS:
		if (section_params_part(r)) {
			section_params_put(r, &r->h, false, s);
			break;
		}
		rows_put_params(&text, s, 5);
		html_leaf(&r->h, "td", NULL, buf_str(&text));
		break;
	}
	buf_free(&text);
}

static void
section_heading_put(struct html *h, const char *text, bool number)
{
	html_open(h, "th");
	html_attr(h, "scope", "col");
	if (number)
		html_attr(h, "class", "n");
	html_text(h, text);
	html_close(h, "th");
}

/* A table that is scrolled sideways, up to its heads or its first row. */
static void
table_open(struct html *h, bool heads)
{
	html_open(h, "div");
	html_attr(h, "class", "wide");
	html_open(h, "table");
	html_open(h, heads ? "thead" : "tbody");
	if (heads)
		html_open(h, "tr");
}

static void
heads_close(struct html *h)
{
	html_close(h, "tr");
	html_close(h, "thead");
	html_open(h, "tbody");
}

static void
table_close(struct html *h)
{
	html_close(h, "tbody");
	html_close(h, "table");
	html_close(h, "div");
}

void
section_rows_open(
    struct page *r, const struct section_column *columns, size_t n)
{
	const struct space *space = r->study->space;
	struct html *h = &r->h;
	size_t i, k;

	table_open(h, true);
	for (i = 0; i < n; i++)
		if (columns[i].kind == COLUMN_PARAMS && section_params_part(r))
			for (k = 0; k < space->n; k++)
				section_heading_put(h, space->params[k].name,
				    section_param_is_number(r, k));
		else
			section_heading_put(h, columns[i].head,
			    columns[i].kind == COLUMN_NUMBER);
	heads_close(h);
}

void
section_rows_close(struct page *r)
{
	table_close(&r->h);
}

void
section_cells(struct page *r, const struct store_rows *rows,
    const struct section_column *columns, size_t first, size_t n)
{
	size_t i;

	for (i = first; i < n; i++)
		section_cell_put(r, rows, (int)i, &columns[i]);
}

int
section_table(struct page *r, const char *sql,
    const struct section_column *columns, size_t n, size_t *count,
    struct err *e)
{
	struct store_rows *rows;
	int rc;

	*count = 0;
	if (store_rows_open(&rows, r->store, sql, NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		if ((*count)++ == 0)
			section_rows_open(r, columns, n);
		html_open(&r->h, "tr");
		if (is_trial(&columns[0]))
			html_attr(
			    &r->h, "data-trial", store_rows_text(rows, 0));
		section_cells(r, rows, columns, 0, n);
		html_close(&r->h, "tr");
	}
	store_rows_close(rows);
	if (*count > 0)
		table_close(&r->h);
	return rc;
}

/* A line of the turned table: its head, then a cell of each column. */
static void
section_line_put(struct html *h, const char *head, struct html *cells)
{
	html_open(h, "tr");
	html_open(h, "th");
	html_attr(h, "scope", "row");
	html_text(h, head);
	html_close(h, "th");
	buf_add(&h->out, cells->out.data, cells->out.len);
	html_close(h, "tr");
	buf_free(&cells->out);
}

int
section_table_turned(struct page *r, const char *sql,
    const struct section_column *columns, size_t n, size_t most, size_t *count,
    struct err *e)
{
	const struct space *space = r->study->space;
	struct html *lines = xcalloc(n + space->n, sizeof *lines), page;
	struct store_rows *rows;
	size_t i;
	int rc;

	*count = 0;
	rc = store_rows_open(&rows, r->store, sql, NULL, e);
	while (
	    rc == 0 && *count < most && (rc = store_rows_next(rows, e)) == 1) {
		rc = 0;
		(*count)++;
		page = r->h;
		for (i = 0; i + 1 < n; i++) {
			r->h = lines[i];
			section_cell_put(r, rows, (int)i, &columns[i]);
			lines[i] = r->h;
		}
		r->h = page;
		section_params_put(
		    r, lines + n - 1, true, store_rows_text(rows, (int)n - 1));
	}
	store_rows_close(rows);
	table_open(&r->h, false);
	for (i = 0; i + 1 < n; i++)
		section_line_put(&r->h, columns[i].head, &lines[i]);
	for (i = 0; i < space->n; i++)
		section_line_put(
		    &r->h, space->params[i].name, &lines[n - 1 + i]);
	table_close(&r->h);
	free(lines);
	return rc == -1 ? -1 : 0;
}

void
section_values_open(
    struct html *h, const char *const *heads, size_t n, const char *title)
{
	size_t i;

	html_open(h, "details");
	html_attr(h, "class", "values");
	html_leaf(h, "summary", NULL, title);
	table_open(h, true);
	for (i = 0; i < n; i++)
		section_heading_put(h, heads[i], false);
	heads_close(h);
}

void
section_values_row(struct html *h, const char *const *cells, size_t n)
{
	size_t i;

	html_open(h, "tr");
	for (i = 0; i < n; i++)
		html_leaf(h, "td", NULL, cells[i]);
	html_close(h, "tr");
}

void
section_values_close(struct html *h)
{
	table_close(h);
	html_close(h, "details");
}

const char *const section_line_classes[SECTION_LINE_CLASSES] = { "study s0",
	"study s1", "study s2", "study s3", "study s4", "study s5", "study s6",
	"study s7" };
const char *const section_line_heads[SECTION_LINE_COLUMNS] = { "trial", "state",
	"last step", "value there", "least", "greatest" };

void
section_line_row(struct html *h, const struct page_trial *t, const char *name,
    const struct sparkline *s)
{
	double least = NAN, greatest = NAN;
	const char *cells[SECTION_LINE_COLUMNS];
	struct buf texts[SECTION_LINE_COLUMNS] = { { 0 } };
	size_t i;

	if (s->n == 0)
		return;
	for (i = 0; i < s->n; i++) {
		least = fmin(least, s->values[i]);
		greatest = fmax(greatest, s->values[i]);
	}
	if (t == NULL)
		buf_puts(&texts[0], name);
	else {
		buf_printf(&texts[0], "%" PRId64, t->number);
		buf_puts(&texts[1], trial_state_name(t->state));
	}
	buf_printf(&texts[2], "%" PRId64, s->steps[s->n - 1]);
	rows_put_number(&texts[3], s->values[s->n - 1], PAGE_DIGITS);
	rows_put_number(&texts[4], least, PAGE_DIGITS);
	rows_put_number(&texts[5], greatest, PAGE_DIGITS);
	for (i = 0; i < SECTION_LINE_COLUMNS; i++)
		cells[i] = buf_str(&texts[i]);
	section_values_row(h, cells, SECTION_LINE_COLUMNS);
	for (i = 0; i < SECTION_LINE_COLUMNS; i++)
		buf_free(&texts[i]);
}
