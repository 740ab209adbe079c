/* The summary printed when a study ends, read from its views. */

#include <stdio.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/front-table.h"
#include "src/cli/screen/summary.h"
#include "src/store/store.h"
#include "src/view/best-settings.h"
#include "src/view/contest-text.h"
#include "src/view/objectives.h"
#include "src/view/status.h"

enum {
	FIGURES = 6, /* digits */
	FRONT_MOST = 20 /* rows */
};

static void
params_print(const char *text)
{
	struct json_doc *doc;
	const struct json *m;
	struct buf b = { 0 };

	if (json_parse(&doc, text, strlen(text), NULL, false, NULL) != 0)
		return;
	for (m = json_first(json_root(doc)); m != NULL; m = json_next(m)) {
		buf_clear(&b);
		if (json_string(m) != NULL)
			buf_puts(&b, json_string(m));
		else
			json_write(&b, m);
		cli_print_line("  %s = %s\n", json_key(m), buf_str(&b));
	}
	buf_free(&b);
	json_free(doc);
}

/* Rows of the best trial: trial, objective, params, state. */
static int
best_print(struct store *store, const char *metric,
    const struct store_rows *rows, struct err *e)
{
	struct buf broken = { 0 }, settings = { 0 };
	int rc;

	rc = objectives_put_broken(
	    &broken, store, store_rows_text(rows, 0), FIGURES, e);
	cli_print_line("best: trial %lld with %s %.6g",
	    (long long)store_rows_int(rows, 0), metric,
	    store_rows_real(rows, 1));
	if (rc == 0)
		rc = best_settings_put(&settings, store, FIGURES, "; ", e);
	if (strcmp(store_rows_text(rows, 3), "completed") != 0)
		cli_print_line(" (%s)", store_rows_text(rows, 3));
	if (broken.len > 0)
		cli_print_line(", though %s", buf_str(&broken));
	putchar('\n');
	params_print(store_rows_text(rows, 2));
	if (settings.len > 0)
		cli_print_line("%s\n", buf_str(&settings));
	buf_clear(&settings);
	if (rc == 0)
		rc = contest_text_put(&settings, store, FIGURES, e);
	if (settings.len > 0)
		cli_print_line("%s\n", buf_str(&settings));
	buf_free(&settings);
	buf_free(&broken);
	return rc;
}

static int
one_print(struct store *store, const char *metric, struct err *e)
{
	struct store_rows *rows;
	int rc;

	if (store_rows_open(&rows, store,
		"SELECT trial, (SELECT best FROM study), params, state "
		"FROM best",
		NULL, e) != 0)
		return -1;
	rc = store_rows_next(rows, e);
	if (rc == 0)
		cli_print_line("no trial has a value of %s\n", metric);
	if (rc == 1)
		rc = best_print(store, metric, rows, e);
	store_rows_close(rows);
	return rc;
}

/* The best trial, or the front. */
static int
result_print(
    struct cli *cli, struct store *store, const char *metric, struct err *e)
{
	struct buf b = { 0 }, table = { 0 };
	struct objectives aims;
	int rc;

	if (objectives_read(&aims, store, e) != 0)
		return -1;
	if (!aims.several)
		rc = one_print(store, metric, e);
	else {
		rc = objectives_put_front(&b, store, &aims, FIGURES, e);
		if (rc == 0)
			rc = front_table_put(
			    &table, cli, store, &aims, FRONT_MOST, e);
		if (rc == 0 && b.len == 0)
			cli_print_line("no trial is on the front\n");
		else if (rc == 0) {
			cli_print_line("front: %s\n", buf_str(&b));
			(void)cli_print(&table);
		}
	}
	buf_free(&b);
	buf_free(&table);
	objectives_fini(&aims);
	return rc;
}

/* Why the study failed; other ends were printed already. */
static int
why_print(struct store *store, struct err *e)
{
	struct store_study row = { 0 };

	if (store_study_get(store, &row, e) != 0)
		return -1;
	if (row.state == STUDY_FAILED && row.why != NULL)
		cli_print_line("%s\n", row.why);
	store_study_fini(&row);
	return 0;
}

/* ", 3 cancelled", unless there are none. */
static int
rest_print(struct store *store, struct err *e)
{
	struct store_rows *rows;
	int rc;

	if (store_rows_open(&rows, store,
		"SELECT state, count(*) FROM trials WHERE state IN "
		"('waiting', 'cancelled') GROUP BY state",
		NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1)
		cli_print_line(", %lld %s", (long long)store_rows_int(rows, 1),
		    store_rows_text(rows, 0));
	store_rows_close(rows);
	putchar('\n');
	return rc;
}

static int
study_print(struct store *store, char *metric, size_t n, struct err *e)
{
	struct store_rows *rows;
	int rc;

	if (store_rows_open(&rows, store,
		"SELECT name, state, trials, completed, stopped, failed, "
		"metric FROM study",
		NULL, e) != 0)
		return -1;
	rc = store_rows_next(rows, e);
	if (rc == 1) {
		(void)snprintf(metric, n, "%s", store_rows_text(rows, 6));
		cli_print_line(
		    "%s is %s: %lld trials, %lld completed, %lld stopped "
		    "early, %lld failed",
		    store_rows_text(rows, 0), store_rows_text(rows, 1),
		    (long long)store_rows_int(rows, 2),
		    (long long)store_rows_int(rows, 3),
		    (long long)store_rows_int(rows, 4),
		    (long long)store_rows_int(rows, 5));
	}
	store_rows_close(rows);
	if (rc >= 0)
		rc = rest_print(store, e);
	return rc < 0 ? -1 : why_print(store, e);
}

int
summary_print(struct cli *cli, const char *db, struct err *e)
{
	struct store *store;
	struct buf b = { 0 };
	struct json_writer w = { .out = &b };
	char metric[128] = "";
	int rc;

	if (store_open(&store, db, STORE_READ, e) != 0)
		return -1;
	if (cli->json) {
		json_writer_object(&w, NULL);
		rc = status_json(&w, store, e);
		json_writer_end(&w);
		buf_putc(&b, '\n');
		if (rc == 0)
			cli_print_json(buf_str(&b));
	} else {
		rc = study_print(store, metric, sizeof metric, e);
		if (rc == 0)
			rc = result_print(cli, store, metric, e);
		if (rc == 0)
			rc = status_put_savings(&b, store, e);
		if (rc == 0 && b.len > 0)
			cli_print_line("stopping saved %s\n", buf_str(&b));
		buf_clear(&b);
		if (rc == 0)
			rc = status_put_costs(&b, store, 0, e);
		if (rc == 0 && b.len > 0)
			cli_print_line("cost %s\n", buf_str(&b));
		buf_clear(&b);
		if (rc == 0)
			rc = status_put_usage(&b, store, e);
		if (rc == 0 && b.len > 0)
			cli_print_line("used %s\n", buf_str(&b));
	}
	buf_free(&b);
	store_close(store);
	return rc;
}
