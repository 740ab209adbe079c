/* hpotune show N: all recorded data about one trial. */

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/common/cli.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/study-files/attempt-log.h"
#include "src/study-files/study-files.h"
#include "src/view/rows.h"
#include "src/view/sparkline.h"
#include "src/view/table.h"

enum {
	SHOW_TAIL = 2048, /* bytes of the end of a log */
	SHOW_TAIL_LINES = 10,
	SHOW_STEPS = 20, /* lines of the curve unless --all */
	SHOW_SPARK = 60 /* columns */
};

struct show {
	struct cli *cli;
	struct store *store;
	struct buf out;
	char *metric;
	int64_t number;
	const char *params[2]; /* the trial's number, for the queries */
	const struct study_files *study;
};

/* The table of a section. */
struct section {
	const char *key; /* in the JSON document */
	const char *title;
	const char *sql; /* columns in the order of columns */
	struct {
		const char *head;
		enum table_column kind;
	} columns[12];
};

static const struct section sections[] = {
	{ "outcomes", "objectives and constraints",
	    "SELECT metric, coalesce(goal, 'keep') AS goal, min, max, value, "
	    "violation FROM outcomes WHERE trial = CAST(? AS INTEGER)",
	    { { "metric", TABLE_LEFT }, { "goal", TABLE_LEFT },
		{ "min", TABLE_RIGHT }, { "max", TABLE_RIGHT },
		{ "value", TABLE_RIGHT }, { "violation", TABLE_RIGHT } } },
	{ "metrics", "metrics",
	    "WITH m AS (SELECT name, step, value FROM metrics "
	    "WHERE trial = CAST(? AS INTEGER)), "
	    /* A bare column is of the row that has the max or the min. */
	    "l AS (SELECT name, count(*) AS reports, max(step) AS step, "
	    "value FROM m GROUP BY name), "
	    "a AS (SELECT name, min(value) AS value, step FROM m "
	    "GROUP BY name), "
	    "b AS (SELECT name, max(value) AS value, step FROM m "
	    "GROUP BY name) "
	    "SELECT l.name AS metric, l.reports AS reports, "
	    "l.step AS last_step, l.value AS last, a.value AS least, "
	    "a.step AS least_step, b.value AS greatest, "
	    "b.step AS greatest_step FROM l JOIN a USING (name) "
	    "JOIN b USING (name) ORDER BY l.name",
	    { { "metric", TABLE_LEFT }, { "reports", TABLE_RIGHT },
		{ "last step", TABLE_RIGHT }, { "last", TABLE_RIGHT },
		{ "least", TABLE_RIGHT }, { "at step", TABLE_RIGHT },
		{ "greatest", TABLE_RIGHT }, { "at step", TABLE_RIGHT } } },
	{ "replicates", "replicates of its setting",
	    "SELECT setting, replicate, trial, state, objective FROM trials "
	    "WHERE setting = (SELECT setting FROM trials WHERE "
	    "trial = CAST(? AS INTEGER)) AND forgotten = 0 ORDER BY replicate",
	    { { "setting", TABLE_RIGHT }, { "replicate", TABLE_RIGHT },
		{ "trial", TABLE_RIGHT }, { "state", TABLE_LEFT },
		{ "objective", TABLE_RIGHT } } },
	{ "attempts", "attempts",
	    "SELECT attempt, state, end_class, place, started, seconds, "
	    "exit_code, signal, resumed_step, billable_seconds, cost, log "
	    "FROM attempts "
	    "WHERE trial = CAST(? AS INTEGER) ORDER BY attempt",
	    { { "attempt", TABLE_RIGHT }, { "state", TABLE_LEFT },
		{ "end", TABLE_LEFT }, { "place", TABLE_LEFT },
		{ "started", TABLE_LEFT }, { "seconds", TABLE_RIGHT },
		{ "exit", TABLE_RIGHT }, { "signal", TABLE_RIGHT },
		{ "from step", TABLE_RIGHT }, { "billed", TABLE_RIGHT },
		{ "cost", TABLE_RIGHT }, { "log", TABLE_LEFT } } },
	{ "provenance", "where its attempts were started",
	    "SELECT attempt, host, version, substr(git_commit, 1, 12) "
	    "AS git_commit, git_branch, "
	    "CASE git_dirty WHEN 1 THEN 'changed' WHEN 0 THEN 'unchanged' "
	    "ELSE git_why END AS files, workdir FROM attempts "
	    "JOIN provenance USING (provenance) WHERE "
	    "trial = CAST(? AS INTEGER) ORDER BY attempt",
	    { { "attempt", TABLE_RIGHT }, { "host", TABLE_LEFT },
		{ "hpotune", TABLE_LEFT }, { "commit", TABLE_LEFT },
		{ "branch", TABLE_LEFT }, { "files", TABLE_LEFT },
		{ "workdir", TABLE_LEFT } } },
	{ "usage", "GPU usage of its attempts",
	    "SELECT attempt, gpus, gpu_seconds, energy_joules, gpu_memory, "
	    "gpu_utilization FROM attempts WHERE trial = CAST(? AS INTEGER) "
	    "AND gpus > 0 ORDER BY attempt",
	    { { "attempt", TABLE_RIGHT }, { "GPUs", TABLE_RIGHT },
		{ "GPU seconds", TABLE_RIGHT }, { "joules", TABLE_RIGHT },
		{ "most bytes", TABLE_RIGHT }, { "% in use", TABLE_RIGHT } } },
	{ "retries", "ends before it was retried",
	    "SELECT attempt, state, objective, why, time FROM retries "
	    "WHERE trial = CAST(? AS INTEGER)",
	    { { "attempt", TABLE_RIGHT }, { "state", TABLE_LEFT },
		{ "objective", TABLE_RIGHT }, { "why", TABLE_SHRINK },
		{ "retried", TABLE_LEFT } } },
	{ "stops",
	    "decisions that stopped, paused or resumed it, that came too "
	    "late, or that a guard suspended",
	    "SELECT step, verdict, rule, value, threshold, pool, time, why "
	    "FROM stops WHERE trial = CAST(? AS INTEGER) ORDER BY step, time",
	    { { "step", TABLE_RIGHT }, { "verdict", TABLE_LEFT },
		{ "rule", TABLE_LEFT }, { "value", TABLE_RIGHT },
		{ "threshold", TABLE_RIGHT }, { "pool", TABLE_RIGHT },
		{ "time", TABLE_LEFT }, { "why", TABLE_SHRINK } } },
	{ "events", "events",
	    "SELECT time, level, area, attempt, text FROM events "
	    "WHERE trial = CAST(? AS INTEGER) ORDER BY time",
	    { { "time", TABLE_LEFT }, { "level", TABLE_LEFT },
		{ "area", TABLE_LEFT }, { "attempt", TABLE_RIGHT },
		{ "text", TABLE_SHRINK } } },
};

