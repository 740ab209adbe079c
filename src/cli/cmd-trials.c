/* hpotune trials: the table of trials, filtered and sorted. */

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/common/cli.h"
#include "src/model/trial.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"
#include "src/view/objectives.h"
#include "src/view/rows.h"
#include "src/view/table.h"

/* The values of --sort and their columns; objective is sorted by the goal. */
static const struct sort {
	const char *name;
	const char *order;
	const char *reversed;
} sorts[] = {
	{ "trial", "trial", "trial DESC" },
	{ "objective", NULL, NULL },
	{ "state", "state, trial", "state DESC, trial" },
	{ "step", "step DESC NULLS LAST", "step NULLS LAST" },
	{ "seconds", "seconds DESC NULLS LAST", "seconds NULLS LAST" },
	{ "started", "started NULLS LAST", "started DESC NULLS LAST" },
	{ "ended", "ended NULLS LAST", "ended DESC NULLS LAST" },
	{ "cost", "cost DESC NULLS LAST", "cost NULLS LAST" },
	{ "gpu_seconds", "gpu_seconds DESC NULLS LAST",
	    "gpu_seconds NULLS LAST" },
	{ "energy_joules", "energy_joules DESC NULLS LAST",
	    "energy_joules NULLS LAST" },
};

enum {
	COLUMNS = 12, /* of the query, before those of further aims */
	PART_ROWS = 4000, /* held at a time */
	PART_BYTES = 256 << 10 /* of JSON */
};

#define N_SORTS (sizeof sorts / sizeof sorts[0])

/* Set an error for a value that is not in names, which ends with NULL. */
static int
cmd_trials_name_unknown(const char *option, const char *value, const char *noun,
    const char *const *names, struct err *e)
{
	const char *near = text_nearest(value, names);
	struct buf known = { 0 };

	if (near != NULL)
		return err_set(e, ERR_USAGE,
		    "trials: %s %s: no such %s: did you mean %s?", option,
		    value, noun, near);
	for (; *names != NULL; names++)
		buf_printf(&known, "%s%s", known.len > 0 ? ", " : "", *names);
	err_set(e, ERR_USAGE, "trials: %s %s: no such %s, there are: %s",
	    option, value, noun, buf_str(&known));
	buf_free(&known);
	return -1;
}

/* AND state IN (…): the names are checked, so they need no quoting. */
static int
states_put(struct buf *sql, const char *list, struct err *e)
{
	const char *names[TRIAL_STATES + 1];
	enum trial_state state;
	char word[32];
	size_t i, len;

	for (i = 0; i < TRIAL_STATES; i++)
		names[i] = trial_state_name((enum trial_state)i);
	names[i] = NULL;
	buf_puts(sql, " AND state IN (");
	for (;; list += len + 1) {
		len = strcspn(list, ",");
		(void)snprintf(word, sizeof word, "%.*s", (int)len, list);
		if (!trial_state_parse(word, &state))
			return cmd_trials_name_unknown(
			    "--state", word, "state", names, e);
		buf_printf(sql, "'%s'", word);
		if (list[len] == '\0')
			break;
		buf_puts(sql, ", ");
	}
	buf_putc(sql, ')');
	return 0;
}

static int
order_put(struct buf *sql, const struct cli *cli, bool maximize, struct err *e)
{
	const char *name = cli_value(cli, "sort"), *names[N_SORTS + 1];
	bool reverse = cli_has(cli, "reverse");
	size_t i;

	for (i = 0; i < N_SORTS; i++) {
		names[i] = sorts[i].name;
		if (strcmp(name != NULL ? name : "trial", sorts[i].name) != 0)
			continue;
		buf_puts(sql, " ORDER BY ");
		if (sorts[i].order == NULL)
			buf_printf(sql, "objective %s NULLS LAST, trial",
			    maximize != reverse ? "DESC" : "ASC");
		else
			buf_puts(
			    sql, reverse ? sorts[i].reversed : sorts[i].order);
		return 0;
	}
	names[i] = NULL;
	return cmd_trials_name_unknown("--sort", name, "column", names, e);
}

/* AND …: those with this tag, which may hold any character. */
static void
tag_put(struct buf *sql, const char *tag)
{
	buf_puts(sql, " AND trial IN (SELECT trial FROM tags WHERE tag = '");
	for (; *tag != '\0'; tag++) {
		if (*tag == '\'')
			buf_putc(sql, '\'');
		buf_putc(sql, *tag);
	}
	buf_puts(sql, "')");
}

