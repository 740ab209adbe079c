/* Objectives, constraints and the front as text, from the database. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/goal.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/view/objectives.h"
#include "src/view/rows.h"

int
objectives_read(struct objectives *aims, struct store *store, struct err *e)
{
	static const char *const sql =
	    "SELECT metric, goal FROM " STORE_SQL_AIMS;
	struct store_rows *rows;
	struct objective *aim;
	int rc;

	*aims = (struct objectives){ 0 };
	if (store_rows_open(&rows, store, sql, NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		if (store_rows_null(rows, 1)) {
			aims->constraints = true;
			continue;
		}
		aims->objectives = xreallocarray(
		    aims->objectives, aims->n + 1, sizeof *aims->objectives);
		aim = &aims->objectives[aims->n++];
		aim->metric = xstrdup(store_rows_text(rows, 0));
		aim->maximize = false;
		(void)goal_parse(store_rows_text(rows, 1), &aim->maximize);
	}
	store_rows_close(rows);
	aims->several = aims->n > 1;
	if (rc == 0 && aims->n == 0)
		rc = err_set(
		    e, ERR_STORE, "the database has no objective of its study");
	return rc;
}

void
objectives_fini(struct objectives *aims)
{
	size_t i;

	for (i = 0; i < aims->n; i++)
		free(aims->objectives[i].metric);
	free(aims->objectives);
	*aims = (struct objectives){ 0 };
}

void
objectives_put_goals(struct buf *out, const struct objectives *aims)
{
	size_t i;

	for (i = 0; i < aims->n; i++)
		buf_printf(out, "%s%s %s", i > 0 ? ", " : "",
		    goal_name(aims->objectives[i].maximize),
		    aims->objectives[i].metric);
}

/* Columns: metric, value, least, most. */
static void
put_broken(struct buf *out, const struct store_rows *rows, int digits)
{
	double value = rows_real(rows, 1);
	bool above = value > rows_real(rows, 3);

	buf_printf(out, "%s ", store_rows_text(rows, 0));
	if (store_rows_null(rows, 1)) {
		buf_puts(out, "was not reported");
		return;
	}
	rows_put_number(out, value, digits);
	buf_puts(out, above ? " is above " : " is below ");
	rows_put_number(out, rows_real(rows, above ? 3 : 2), digits);
}

int
objectives_put_broken(struct buf *out, struct store *store, const char *trial,
    int digits, struct err *e)
{
	static const char *const sql =
	    "SELECT metric, value, min, max FROM outcomes WHERE "
	    "violation > 0 AND trial = CAST(? AS INTEGER)";
	const char *params[] = { trial, NULL };
	const char *between = "";
	struct store_rows *rows;
	int rc;

	if (store_rows_open(&rows, store, sql, params, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		buf_puts(out, between);
		put_broken(out, rows, digits);
		between = ", ";
	}
	store_rows_close(rows);
	return rc;
}

char *
objectives_front_sql(const struct objectives *aims)
{
	return store_front_sql(aims->n, aims->objectives[0].maximize);
}

int
objectives_put_front(struct buf *out, struct store *store,
    const struct objectives *aims, int digits, struct err *e)
{
	struct store_rows *rows;
	size_t i = 0;
	int rc;

	if (store_list_front_ranges(&rows, store, aims->n, e) != 0)
		return -1;
	for (; (rc = store_rows_next(rows, e)) == 1 && i < aims->n; i++) {
		if (i == 0)
			buf_printf(out, "%" PRId64 " trial%s",
			    store_rows_int(rows, 1),
			    store_rows_int(rows, 1) == 1 ? "" : "s");
		buf_printf(out, ", %s ", aims->objectives[i].metric);
		rows_put_number(out, rows_real(rows, 2), digits);
		if (rows_real(rows, 3) == rows_real(rows, 2))
			continue;
		buf_puts(out, " to ");
		rows_put_number(out, rows_real(rows, 3), digits);
	}
	store_rows_close(rows);
	return rc == -1 ? -1 : 0;
}