#define N_SECTIONS (sizeof sections / sizeof sections[0])

static void
show_title_put(struct show *s, const char *title)
{
	buf_printf(
	    &s->out, s->cli->colour ? "\n\033[1m%s\033[0m\n" : "\n%s\n", title);
}

/* A numeric cell: steps in full, measured values with six digits. */
static void
number_cell(struct table *table, const struct store_rows *rows, int col)
{
	const char *text = store_rows_text(rows, col);

	if (text == NULL || strspn(text, "-0123456789") == strlen(text))
		table_cell(table, text, TABLE_PLAIN);
	else
		table_cell_real(table, rows_real(rows, col), 6);
}

static int
show_section_put(struct show *s, const struct section *section, struct err *e)
{
	struct table *table = table_new();
	struct store_rows *rows;
	int rc, col;

	for (col = 0; col < 12 && section->columns[col].head != NULL; col++)
		table_column(table, section->columns[col].head,
		    section->columns[col].kind);
	if (store_rows_open(&rows, s->store, section->sql, s->params, e) ==
	    -1) {
		table_free(table);
		return -1;
	}
	while ((rc = store_rows_next(rows, e)) == 1)
		for (col = 0; col < store_rows_columns(rows); col++)
			if (section->columns[col].kind == TABLE_RIGHT)
				number_cell(table, rows, col);
			else
				table_cell(table, store_rows_text(rows, col),
				    TABLE_PLAIN);
	store_rows_close(rows);
	if (rc == 0 && table_rows(table) > 0) {
		show_title_put(s, section->title);
		table_put(&s->out, table, s->cli->width, s->cli->colour, true);
	}
	table_free(table);
	return rc;
}