static int
query_put(struct buf *sql, const struct cli *cli, bool maximize, struct err *e)
{
	const char *states = cli_value(cli, "state");
	int64_t limit;

	buf_puts(sql, "SELECT * FROM trials WHERE true");
	if (cli_value(cli, "tag") != NULL)
		tag_put(sql, cli_value(cli, "tag"));
	if (states != NULL && states_put(sql, states, e) != 0)
		return -1;
	if (order_put(sql, cli, maximize, e) != 0 ||
	    cli_integer(cli, "limit", 1, INT64_MAX, -1, &limit, e) != 0)
		return -1;
	buf_printf(sql, " LIMIT %" PRId64, limit);
	return 0;
}

static enum table_tint
state_tint(const char *name)
{
	enum trial_state state;

	if (!trial_state_parse(name, &state))
		return TABLE_PLAIN;
	switch (state) {
	case TRIAL_COMPLETED:
		return TABLE_GOOD;
	case TRIAL_FAILED:
		return TABLE_BAD;
	case TRIAL_STOPPED:
	case TRIAL_CANCELLED:
		return TABLE_FAINT;
	case TRIAL_WAITING:
	case TRIAL_STARTING:
	case TRIAL_RUNNING:
	case TRIAL_STOPPING:
	case TRIAL_STATES:
		break;
	}
	return TABLE_PLAIN;
}

/* One row: the columns of COLUMNS, then one for each further aim. */
static void
row_add(struct table *table, const struct store_rows *rows)
{
	int col;

	struct buf params = { 0 };
	int64_t attempts = store_rows_int(rows, 7);
	char more[32] = "", state[48];
	double seconds; /* of ended attempts */

	if (attempts > 1)
		(void)snprintf(more, sizeof more, "%" PRId64, attempts);
	table_cell(table, store_rows_text(rows, 0), TABLE_PLAIN);
	(void)snprintf(state, sizeof state, "%s%s", store_rows_text(rows, 1),
	    store_rows_int(rows, 11) > 0 ? ", forgotten" : "");
	table_cell(table, state, state_tint(store_rows_text(rows, 1)));
	table_cell_real(table, rows_real(rows, 2), 6);
	for (col = COLUMNS; col < store_rows_columns(rows); col++)
		table_cell_real(table, rows_real(rows, col), 6);
	table_cell(table, store_rows_text(rows, 3), TABLE_PLAIN);
	table_cell(table, more, TABLE_PLAIN);
	seconds = rows_real(rows, 4);
	table_cell_real(table, seconds > 0 ? seconds : NAN, 4);
	table_cell_real(table, rows_real(rows, 8), 4);
	rows_put_params(&params, store_rows_text(rows, 5), 4);
	table_cell(table, buf_str(&params), TABLE_PLAIN);
	table_cell(table, store_rows_text(rows, 6), TABLE_PLAIN);
	table_cell(table, store_rows_text(rows, 9), TABLE_PLAIN);
	table_cell(table, store_rows_text(rows, 10), TABLE_PLAIN);
	buf_free(&params);
}

/* The SELECT of the table; columns by name, because the view may grow. */
static void
select_put(struct buf *sql, const struct objectives *aims, const char *where)
{
	size_t i;

	buf_puts(sql, "SELECT t.trial, state, objective, step, seconds, "
		      "params, why, attempts, cost, tags, note, "
		      "forgotten");
	for (i = 2; i <= aims->n; i++)
		buf_printf(sql, ", " STORE_SQL_RESULT("t.trial", "%zu"), i);
	if (aims->constraints)
		buf_puts(sql,
		    ", (SELECT nullif(violation, 0) FROM " STORE_SQL_TRIALS
		    " AS v WHERE v.trial = t.trial)");
	buf_printf(sql, " FROM (%s) AS t", where);
}

static void
cmd_trials_columns_put(struct table *table, const struct objectives *aims)
{
	size_t i;

	table_column(table, "trial", TABLE_RIGHT);
	table_column(table, "state", TABLE_LEFT);
	for (i = 0; i < aims->n; i++)
		table_column(table, aims->objectives[i].metric, TABLE_RIGHT);
	if (aims->constraints)
		table_column(table, "violation", TABLE_RIGHT);
	table_column(table, "step", TABLE_RIGHT);
	table_column(table, "attempts", TABLE_RIGHT);
	table_column(table, "seconds", TABLE_RIGHT);
	table_column(table, "cost", TABLE_RIGHT);
	table_column(table, "parameters", TABLE_SHRINK);
	table_column(table, "why", TABLE_SHRINK);
	table_column(table, "tags", TABLE_SHRINK);
	table_column(table, "note", TABLE_SHRINK);
}

static void
part_print(const struct cli *cli, struct table *table, bool heads)
{
	struct buf out = { 0 };

	table_put(&out, table, cli->width, cli->colour, heads);
	(void)cli_print(&out);
	table_drop_rows(table);
}

/*
 * Add the rows of sql.  Beyond PART_ROWS they are printed, or where that is not
 * asked for only measured, part by part.  *parts: how many parts there were.
 */
