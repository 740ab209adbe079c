/* The table of the front: trial, objectives, parameters. */

#include <inttypes.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/front-table.h"
#include "src/store/store.h"
#include "src/view/objectives.h"
#include "src/view/rows.h"
#include "src/view/table.h"

static void
front_table_columns_put(struct table *table, const struct objectives *aims)
{
	size_t i;

	table_column(table, "trial", TABLE_RIGHT);
	for (i = 0; i < aims->n; i++)
		table_column(table, aims->objectives[i].metric, TABLE_RIGHT);
	table_column(table, "parameters", TABLE_SHRINK);
}

/* Columns: trial, the objectives, params. */
static void
front_table_row_put(
    struct table *table, const struct store_rows *rows, size_t n)
{
	struct buf params = { 0 };
	size_t i;

	table_cell(table, store_rows_text(rows, 0), TABLE_PLAIN);
	for (i = 1; i <= n; i++)
		table_cell_real(table, rows_real(rows, (int)i), 6);
	rows_put_params(&params, store_rows_text(rows, (int)n + 1), 4);
	table_cell(table, buf_str(&params), TABLE_PLAIN);
	buf_free(&params);
}

int
front_table_put(struct buf *out, const struct cli *cli, struct store *store,
    const struct objectives *aims, int64_t most, struct err *e)
{
	struct table *table = table_new();
	char *sql = objectives_front_sql(aims);
	struct store_rows *rows;
	int64_t n = 0;
	int rc;

	front_table_columns_put(table, aims);
	rc = store_rows_open(&rows, store, sql, NULL, e);
	if (rc == 0) {
		while ((rc = store_rows_next(rows, e)) == 1)
			if (++n <= most || most == 0)
				front_table_row_put(table, rows, aims->n);
		store_rows_close(rows);
	}
	if (rc == 0 && n > 0)
		table_put(out, table, cli->width, cli->colour, true);
	if (rc == 0 && most > 0 && n > most)
		buf_printf(out,
		    "(and %" PRId64 " more: hpotune best prints all)\n",
		    n - most);
	table_free(table);
	free(sql);
	return rc;
}
