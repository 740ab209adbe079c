/* Queries and writes the table of trials. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/html/page-data.h"
#include "src/html/section.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/view/rows.h"
#include "src/web/web-address.h"
#include "src/web/web-filter.h"
#include "src/web/web-page.h"
#include "src/web/web-table.h"

enum {
	ROWS = 50,
	FIXED = 8,
	WHY = FIXED - 1,
	CHOSEN = 48 /* columns at most */
};

/* Columns of the view trials that are shown, and others that a filter names. */
static const struct web_filter_column fixed[] = { { "trial", "trial" },
	{ "state", "state" }, { "objective", "objective" }, { "step", "step" },
	{ "seconds", "seconds" }, { "attempts", "attempts" },
	{ "started", "started" }, { "why", "why" }, { "reports", "reports" },
	{ "backend", "backend" }, { "ended", "ended" }, { "cost", "cost" },
	{ "gpu_seconds", "gpu_seconds" }, { "note", "note" },
	{ "tags", "tags" }, { "forgotten", "forgotten" } };

/* How they are written, in the same order: number, word, text. */
static const char fixed_kinds[] = "nwnnnnwtnwwnnttn";

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

struct table {
	struct page *r;
	const char *study;
	const struct web_address *address;
	/* fixed, metric, parameters, and these again as params.NAME */
	struct web_filter_column *columns;
	size_t n;
	const char *sort; /* SQL of the column */
	const char *sort_name;
	bool down;
	size_t chosen[CHOSEN], n_chosen; /* of columns; 0 = the usual ones */
	size_t left_out; /* parameters without a column among the usual ones */
	char *where; /* SQL; NULL = all */
	int64_t all, page;
};

static void
web_table_columns_make(struct table *t)
{
	const struct space *space = t->r->study->space;
	struct web_filter_column *again;
	struct buf b = { 0 };
	size_t i;

	t->columns =
	    xcalloc(COUNT(fixed) + 2 * space->n + 2, sizeof *t->columns);
	for (i = 0; i < COUNT(fixed); i++)
		t->columns[t->n++] = fixed[i];
	t->columns[t->n].name = t->r->study->metric;
	t->columns[t->n++].sql = "objective";
	again = t->columns + t->n + space->n;
	for (i = 0; i < space->n; i++) {
		buf_puts(
		    &b, "(SELECT value FROM json_each(params) WHERE key = ");
		web_filter_put_text(
		    &b, space->params[i].name, strlen(space->params[i].name));
		buf_putc(&b, ')');
		t->columns[t->n].name = space->params[i].name;
		t->columns[t->n].sql = buf_take(&b);
		again[i].name = xasprintf("params.%s", space->params[i].name);
		again[i].sql = t->columns[t->n++].sql;
	}
	t->n += space->n;
}

/* What a parameter is named in the address: params.NAME when NAME is taken. */
static const char *
web_table_param_name(const struct table *t, size_t i)
{
	const char *name = t->r->study->space->params[i].name;
	size_t k, first = COUNT(fixed) + 1;

	for (k = 0; k < first; k++)
		if (strcmp(t->columns[k].name, name) == 0)
			return t->columns[first + t->r->study->space->n + i]
			    .name;
	return name;
}

/* Column i of those that can be chosen, from 1 on; false: there is none. */
static bool
web_table_choice_at(
    const struct table *t, size_t i, size_t *column, const char **name)
{
	size_t n = COUNT(fixed);

	*column = i < n ? i : i + 1; /* the metric is the objective */
	if (i >= n + t->r->study->space->n)
		return false;
	*name = i < n ? fixed[i].name : web_table_param_name(t, i - n);
	return true;
}

static bool
web_table_is_chosen(const struct table *t, const char *name)
{
	const char *s;
	size_t i;

	for (i = 0; (s = web_address_param(t->address, "column", i)) != NULL;
	     i++)
		if (strcmp(s, name) == 0)
			return true;
	return false;
}