static int
rows_add(const struct cli *cli, struct table *table, struct store *store,
    const char *sql, bool print, size_t *parts, struct err *e)
{
	struct store_rows *rows;
	int rc;

	*parts = 0;
	if (store_rows_open(&rows, store, sql, NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		if (table_rows(table) == PART_ROWS) {
			if (print)
				part_print(cli, table, *parts == 0);
			else
				table_drop_rows(table);
			++*parts;
		}
		row_add(table, rows);
	}
	store_rows_close(rows);
	return rc;
}

/* A long table is read twice: once for the widths of its columns. */
static int
cmd_trials_table_print(const struct cli *cli, struct store *store,
    const struct objectives *aims, const char *where, struct err *e)
{
	struct buf sql = { 0 };
	struct table *table = table_new();
	size_t parts;
	int rc;

	cmd_trials_columns_put(table, aims);
	select_put(&sql, aims, where);
	rc = rows_add(cli, table, store, buf_str(&sql), false, &parts, e);
	if (rc == 0 && parts > 0) {
		table_drop_rows(table);
		rc =
		    rows_add(cli, table, store, buf_str(&sql), true, &parts, e);
	}
	if (rc == 0 && table_rows(table) > 0)
		part_print(cli, table, parts == 0);
	table_free(table);
	buf_free(&sql);
	return rc;
}

/* With several aims, the results in all of them. */
static int
cmd_trials_json_print(struct store *store, const struct objectives *aims,
    const char *where, struct err *e)
{
	static const char *const outcomes =
	    "SELECT t.*, (SELECT json_group_object(metric, iif(abs(value) <= "
	    "1.7976931348623157e308, value, NULL)) FROM (SELECT DISTINCT "
	    "metric, value FROM outcomes AS o WHERE o.trial = t.trial)) AS "
	    "outcomes, (SELECT violation FROM " STORE_SQL_TRIALS
	    " AS v WHERE v.trial = t.trial) AS violation FROM (%s) AS t";
	bool wide = aims->several || aims->constraints;
	struct buf sql = { 0 }, out = { 0 };
	struct json_writer w = { .out = &out };
	struct store_rows *rows;
	int rc;

	buf_printf(&sql, wide ? outcomes : "%s", where);
	rc = store_rows_open(&rows, store, buf_str(&sql), NULL, e);
	buf_free(&sql);
	if (rc != 0)
		return -1;
	json_writer_array(&w, NULL);
	while ((rc = store_rows_next(rows, e)) == 1) {
		json_writer_line(&w);
		json_writer_object(&w, NULL);
		rows_put_members(&w, rows, 0);
		json_writer_end(&w);
		if (out.len >= PART_BYTES)
			(void)cli_print(&out);
	}
	store_rows_close(rows);
	json_writer_end(&w);
	buf_putc(&out, '\n');
	if (rc == 0)
		(void)cli_print(&out);
	buf_free(&out);
	return rc;
}

static int
trials_run(struct cli *cli)
{
	struct store_study study = { 0 };
	struct study_files found;
	struct store *store;
	struct objectives aims = { 0 };
	struct buf sql = { 0 };
	struct err e = ERR_INIT;
	int rc = -1;

	if (cli_open_store(cli, &found, &store, &e) != 0)
		return cli_fail(&e);
	/* One state of the file for all that is read. */
	if (store_begin(store, &e) != 0 ||
	    store_study_get(store, &study, &e) != 0 ||
	    objectives_read(&aims, store, &e) != 0 ||
	    query_put(&sql, cli, study.maximize, &e) != 0)
		goto out;
	if (cli->json)
		rc = cmd_trials_json_print(store, &aims, buf_str(&sql), &e);
	else
		rc = cmd_trials_table_print(
		    cli, store, &aims, buf_str(&sql), &e);
out:
	store_rollback(store);
	objectives_fini(&aims);
	buf_free(&sql);
	store_study_fini(&study);
	store_close(store);
	study_files_fini(&found);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}

static const struct cli_option trials_options[] = {
	{ "state", 0, "STATE,...", "only trials in these states" },
	{ "tag", 't', "TAG", "only trials with this tag" },
	{ "sort", 's', "COLUMN",
	    "trial, objective (best first), state, step, seconds, started, "
	    "ended, cost, gpu_seconds or energy_joules" },
	{ "reverse", 'r', NULL, "in reverse order" },
	{ "limit", 'n', "N", "at most N rows" },
	{ .name = NULL },
};

const struct cli_command cmd_trials = {
	.name = "trials",
	.args = "[STUDY]",
	.about = "the table of trials",
	.options = trials_options,
	.max_operands = 1,
	.json = true,
	.run = trials_run,
};
