/* Converts the rows of a SELECT to text. */

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/view/rows.h"
#include "src/view/sparkline.h"

void
rows_put_digits(struct buf *out, const struct store_rows *rows, int col)
{
	const char *text = store_rows_text(rows, col);

	if (strspn(text, "-0123456789") == strlen(text))
		buf_puts(out, text);
	else
		rows_put_number(out, store_rows_real(rows, col), 0);
}

static void
rows_value_put(struct buf *out, const struct store_rows *rows, int col)
{
	static const char *const documents[] = { "params", "outcomes",
		"settings" };
	size_t i;

	if (store_rows_null(rows, col)) {
		buf_puts(out, "null");
		return;
	}
	if (store_rows_is_number(rows, col)) {
		if (isfinite(store_rows_real(rows, col)))
			rows_put_digits(out, rows, col);
		else
			buf_puts(out, "null");
		return;
	}
	for (i = 0; i < sizeof documents / sizeof documents[0]; i++)
		if (strcmp(store_rows_name(rows, col), documents[i]) == 0) {
			buf_puts(out, store_rows_text(rows, col));
			return;
		}
	json_put_string(out, store_rows_text(rows, col));
}

void
rows_put_members(struct json_writer *w, const struct store_rows *rows, int from)
{
	int col;

	for (col = from; col < store_rows_columns(rows); col++)
		rows_value_put(json_writer_value(w, store_rows_name(rows, col)),
		    rows, col);
}

int
rows_put_json(struct buf *out, struct store *store, const char *sql,
    const char *const *params, bool one, struct err *e)
{
	struct store_rows *rows;

	if (store_rows_open(&rows, store, sql, params, e) != 0)
		return -1;
	return rows_take_json(out, rows, one, e);
}

int
rows_take_json(
    struct buf *out, struct store_rows *rows, bool one, struct err *e)
{
	struct json_writer w = { .out = out };
	int rc;

	if (!one)
		json_writer_array(&w, NULL);
	while ((rc = store_rows_next(rows, e)) == 1) {
		json_writer_line(&w);
		json_writer_object(&w, NULL);
		rows_put_members(&w, rows, 0);
		json_writer_end(&w);
		if (one)
			break;
	}
	if (!one)
		json_writer_end(&w);
	else if (rc == 0)
		json_writer_null(&w, NULL);
	store_rows_close(rows);
	return rc == -1 ? -1 : 0;
}

int
rows_first(struct store_rows **rows, struct store *store, const char *sql,
    const char *const *params, struct err *e)
{
	int rc;

	if (store_rows_open(rows, store, sql, params, e) != 0)
		return -1;
	if ((rc = store_rows_next(*rows, e)) != 1)
		store_rows_close(*rows);
	return rc;
}

int
rows_count(
    const struct store_rows *rows, int col, int64_t *count, struct err *e)
{
	*count = store_rows_int(rows, col);
	if (*count >= 0 && *count <= INT64_C(1) << 53)
		return 0;
	*count = 0;
	return err_set(e, ERR_STORE,
	    "the database is damaged: it has a count of %s",
	    store_rows_text(rows, col));
}

double
rows_real(const struct store_rows *rows, int col)
{
	return store_rows_null(rows, col) ? NAN : store_rows_real(rows, col);
}

int
rows_numbers(
    double *out, size_t n, struct store *store, const char *sql, struct err *e)
{
	struct store_rows *rows;
	size_t i;
	int rc;

	for (i = 0; i < n; i++)
		out[i] = NAN;
	if ((rc = rows_first(&rows, store, sql, NULL, e)) != 1)
		return rc;
	for (i = 0; i < n; i++)
		out[i] = rows_real(rows, (int)i);
	store_rows_close(rows);
	return 1;
}

int
rows_take_curve(struct sparkline *curve, struct store_rows *rows, struct err *e)
{
	int rc;

	while ((rc = store_rows_next(rows, e)) == 1)
		sparkline_add(
		    curve, store_rows_int(rows, 0), rows_real(rows, 1));
	store_rows_close(rows);
	return rc;
}

int
rows_curve(struct sparkline *curve, struct store *store, const char *sql,
    const char *const *params, struct err *e)
{
	struct store_rows *rows;

	if (store_rows_open(&rows, store, sql, params, e) != 0)
		return -1;
	return rows_take_curve(curve, rows, e);
}

int
rows_curve_of_trial(struct sparkline *curve, struct store *store, int64_t trial,
    int parts, struct err *e)
{
	struct store_rows *rows;

	if (store_list_curve_parts(&rows, store, trial, parts, e) != 0)
		return -1;
	return rows_take_curve(curve, rows, e);
}

int
rows_curve_of_medians(
    struct sparkline *curve, struct store *store, int points, struct err *e)
{
	struct store_rows *rows;

	if (store_list_median_parts(&rows, store, points, e) != 0)
		return -1;
	return rows_take_curve(curve, rows, e);
}

void
rows_put_number(struct buf *out, double value, int digits)
{
	if (digits > 0 || !isfinite(value))
		buf_printf(out, "%.*g", digits > 0 ? digits : 17, value);
	else
		json_put_number(out, value);
}

static void
rows_param_put(struct buf *out, const struct json *value, int digits)
{
	double number;

	if (json_number(value, &number) && digits > 0 &&
	    number != floor(number))
		rows_put_number(out, number, digits);
	else if (json_string(value) != NULL)
		buf_puts(out, json_string(value));
	else
		json_write(out, value);
}

void
rows_put_params(struct buf *out, const char *json, int digits)
{
	const struct json *member;
	struct json_doc *doc;

	if (json == NULL)
		return;
	if (json_parse(&doc, json, strlen(json), NULL, false, NULL) != 0) {
		buf_puts(out, json);
		return;
	}
	member = json_first(json_root(doc));
	for (; member != NULL; member = json_next(member)) {
		buf_printf(out, "%s=", json_key(member));
		rows_param_put(out, member, digits);
		if (json_next(member) != NULL)
			buf_putc(out, ' ');
	}
	json_free(doc);
}

int
rows_cursor_next(struct rows_cursor *c, struct err *e)
{
	int rc = store_rows_next(c->rows, e);

	c->there = rc == 1;
	return rc == -1 ? -1 : 0;
}

int
rows_cursor_open(
    struct rows_cursor *c, struct store *store, const char *sql, struct err *e)
{
	return store_rows_open(&c->rows, store, sql, NULL, e) != 0
		   ? -1
		   : rows_cursor_next(c, e);
}

bool
rows_cursor_is_at(const struct rows_cursor *c, int64_t trial)
{
	return c->there && store_rows_int(c->rows, 0) == trial;
}

void
rows_cursor_close(struct rows_cursor *c)
{
	store_rows_close(c->rows);
	*c = (struct rows_cursor){ 0 };
}
