/*
 * A study as one JSON document: the row of view study with study.json as
 * settings, and the trials with their lists; or one view as an array.
 */

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/export/export.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/view/rows.h"

/* The lists of a trial.  Column 0 is the trial's number, ascending. */
static const struct section {
	const char *key;
	const char *sql;
	int (*list)(struct store_rows **, struct store *, struct err *);
} sections[] = {
	{ .key = "outcomes",
	    .sql = "SELECT trial, metric, coalesce(goal, 'keep') AS goal, "
		   "min, max, value, violation FROM outcomes "
		   "ORDER BY trial" },
	{ .key = "curve",
	    .sql = "SELECT trial, step, value FROM curves "
		   "ORDER BY trial, step" },
	{ .key = "metrics", .list = store_list_other_reports },
	{ .key = "attempts",
	    .sql = "SELECT * FROM attempts ORDER BY trial, attempt" },
	{ .key = "stops",
	    .sql = "SELECT trial, step, rule, value, threshold, pool, "
		   "verdict, time, why FROM stops ORDER BY trial, step, time" },
};

/* Without the number of attempts: their list has that name. */
static const char trials_sql[] =
    "SELECT trial, state, objective, step, reports, params, backend, started, "
    "ended, seconds, gpu_seconds, cost, why, energy_joules, gpu_memory, "
    "gpu_utilization, note, tags, forgotten FROM trials ORDER BY trial";

#define N_SECTIONS (sizeof sections / sizeof sections[0])

static void
cursors_close(struct rows_cursor *cursors)
{
	size_t i;

	for (i = 0; i < N_SECTIONS; i++)
		rows_cursor_close(&cursors[i]);
}

static int
cursors_open(struct rows_cursor *cursors, struct store *store, struct err *e)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < N_SECTIONS && rc == 0; i++)
		if (sections[i].sql != NULL)
			rc = rows_cursor_open(
			    &cursors[i], store, sections[i].sql, e);
		else if ((rc = sections[i].list(&cursors[i].rows, store, e)) ==
			 0)
			rc = rows_cursor_next(&cursors[i], e);
	return rc;
}

/* The rows of one trial, which come next. */
static int
export_json_section_put(struct json_writer *w, const char *key,
    struct rows_cursor *c, int64_t trial, struct err *e)
{
	json_writer_line(w);
	json_writer_array(w, key);
	while (rows_cursor_is_at(c, trial)) {
		json_writer_object(w, NULL);
		rows_put_members(w, c->rows, 1);
		json_writer_end(w);
		if (rows_cursor_next(c, e) != 0)
			return -1;
	}
	json_writer_end(w);
	return 0;
}

static int
export_json_trial_put(struct export *x, struct json_writer *w,
    const struct store_rows *trial, struct rows_cursor *cursors, struct err *e)
{
	size_t i;

	json_writer_line(w);
	json_writer_object(w, NULL);
	rows_put_members(w, trial, 0);
	for (i = 0; i < N_SECTIONS; i++)
		if (export_json_section_put(w, sections[i].key, &cursors[i],
			store_rows_int(trial, 0), e) != 0)
			return -1;
	json_writer_end(w);
	return export_flush(x, e);
}

static int
export_json_trials_put(struct export *x, struct json_writer *w, struct err *e)
{
	struct rows_cursor cursors[N_SECTIONS] = { { 0 } };
	struct store_rows *trials = NULL;
	int rc;

	rc = cursors_open(cursors, x->store, e);
	if (rc == 0)
		rc = store_rows_open(&trials, x->store, trials_sql, NULL, e);
	while (rc == 0 && (rc = store_rows_next(trials, e)) == 1)
		rc = export_json_trial_put(x, w, trials, cursors, e);
	store_rows_close(trials);
	cursors_close(cursors);
	return rc;
}

static int
export_json_table_put(struct export *x, struct json_writer *w, struct err *e)
{
	struct store_rows *rows;
	struct buf sql = { 0 };
	int rc;

	export_put_select(&sql, x->store, x->table);
	rc = store_rows_open(&rows, x->store, buf_str(&sql), NULL, e);
	buf_free(&sql);
	if (rc == -1)
		return -1;
	json_writer_array(w, NULL);
	while ((rc = store_rows_next(rows, e)) == 1) {
		json_writer_line(w);
		json_writer_object(w, NULL);
		rows_put_members(w, rows, 0);
		json_writer_end(w);
		if ((rc = export_flush(x, e)) == -1)
			break;
	}
	json_writer_end(w);
	buf_putc(&x->text, '\n');
	store_rows_close(rows);
	return rc;
}

int
export_json(struct export *x, struct err *e)
{
	static const char *const study =
	    "SELECT study.*, " STORE_SQL_JSON " AS settings FROM study";
	struct json_writer w = { .out = &x->text };

	if (x->table != NULL)
		return export_json_table_put(x, &w, e);
	json_writer_object(&w, NULL);
	if (rows_put_json(json_writer_value(&w, "study"), x->store, study, NULL,
		true, e) != 0)
		return -1;
	json_writer_line(&w);
	json_writer_array(&w, "trials");
	if (export_json_trials_put(x, &w, e) != 0)
		return -1;
	json_writer_end(&w);
	json_writer_end(&w);
	buf_putc(&x->text, '\n');
	return 0;
}