/* The curve and the medians over the same steps, one line each. */
static void
sparks_put(struct show *s, const struct sparkline curves[2])
{
	struct sparkline_frame frame;
	size_t i, columns = SHOW_SPARK;

	sparkline_frame_fit(&frame, curves, 2);
	if (frame.last - frame.first < SHOW_SPARK)
		columns = (size_t)(frame.last - frame.first + 1);
	for (i = 0; i < 2; i++) {
		if (curves[i].n == 0)
			continue;
		buf_puts(&s->out, i == 0 ? "  trial   " : "  median  ");
		sparkline_put(&s->out, &curves[i], &frame, columns);
		buf_putc(&s->out, '\n');
	}
}

static void
curve_row(struct table *table, const struct store_rows *rows)
{
	table_cell(table, store_rows_text(rows, 0), TABLE_PLAIN);
	table_cell_real(table, rows_real(rows, 1), 6);
	table_cell_real(table, rows_real(rows, 2), 6);
	table_cell(table, store_rows_text(rows, 3), TABLE_PLAIN);
}

/* The table of steps: all, or about SHOW_STEPS of them and the last. */
static int
show_steps_put(struct show *s, size_t n, struct err *e)
{
	size_t every = 1, i = 0;
	struct table *table;
	struct store_rows *rows;
	int rc;

	if (!cli_has(s->cli, "all"))
		every = (n + SHOW_STEPS - 1) / SHOW_STEPS;
	if (store_list_curve_beside_medians(&rows, s->store, s->number, e) != 0)
		return -1;
	table = table_new();
	table_column(table, "step", TABLE_RIGHT);
	table_column(table, s->metric, TABLE_RIGHT);
	table_column(table, "median", TABLE_RIGHT);
	table_column(table, "trials", TABLE_RIGHT);
	for (; (rc = store_rows_next(rows, e)) == 1; i++)
		if (i % every == 0 || i == n - 1)
			curve_row(table, rows);
	store_rows_close(rows);
	table_put(&s->out, table, s->cli->width, s->cli->colour, true);
	if (every > 1)
		buf_printf(&s->out, "(%zu of %zu steps; --all prints them)\n",
		    table_rows(table), n);
	table_free(table);
	return rc;
}

static int
show_curve_put(struct show *s, struct err *e)
{
	struct sparkline curves[2] = { { 0 } };
	struct store_rows *rows;
	int rc;

	rc = store_list_curve(&rows, s->store, s->number, e);
	if (rc == 0)
		rc = rows_take_curve(&curves[0], rows, e);
	if (rc == 0)
		rc = rows_curve(&curves[1], s->store,
		    "SELECT step, median FROM medians ORDER BY step", NULL, e);
	if (rc == 0 && curves[0].n > 0) {
		show_title_put(s, "curve");
		sparks_put(s, curves);
		rc = show_steps_put(s, curves[0].n, e);
	}
	sparkline_free(&curves[0]);
	sparkline_free(&curves[1]);
	return rc;
}