static void
web_table_chosen_read(struct table *t)
{
	const char *name;
	size_t i, column;

	for (i = 1;
	     t->n_chosen < CHOSEN && web_table_choice_at(t, i, &column, &name);
	     i++)
		if (web_table_is_chosen(t, name))
			t->chosen[t->n_chosen++] = column;
}

/*
 * The usual columns of a study with many parameters: each has a column here,
 * too, as far as there is room.
 */
static void
web_table_usual_read(struct table *t)
{
	size_t i;

	for (i = 1; i < FIXED - 1; i++)
		t->chosen[t->n_chosen++] = i;
	for (i = 0; i < t->r->study->space->n && t->n_chosen < CHOSEN - 1; i++)
		t->chosen[t->n_chosen++] = COUNT(fixed) + 1 + i;
	t->left_out = t->r->study->space->n - i;
	t->chosen[t->n_chosen++] = WHY;
}

static struct section_column
web_table_column_kind(const struct table *t, size_t column)
{
	struct section_column out = { t->columns[column].name, COLUMN_TEXT };

	if (column < COUNT(fixed))
		out.kind = fixed_kinds[column] == 'n'	? COLUMN_NUMBER
			   : fixed_kinds[column] == 'w' ? COLUMN_WORD
							: COLUMN_TEXT;
	else if (section_param_is_number(t->r, column - COUNT(fixed) - 1))
		out.kind = COLUMN_NUMBER;
	return out;
}

static void
web_table_fini(struct table *t)
{
	size_t i, n = t->r->study->space->n, first = COUNT(fixed) + 1;

	for (i = first; i < first + n; i++) {
		free((char *)t->columns[i].sql);
		free((char *)t->columns[i + n].name);
	}
	free(t->columns);
	free(t->where);
}

/* From the address: filter and order. */
static int
web_table_choices_read(struct table *t, struct err *e)
{
	const char *where = web_address_param(t->address, "where", 0);
	const char *sort = web_address_param(t->address, "sort", 0);
	struct buf b = { 0 };
	size_t i;
	int rc;

	web_table_chosen_read(t);
	if (t->n_chosen == 0 && !section_params_part(t->r))
		web_table_usual_read(t);
	t->sort = t->sort_name = "trial";
	t->down =
	    sort == NULL || web_address_number(t->address, "down", 0) == 1;
	for (i = 0; sort != NULL && i < t->n; i++)
		if (strcmp(t->columns[i].name, sort) == 0) {
			t->sort = t->columns[i].sql;
			t->sort_name = t->columns[i].name;
		}
	if (where == NULL || where[strspn(where, " \t\r\n")] == '\0')
		return 0;
	rc = web_filter_sql(&b, where, t->columns, e);
	if (rc == 0)
		t->where = buf_take(&b);
	buf_free(&b);
	return rc;
}

static void
web_table_filter_put(struct table *t, const char *trouble)
{
	struct html *h = &t->r->h;
	const char *where = web_address_param(t->address, "where", 0);
	char *to = web_page_address(t->address->root, t->study, "#trials");

	html_open(h, "form");
	html_attr(h, "class", "filter");
	html_attr(h, "action", to);
	html_open(h, "input");
	html_attr(h, "name", "where");
	html_attr(h, "value", where == NULL ? "" : where);
	html_attr(
	    h, "placeholder", "filter: state = completed and objective > 0.9");
	html_attr(h, "aria-label", "filter of trials");
	html_close(h, "input");
	/* The order of the table, and the rest of the address, stay. */
	web_page_hidden(
	    h, t->address, (const char *[]){ "where", "page", NULL });
	html_leaf(h, "button", NULL, "Filter");
	html_close(h, "form");
	if (trouble != NULL)
		html_leaf(h, "p", "trouble", trouble);
	free(to);
}

