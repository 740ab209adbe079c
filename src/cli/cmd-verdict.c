/* hpotune verdict: what became of proposals. */

#include <inttypes.h>
#include <stdio.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"
#include "src/view/rows.h"
#include "src/view/table.h"

/* Columns of the query below. */
enum { PROPOSAL, VERDICT, TRIAL, SEEDS, E_VALUE, SECONDS, PARAMS, WHY, COMMIT };

static int
verdict_put_table(struct buf *out, const struct cli *cli, struct store *store,
    const char *const *args, struct err *e)
{
	static const char sql[] =
	    "SELECT proposal, verdict, trial, seeds, e_value, "
	    "round(seconds, 1), params, coalesce(why, ''), "
	    "substr(git_commit, 1, 12) FROM proposals "
	    "WHERE proposal = ?1 OR ?1 = '' ORDER BY proposal";
	struct table *table;
	struct store_rows *rows;
	struct buf text = { 0 };
	int col, rc;

	if (store_rows_open(&rows, store, sql, args, e) != 0)
		return -1;
	table = table_new();
	table_column(table, "proposal", TABLE_RIGHT);
	table_column(table, "verdict", TABLE_LEFT);
	table_column(table, "trial", TABLE_RIGHT);
	table_column(table, "seeds", TABLE_RIGHT);
	table_column(table, "e-value", TABLE_RIGHT);
	table_column(table, "seconds", TABLE_RIGHT);
	table_column(table, "parameters", TABLE_SHRINK);
	table_column(table, "why", TABLE_SHRINK);
	while ((rc = store_rows_next(rows, e)) == 1)
		for (col = PROPOSAL; col <= WHY; col++) {
			if (col == PARAMS) {
				if (!store_rows_null(rows, COMMIT))
					buf_printf(&text, "commit %s ",
					    store_rows_text(rows, COMMIT));
				rows_put_params(
				    &text, store_rows_text(rows, col), 4);
			} else if (col == E_VALUE)
				rows_put_number(&text, rows_real(rows, col), 4);
			else
				buf_puts(&text, store_rows_text(rows, col));
			table_cell(table, buf_str(&text), TABLE_PLAIN);
			text.len = 0;
		}
	store_rows_close(rows);
	if (table_rows(table) > 0)
		table_put(out, table, cli->width, cli->colour, true);
	else
		buf_puts(out, "nothing was proposed\n");
	table_free(table);
	buf_free(&text);
	return rc;
}

/* The commit of one proposal, and how it differs from that of its baseline. */
static int
verdict_put_diff(struct buf *out, struct store *store, const char *const *args,
    struct err *e)
{
	static const char sql[] =
	    "SELECT git_commit, git_base, diff FROM proposals "
	    "WHERE proposal = ?1 AND git_commit IS NOT NULL";
	struct store_rows *rows;
	int rc = rows_first(&rows, store, sql, args, e);

	if (rc != 1)
		return rc;
	buf_printf(out, "\ncommit %s\n", store_rows_text(rows, 0));
	if (!store_rows_null(rows, 1))
		buf_printf(out, "baseline %s\n", store_rows_text(rows, 1));
	buf_puts(out, store_rows_text(rows, 2));
	store_rows_close(rows);
	return 0;
}

/* With a number one object, else a list. */
static int
verdict_put(struct buf *out, const struct cli *cli, struct store *store,
    int64_t proposal, struct err *e)
{
	static const char sql[] =
	    "SELECT * FROM proposals WHERE proposal = ?1 OR ?1 = '' "
	    "ORDER BY proposal";
	const char *args[2] = { "", NULL };
	struct store_rows *rows;
	char number[24];
	int rc;

	(void)snprintf(number, sizeof number, "%" PRId64, proposal);
	if (proposal > 0) {
		args[0] = number;
		rc = rows_first(&rows, store, sql, args, e);
		if (rc == 0)
			return err_set(
			    e, ERR_FILE, "there is no proposal %s", number);
		if (rc == -1)
			return -1;
		store_rows_close(rows);
	}
	if (!cli->json) {
		rc = verdict_put_table(out, cli, store, args, e);
		return rc == 0 && proposal > 0
			   ? verdict_put_diff(out, store, args, e)
			   : rc;
	}
	rc = rows_put_json(out, store, sql, args, proposal > 0, e);
	buf_putc(out, '\n');
	return rc;
}

static int
verdict_run(struct cli *cli)
{
	struct study_files found;
	struct store *store;
	struct buf out = { 0 };
	struct err e = ERR_INIT;
	int64_t proposal = 0;
	int rc;

	if (cli_open_store(cli, &found, &store, &e) != 0)
		return cli_fail(&e);
	rc = cli->n_operands > 0 ? cli_read_integer(cli->operands[0],
				       "proposal", 1, INT64_MAX, &proposal, &e)
				 : 0;
	if (rc == 0)
		rc = verdict_put(&out, cli, store, proposal, &e);
	if (rc == 0)
		(void)cli_print(&out);
	buf_free(&out);
	store_close(store);
	study_files_fini(&found);
	return rc != 0 ? cli_fail(&e) : CLI_DONE;
}

const struct cli_command cmd_verdict = {
	.name = "verdict",
	.args = "[STUDY] [PROPOSAL]",
	.about = "what became of proposals: kept, discarded, undecided, open",
	.max_operands = 2,
	.json = true,
	.run = verdict_run,
};
