/* hpotune sql: a query of the views, with limits on its time and its rows. */

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/common/cli.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"
#include "src/view/rows.h"
#include "src/view/table.h"

enum {
	SQL_SECONDS = 5,
	SQL_ROWS = 100,
	SQL_ROWS_MAX = 100000,
	SQL_CELL_MAX = 2000, /* bytes of a text in JSON */
	SQL_JSON_MAX = 64 * 1024, /* bytes of rows as JSON */
	SQL_MEMORY = 1 << 30 /* bytes */
};

/* One step of SQLite may take for ever, for example in LIKE: end the process. */
static void
sql_on_alarm(int signo)
{
	static const char text[] =
	    "hpotune: sql: the query took longer than 5 seconds\n";

	(void)signo;
	if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
		_exit(CLI_FAILED);
	_exit(CLI_FAILED);
}

static void
sql_limits_set(struct rlimit *before)
{
	struct rlimit most;

	(void)getrlimit(RLIMIT_AS, before);
	most = *before;
	if (most.rlim_cur > SQL_MEMORY)
		most.rlim_cur = SQL_MEMORY;
#ifndef __SANITIZE_ADDRESS__
	(void)setrlimit(RLIMIT_AS, &most);
#endif
	(void)signal(SIGALRM, sql_on_alarm);
	(void)alarm(SQL_SECONDS);
}

/* The process may run another command. */
static void
sql_limits_lift(const struct rlimit *before)
{
	(void)alarm(0);
	(void)setrlimit(RLIMIT_AS, before);
}

static void
sql_cell_json(struct json_writer *w, const struct store_rows *rows, int col)
{
	char text[SQL_CELL_MAX];

	if (store_rows_null(rows, col))
		json_writer_null(w, NULL);
	else if (store_rows_is_number(rows, col) &&
		 !isfinite(store_rows_real(rows, col)))
		json_writer_null(w, NULL);
	else if (store_rows_is_number(rows, col))
		rows_put_digits(json_writer_value(w, NULL), rows, col);
	else {
		text_cut(text, sizeof text, store_rows_text(rows, col));
		json_writer_text(w, NULL, text);
	}
}

/* {"columns": [...], "rows": [[...], ...], "more": false} */
static int
sql_put_json(
    struct buf *out, struct store_rows *rows, int64_t most, struct err *e)
{
	struct json_writer w = { .out = out };
	int col, n = store_rows_columns(rows), rc;
	int64_t count = 0;

	json_writer_object(&w, NULL);
	json_writer_array(&w, "columns");
	for (col = 0; col < n; col++)
		json_writer_text(&w, NULL, store_rows_name(rows, col));
	json_writer_end(&w);
	json_writer_array(&w, "rows");
	while ((rc = store_rows_next(rows, e)) == 1 && count++ < most &&
	       out->len < SQL_JSON_MAX) {
		json_writer_line(&w);
		json_writer_array(&w, NULL);
		for (col = 0; col < n; col++)
			sql_cell_json(&w, rows, col);
		json_writer_end(&w);
	}
	json_writer_end(&w);
	json_writer_bool(&w, "more", rc == 1);
	json_writer_end(&w);
	buf_putc(out, '\n');
	return rc == -1 ? -1 : 0;
}

static int
sql_put_table(struct buf *out, const struct cli *cli, struct store_rows *rows,
    int64_t most, struct err *e)
{
	struct table *table = table_new();
	int col, n = store_rows_columns(rows), rc;
	int64_t count = 0;

	for (col = 0; col < n; col++)
		table_column(table, store_rows_name(rows, col), TABLE_SHRINK);
	while ((rc = store_rows_next(rows, e)) == 1 && count++ < most)
		for (col = 0; col < n; col++)
			table_cell(
			    table, store_rows_text(rows, col), TABLE_PLAIN);
	table_put(out, table, cli->width, cli->colour, true);
	table_free(table);
	if (rc == 1)
		buf_puts(out, "… there are more rows: --rows N\n");
	return rc == -1 ? -1 : 0;
}

static int
sql_print(struct cli *cli, struct store *store, int64_t most, struct err *e)
{
	struct store_rows *rows;
	struct rlimit before;
	struct buf out = { 0 };
	int rc;

	if (cli->n_operands != 1)
		return err_set(
		    e, ERR_USAGE, "sql: expected one query, in quotes");
	sql_limits_set(&before);
	if (store_rows_open_views(&rows, store, cli->operands[0], e) != 0) {
		sql_limits_lift(&before);
		return err_add(e, "sql");
	}
	rc = cli->json ? sql_put_json(&out, rows, most, e)
		       : sql_put_table(&out, cli, rows, most, e);
	store_rows_close(rows);
	sql_limits_lift(&before);
	if (rc == 0 && cli->json)
		cli_print_json(buf_str(&out));
	else if (rc == 0)
		(void)cli_print(&out);
	buf_free(&out);
	return rc;
}

static int
sql_run(struct cli *cli)
{
	struct study_files found;
	struct store *store;
	struct err e = ERR_INIT;
	int64_t most;
	int rc;

	if (cli_integer(cli, "rows", 1, SQL_ROWS_MAX, SQL_ROWS, &most, &e) !=
		0 ||
	    cli_open_store(cli, &found, &store, &e) != 0)
		return cli_fail(&e);
	rc = sql_print(cli, store, most, &e);
	store_close(store);
	study_files_fini(&found);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}

static const struct cli_option sql_options[] = {
	{ "rows", 'n', "N", "print at most N rows (100)" },
	{ .name = NULL },
};

const struct cli_command cmd_sql = {
	.name = "sql",
	.args = "[STUDY] QUERY",
	.about = "a query of the views of hpotune-db(5)",
	.options = sql_options,
	.min_operands = 1,
	.max_operands = 2,
	.json = true,
	.run = sql_run,
};