/* What the user did to the trial. */
static void
user_put(struct show *s, const struct store_rows *trial)
{
	static const char *const names[] = { "note", "tags" };
	int i;

	for (i = 0; i < 2; i++) {
		if (store_rows_null(trial, 10 + i))
			continue;
		buf_printf(&s->out, "%s: ", names[i]);
		cli_put_text(&s->out, store_rows_text(trial, 10 + i));
		buf_putc(&s->out, '\n');
	}
	if (store_rows_int(trial, 12) > 0)
		buf_puts(&s->out, "forgotten: no strategy, rule or result "
				  "counts it; hpotune forget --undo does\n");
	if (!store_rows_null(trial, 13)) {
		buf_puts(&s->out, "outside of the space: ");
		cli_put_text(&s->out, store_rows_text(trial, 13));
		buf_putc(&s->out, '\n');
	}
}

static void
show_head_put(struct show *s, const struct store_rows *trial)
{
	const char *why;

	buf_printf(
	    &s->out, "trial %s: %s", s->params[0], store_rows_text(trial, 0));
	if (!store_rows_null(trial, 1)) {
		buf_puts(&s->out, ", ");
		cli_put_text(&s->out, s->metric);
		buf_putc(&s->out, ' ');
		rows_put_number(&s->out, store_rows_real(trial, 1), 0);
		if (!store_rows_null(trial, 9))
			buf_printf(
			    &s->out, " at step %s", store_rows_text(trial, 9));
	}
	if (store_rows_int(trial, 8) > 0)
		buf_puts(&s->out, ", on the front");
	buf_printf(&s->out, ", %s report%s", store_rows_text(trial, 2),
	    store_rows_int(trial, 2) == 1 ? "" : "s");
	if (!store_rows_null(trial, 5))
		buf_printf(&s->out, ", %.4g s", store_rows_real(trial, 5));
	if (!store_rows_null(trial, 3))
		buf_printf(&s->out, "\nstarted %s", store_rows_text(trial, 3));
	if (!store_rows_null(trial, 4))
		buf_printf(&s->out, ", ended %s", store_rows_text(trial, 4));
	buf_putc(&s->out, '\n');
	if (!store_rows_null(trial, 6)) {
		why = store_rows_text(trial, 6);
		buf_puts(&s->out, "why: ");
		cli_put_text(&s->out, why);
		buf_putc(&s->out, '\n');
	}
	user_put(s, trial);
	show_title_put(s, "parameters");
	cli_put_params(&s->out, store_rows_text(trial, 7));
}

/* The last lines of a file, from the first whole one. */
static void
show_tail_put(struct show *s, const char *title, const char *path)
{
	char bytes[SHOW_TAIL];
	const char *from = bytes, *end;
	int fd = file_open(AT_FDCWD, path), lines = 0;
	struct stat st;
	ssize_t n = 0;

	if (fd == -1)
		return;
	if (fstat(fd, &st) == 0)
		n = pread(fd, bytes, sizeof bytes,
		    st.st_size > SHOW_TAIL ? st.st_size - SHOW_TAIL : 0);
	(void)close(fd);
	while (n > 0 && isspace((unsigned char)bytes[n - 1]))
		n--;
	if (n <= 0)
		return;
	for (end = from = bytes + n; from > bytes; from--)
		if (from[-1] == '\n' && ++lines == SHOW_TAIL_LINES)
			break;
	show_title_put(s, title);
	text_put_harmless(&s->out, from, (size_t)(end - from), TEXT_LINES);
	buf_putc(&s->out, '\n');
}

/* What a trial that failed wrote last. */
static int
last_words_put(struct show *s, const struct store_rows *trial, struct err *e)
{
	static const char *const sql =
	    "SELECT attempt, log, backend FROM attempts WHERE "
	    "trial = CAST(? AS INTEGER) AND log IS NOT NULL "
	    "ORDER BY attempt DESC LIMIT 1";
	struct store_rows *rows;
	char *path, *before;
	int rc;

	if (strcmp(store_rows_text(trial, 0), "failed") != 0)
		return 0;
	rc = rows_first(&rows, s->store, sql, s->params, e);
	if (rc != 1)
		return rc;
	path = attempt_log_path(s->study->db, s->study->db_dir, s->number,
	    (int)store_rows_int(rows, 0), store_rows_text(rows, 1), 0);
	before = attempt_log_before(store_rows_text(rows, 2), path);
	if (before != NULL)
		show_tail_put(
		    s, "the end of what its job wrote before", before);
	show_tail_put(s, "the end of its log", path);
	free(before);
	free(path);
	store_rows_close(rows);
	return 0;
}

