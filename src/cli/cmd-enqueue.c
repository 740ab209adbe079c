/* hpotune enqueue: settings that are tried next, and the queue of them. */

#include <stdint.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/server-request.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"
#include "src/view/rows.h"
#include "src/view/table.h"

/* NAME=VALUE … -> the JSON of a partial setting. */
static int
setting_read(
    struct cli *cli, const struct space *space, struct buf *out, struct err *e)
{
	struct value *values = xcalloc(space->n, sizeof *values);
	int rc = cli_setting_operands(cli, space, values, e);

	if (rc == 0)
		space_put_json(out, space, values);
	free(values);
	return rc;
}

static int
queue_add(struct server_request *a)
{
	struct server_asked asked = {
		.name = "enqueue",
		.kind = TUNER_ENQUEUE,
	};
	struct buf params = { 0 };
	struct err e = ERR_INIT;
	int status;

	if (a->cli->n_operands == 0)
		err_set(&e, ERR_USAGE, "enqueue: expected NAME=VALUE");
	if (a->cli->n_operands == 0 ||
	    setting_read(a->cli, a->found.study->space, &params, &e) != 0)
		status = cli_fail(&e);
	else {
		asked.params = buf_str(&params);
		status = server_request_send(a, &asked);
	}
	buf_free(&params);
	return status;
}

/* Drop the settings whose numbers are given, or all. */
static int
queue_clear(struct server_request *a)
{
	struct server_asked asked = {
		.name = "unqueue",
		.kind = TUNER_UNQUEUE,
	};
	struct cli *cli = a->cli;
	struct err e = ERR_INIT;
	int64_t *ids = xcalloc((size_t)cli->n_operands + 1, sizeof *ids);
	int i, status;

	for (i = 0; i < cli->n_operands; i++)
		if (cli_read_integer(cli->operands[i], "setting", 1, INT64_MAX,
			&ids[i], &e) != 0)
			break;
	if (i < cli->n_operands)
		status = cli_fail(&e);
	else if (i == 0)
		status = server_request_send(a, &asked);
	else
		status = server_request_send_each(a, &asked, ids, i);
	free(ids);
	return status;
}

static int
queue_put(
    struct buf *out, const struct cli *cli, struct store *store, struct err *e)
{
	static const char sql[] = "SELECT id, source, params FROM queue "
				  "WHERE state = 'waiting' ORDER BY id";
	struct table *table;
	struct store_rows *rows;
	int rc;

	if (cli->json)
		return rows_put_json(out, store, sql, NULL, false, e);
	if (store_rows_open(&rows, store, sql, NULL, e) != 0)
		return -1;
	table = table_new();
	table_column(table, "setting", TABLE_RIGHT);
	table_column(table, "source", TABLE_LEFT);
	table_column(table, "parameters", TABLE_SHRINK);
	while ((rc = store_rows_next(rows, e)) == 1) {
		table_cell(table, store_rows_text(rows, 0), TABLE_PLAIN);
		table_cell(table, store_rows_text(rows, 1), TABLE_PLAIN);
		table_cell(table, store_rows_text(rows, 2), TABLE_PLAIN);
	}
	store_rows_close(rows);
	if (table_rows(table) > 0)
		table_put(out, table, cli->width, cli->colour, true);
	else
		buf_puts(out, "no setting waits in the queue\n");
	table_free(table);
	return rc;
}

static int
queue_list(struct cli *cli)
{
	struct study_files found;
	struct store *store;
	struct buf out = { 0 };
	struct err e = ERR_INIT;
	int rc;

	if (cli_open_store(cli, &found, &store, &e) != 0)
		return cli_fail(&e);
	if (cli->n_operands > 0)
		rc = err_set(&e, ERR_USAGE,
		    "enqueue --list: %s: one argument too many",
		    cli->operands[0]);
	else
		rc = queue_put(&out, cli, store, &e);
	if (cli->json && rc == 0)
		buf_putc(&out, '\n');
	if (rc == 0)
		(void)cli_print(&out);
	buf_free(&out);
	store_close(store);
	study_files_fini(&found);
	return rc != 0 ? cli_fail(&e) : CLI_DONE;
}

static int
enqueue_run(struct cli *cli)
{
	struct server_request a;
	struct err e = ERR_INIT;
	int status;

	if (cli_has(cli, "list"))
		return queue_list(cli);
	if (server_request_open(&a, cli, &e) != 0)
		return cli_fail(&e);
	status = cli_has(cli, "clear") ? queue_clear(&a) : queue_add(&a);
	server_request_close(&a);
	return status;
}

static const struct cli_option enqueue_options[] = {
	{ "list", 'l', NULL,
	    "list the settings that wait, with their numbers" },
	{ "clear", 0, NULL,
	    "drop all settings that wait, or those with these numbers" },
	{ .name = NULL },
};

const struct cli_command cmd_enqueue = {
	.name = "enqueue",
	.args = "[STUDY] NAME=VALUE...",
	.about = "try this setting next; the strategy suggests the rest",
	.options = enqueue_options,
	.max_operands = -1,
	.json = true,
	.run = enqueue_run,
};