/* The head of a column, which sorts by it; again: the other way round. */
static void
web_table_head_put(struct table *t, const char *name, bool number)
{
	struct html *h = &t->r->h;
	bool sorted = strcmp(t->sort_name, name) == 0;
	struct web_address sorts = *t->address;
	struct buf b = { 0 };
	size_t i, n = 0;

	/* The same parameters without sort and down; they are borrowed. */
	for (i = 0; i < sorts.n_params; i++)
		if (strcmp(sorts.params[i].name, "sort") != 0 &&
		    strcmp(sorts.params[i].name, "down") != 0)
			sorts.params[n++] = sorts.params[i];
	sorts.n_params = n;
	web_address_put_query(&b, &sorts, "sort", name);
	if (!sorted || !t->down)
		buf_puts(&b, "&down=1");
	buf_puts(&b, "#trials");
	html_open(h, "th");
	html_attr(h, "scope", "col");
	if (number)
		html_attr(h, "class", "n");
	if (sorted)
		html_attr(h, "aria-sort", t->down ? "descending" : "ascending");
	web_page_link(h, buf_str(&b), name);
	html_text(h, !sorted   ? NULL
		     : t->down ? " \xe2\x96\xbe"
			       : " \xe2\x96\xb4");
	html_close(h, "th");
	buf_free(&b);
}

static void
web_table_chosen_heads_put(struct table *t)
{
	struct section_column c;
	size_t i, column;

	web_table_head_put(t, "trial", true);
	for (i = 0; i < t->n_chosen; i++) {
		column = t->chosen[i];
		c = web_table_column_kind(t, column);
		if (column == 2 && !t->r->aims.several)
			c.head = t->r->study->metric;
		if (column > COUNT(fixed))
			c.head =
			    web_table_param_name(t, column - COUNT(fixed) - 1);
		web_table_head_put(t, c.head, c.kind == COLUMN_NUMBER);
	}
}

static void
web_table_heads_put(struct table *t)
{
	const struct space *space = t->r->study->space;
	size_t i;

	if (t->n_chosen > 0) {
		web_table_chosen_heads_put(t);
		return;
	}
	for (i = 0; i < FIXED - 1; i++)
		web_table_head_put(t,
		    i == 2 && !t->r->aims.several ? t->r->study->metric
						  : fixed[i].name,
		    i != 1 && i != 6);
	for (i = 0; i < space->n; i++)
		web_table_head_put(t, web_table_param_name(t, i),
		    section_param_is_number(t->r, i));
	web_table_head_put(t, "why", false);
}

static void
web_table_row_put(struct table *t, const struct store_rows *rows)
{
	static const struct section_column columns[] = { { "trial",
							     COLUMN_NUMBER },
		{ "state", COLUMN_WORD }, { "objective", COLUMN_NUMBER },
		{ "step", COLUMN_NUMBER }, { "seconds", COLUMN_NUMBER },
		{ "attempts", COLUMN_NUMBER }, { "started", COLUMN_WORD },
		{ "params", COLUMN_PARAMS }, { "why", COLUMN_TEXT } };
	struct section_column chosen[CHOSEN + 1];
	struct html *h = &t->r->h;
	size_t i;
	char *rest = xasprintf("/trial/%" PRId64, store_rows_int(rows, 0));
	char *address = web_page_address(t->address->root, t->study, rest);

	html_open(h, "tr");
	html_attr(h, "data-trial", store_rows_text(rows, 0));
	html_open(h, "td");
	html_attr(h, "class", "n");
	html_open(h, "input");
	html_attr(h, "type", "checkbox");
	html_attr(h, "name", "trial");
	html_attr(h, "value", store_rows_text(rows, 0));
	html_attr(h, "form", "side");
	html_attrf(
	    h, "aria-label", "compare trial %s", store_rows_text(rows, 0));
	html_close(h, "input");
	html_text(h, " ");
	web_page_link(h, address, store_rows_text(rows, 0));
	html_close(h, "td");
	for (i = 0; i < t->n_chosen; i++)
		chosen[i + 1] = web_table_column_kind(t, t->chosen[i]);
	if (t->n_chosen > 0)
		section_cells(t->r, rows, chosen, 1, t->n_chosen + 1);
	else
		section_cells(t->r, rows, columns, 1, COUNT(columns));
	html_close(h, "tr");
	free(address);
	free(rest);
}