static int
show_text(struct show *s, const struct store_rows *trial, struct err *e)
{
	size_t i;

	show_head_put(s, trial);
	if (show_curve_put(s, e) != 0)
		return -1;
	for (i = 0; i < N_SECTIONS; i++)
		if (show_section_put(s, &sections[i], e) != 0)
			return -1;
	return last_words_put(s, trial, e);
}

static int
show_json(struct show *s, struct err *e)
{
	struct json_writer w = { .out = &s->out };
	struct store_rows *rows;
	size_t i;

	json_writer_object(&w, NULL);
	if (rows_put_json(json_writer_value(&w, "trial"), s->store,
		"SELECT * FROM trials WHERE trial = CAST(? AS INTEGER)",
		s->params, true, e) != 0)
		return -1;
	json_writer_line(&w);
	if (store_list_curve_beside_medians(&rows, s->store, s->number, e) !=
		0 ||
	    rows_take_json(json_writer_value(&w, "curve"), rows, false, e) != 0)
		return -1;
	for (i = 0; i < N_SECTIONS; i++) {
		json_writer_line(&w);
		if (rows_put_json(json_writer_value(&w, sections[i].key),
			s->store, sections[i].sql, s->params, false, e) != 0)
			return -1;
	}
	json_writer_end(&w);
	buf_putc(&s->out, '\n');
	return 0;
}

static int
show_trial(struct show *s, int64_t number, struct err *e)
{
	static const char *const sql =
	    "SELECT state, objective, reports, started, ended, seconds, why, "
	    "params, trial IN (SELECT trial FROM front) AND "
	    "(SELECT best_trial FROM study) IS NULL, "
	    "(SELECT max(step) FROM curves WHERE curves.trial = trials.trial "
	    "AND value = objective), note, tags, forgotten, outside "
	    "FROM trials WHERE trial = CAST(? AS INTEGER)";
	struct store_study study = { 0 };
	struct store_rows *trial;
	char text[32];
	int rc;

	(void)snprintf(text, sizeof text, "%" PRId64, number);
	s->number = number;
	if (store_study_get(s->store, &study, e) != 0)
		return -1;
	s->params[0] = text;
	s->metric = study.metric;
	rc = rows_first(&trial, s->store, sql, s->params, e);
	if (rc == 0)
		rc = err_set(e, ERR_USAGE, "show: %s has no trial %" PRId64,
		    study.name, number);
	else if (rc == 1) {
		rc = s->cli->json ? show_json(s, e) : show_text(s, trial, e);
		store_rows_close(trial);
	}
	s->params[0] = NULL;
	store_study_fini(&study);
	return rc;
}

static int
show_run(struct cli *cli)
{
	struct study_files found;
	struct show s = { .cli = cli, .study = &found };
	struct err e = ERR_INIT;
	int64_t number;
	int rc;

	if (cli_open_store(cli, &found, &s.store, &e) != 0)
		return cli_fail(&e);
	rc = cli_trial_operand(cli, &number, &e);
	if (rc == 0)
		rc = show_trial(&s, number, &e);
	if (rc == 0)
		(void)cli_print(&s.out);
	buf_free(&s.out);
	store_close(s.store);
	study_files_fini(&found);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}

static const struct cli_option show_options[] = {
	{ "all", 'a', NULL, "every step of the curve" },
	{ .name = NULL },
};

const struct cli_command cmd_show = {
	.name = "show",
	.args = "[STUDY] TRIAL",
	.about = "details of a trial: curve, attempts, decisions",
	.options = show_options,
	.min_operands = 1,
	.max_operands = 2,
	.json = true,
	.run = show_run,
};