/* "51 to 100 of 1234", with links to the pages before and after. */
static void
web_table_pages_put(struct table *t, int64_t shown)
{
	struct html *h = &t->r->h;
	struct buf b = { 0 };
	char page[32];
	int i;

	html_open(h, "p");
	html_attr(h, "class", "note");
	if (t->all == 0)
		html_text(h, "No trial.");
	else
		html_textf(h, "%" PRId64 " to %" PRId64 " of %" PRId64 ". ",
		    t->page * ROWS + 1, t->page * ROWS + shown, t->all);
	for (i = -1; i <= 1; i += 2) {
		if (t->page + i < 0 || (t->page + i) * ROWS >= t->all)
			continue;
		(void)snprintf(page, sizeof page, "%" PRId64, t->page + i);
		buf_clear(&b);
		web_address_put_query(&b, t->address, "page", page);
		buf_puts(&b, "#trials");
		web_page_link(h, buf_str(&b), i < 0 ? "before" : "after");
		html_text(h, " ");
	}
	if (t->left_out > 0)
		html_textf(h,
		    "%zu more parameters have no column: choose them below.",
		    t->left_out);
	html_close(h, "p");
	buf_free(&b);
}

/* The columns after the trial, in SQL. */
static void
web_table_columns_put(struct buf *b, const struct table *t)
{
	const char *sql;
	size_t i;

	if (t->n_chosen == 0)
		buf_printf(b,
		    "state, objective, step, %s, attempts, "
		    "replace(substr(started, 1, 19), 'T', ' '), params, "
		    "nullif(ltrim(coalesce(why, '') || "
		    "coalesce(' [' || tags || ']', '') || "
		    "coalesce(' ' || note, '')), '') AS why",
		    t->r->now > 0 ? ROWS_SECONDS("trials") : "seconds");
	for (i = 0; i < t->n_chosen; i++) {
		sql = t->columns[t->chosen[i]].sql;
		buf_puts(b, i > 0 ? ", " : "");
		/* A time is sorted and filtered as it is stored. */
		buf_printf(b,
		    strcmp(sql, "started") == 0 || strcmp(sql, "ended") == 0
			? "replace(substr(%s, 1, 19), 'T', ' ')"
			: "%s",
		    sql);
	}
}

static void
web_table_begin(struct table *t)
{
	struct html *h = &t->r->h;

	html_open(h, "div");
	html_attr(h, "class", "wide");
	html_open(h, "table");
	html_open(h, "thead");
	html_open(h, "tr");
	web_table_heads_put(t);
	html_close(h, "tr");
	html_close(h, "thead");
	html_open(h, "tbody");
}

static int
web_table_rows_put(struct table *t, struct err *e)
{
	struct store_rows *rows;
	int64_t shown = 0;
	struct buf columns = { 0 };
	char *sql;
	int rc;

	web_table_columns_put(&columns, t);
	sql = xasprintf("SELECT trial, %s FROM trials%s%s ORDER BY %s %s "
			"NULLS LAST, trial DESC LIMIT %d OFFSET %" PRId64,
	    buf_str(&columns), t->where != NULL ? " WHERE " : "",
	    t->where != NULL ? t->where : "", t->sort, t->down ? "DESC" : "ASC",
	    ROWS, t->page * ROWS);
	rc = store_rows_open(&rows, t->r->store, sql, NULL, e);
	free(sql);
	buf_free(&columns);
	if (rc != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		if (shown++ == 0)
			web_table_begin(t);
		web_table_row_put(t, rows);
	}
	store_rows_close(rows);
	if (shown > 0) {
		html_close(&t->r->h, "tbody");
		html_close(&t->r->h, "table");
		html_close(&t->r->h, "div");
	}
	if (rc == 0)
		web_table_pages_put(t, shown);
	return rc;
}

static int
web_table_count_read(struct table *t, struct err *e)
{
	char *sql = xasprintf("SELECT count(*) FROM trials%s%s",
	    t->where != NULL ? " WHERE " : "",
	    t->where != NULL ? t->where : "");
	int rc = page_data_count(t->r, sql, &t->all, e);

	free(sql);
	t->page = web_address_number(t->address, "page", 0);
	if (t->page > (t->all - 1) / ROWS)
		t->page = (t->all - 1) / ROWS;
	return rc;
}

int
web_table_put(struct page *r, const char *study,
    const struct web_address *address, struct err *e)
{
	struct table t = { .r = r, .study = study, .address = address };
	struct err wrong = ERR_INIT;
	int rc = 0;

	web_table_columns_make(&t);
	section_begin(&r->h, "Trials");
	if (web_table_choices_read(&t, &wrong) != 0)
		web_table_filter_put(&t, wrong.text);
	else {
		web_table_filter_put(&t, NULL);
		rc = web_table_count_read(&t, e);
		if (rc == 0)
			rc = web_table_rows_put(&t, e);
	}
	section_end(&r->h);
	web_table_fini(&t);
	return rc == -1 ? -1 : 0;
}

static void
web_table_box_put(struct table *t, const char *name, const char *label)
{
	struct html *h = &t->r->h;

	html_open(h, "label");
	html_open(h, "input");
	html_attr(h, "type", "checkbox");
	html_attr(h, "name", "column");
	html_attr(h, "value", name);
	if (web_table_is_chosen(t, name))
		html_attr(h, "checked", "checked");
	html_close(h, "input");
	html_textf(h, " %s", label);
	html_close(h, "label");
}

/* The address without columns, whose link shows the usual ones. */
static void
web_table_usual_put(struct table *t)
{
	struct buf b = { 0 };

	web_address_put_query(&b, t->address, "column", NULL);
	if (b.len == 0)
		buf_putc(&b, '?');
	buf_puts(&b, "#trials");
	web_page_link(&t->r->h, buf_str(&b), "the usual ones");
	buf_free(&b);
}

/* The form of the boxes in the table, which stays when the table is replaced. */
static void
web_table_side_put(struct html *h, const char *root, const char *study)
{
	char *to = web_page_address(root, study, "/trials");

	html_open(h, "form");
	html_attr(h, "id", "side");
	html_attr(h, "action", to);
	html_leaf(h, "button", NULL, "Compare the selected trials");
	html_close(h, "form");
	free(to);
}

void
web_table_forms_put(
    struct page *r, const char *study, const struct web_address *address)
{
	struct table t = { .r = r, .address = address };
	struct html *h = &r->h;
	const char *name;
	size_t i, column;

	web_table_columns_make(&t);
	web_table_chosen_read(&t);
	html_open(h, "details");
	html_attr(h, "class", "zoom columns");
	if (t.n_chosen > 0)
		html_attr(h, "open", "open");
	html_leaf(h, "summary", NULL, "Columns");
	html_open(h, "form");
	html_attr(h, "action", "#trials");
	web_page_hidden(h, address, (const char *[]){ "column", NULL });
	for (i = 1; web_table_choice_at(&t, i, &column, &name); i++)
		web_table_box_put(&t, name,
		    column == 2 && !r->aims.several ? r->study->metric : name);
	html_leaf(h, "button", NULL, "Show");
	if (t.n_chosen > 0)
		web_table_usual_put(&t);
	html_close(h, "form");
	html_close(h, "details");
	if (r->n > 0)
		web_table_side_put(h, address->root, study);
	web_table_fini(&t);
}
