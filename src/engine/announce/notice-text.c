/*
 * The text of a notice, and its figures as JSON, from the views of the
 * database.
 */

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/engine/announce/notice-text.h"
#include "src/model/goal.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/view/objectives.h"
#include "src/view/rows.h"

enum {
	FIGURES = 6, /* digits */
	PARAMS_MOST = 32 << 10, /* bytes: SNS and EventBridge accept 256 KiB */
	HOST_BYTES = 256
};

static const char best_sql[] =
    "SELECT trial, objective, state, params FROM best";
static const char cost_sql[] = "SELECT cost FROM costs";

static void
host_name(char host[HOST_BYTES])
{
	memset(host, 0, HOST_BYTES);
	(void)gethostname(host, HOST_BYTES - 1);
}

static void
notice_text_time_put(struct buf *b, int64_t us)
{
	time_t s = (time_t)(us / 1000000);
	char text[32];
	struct tm tm;

	if (gmtime_r(&s, &tm) == NULL ||
	    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		*text = '\0';
	buf_puts(b, text);
}

/* "12: 9 completed, 3 stopped" */
static int
notice_text_counts_put(struct buf *b, struct store *store, struct err *e)
{
	struct buf list = { 0 };
	struct store_rows *rows;
	int64_t n, all = 0;
	int rc;

	if (store_list_counts(&rows, store, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		if ((rc = rows_count(rows, 1, &n, e)) != 0)
			break;
		buf_printf(&list, "%s%" PRId64 " %s", list.len > 0 ? ", " : "",
		    n, store_rows_text(rows, 0));
		all += n;
	}
	store_rows_close(rows);
	buf_printf(b, "%" PRId64 "%s%s", all, list.len > 0 ? ": " : "",
	    buf_str(&list));
	buf_free(&list);
	return rc;
}

/* "trial 3 with loss 0.01 (stopped), though latency 63 is above 50" */
static int
notice_text_best_put(struct buf *b, const struct notice_facts *f,
    struct store *store, struct err *e)
{
	struct buf broken = { 0 };
	struct store_rows *rows;
	int rc = rows_first(&rows, store, best_sql, NULL, e);

	if (rc == 0)
		buf_printf(b, "no trial has a value of %s", f->study->metric);
	if (rc != 1)
		return rc;
	buf_printf(b, "trial %" PRId64 " with %s ", store_rows_int(rows, 0),
	    f->study->metric);
	rows_put_number(b, rows_real(rows, 1), FIGURES);
	if (strcmp(store_rows_text(rows, 2), "completed") != 0)
		buf_printf(b, " (%s)", store_rows_text(rows, 2));
	rc = objectives_put_broken(
	    &broken, store, store_rows_text(rows, 0), FIGURES, e);
	if (broken.len > 0)
		buf_printf(b, ", though %s", buf_str(&broken));
	if (strlen(store_rows_text(rows, 3)) <= PARAMS_MOST) {
		buf_puts(b, "\n        ");
		rows_put_params(b, store_rows_text(rows, 3), FIGURES);
	}
	buf_free(&broken);
	store_rows_close(rows);
	return rc;
}

/* With several objectives: "3 trials, accuracy 0.71 to 0.93". */
static int
notice_text_front_put(struct buf *b, struct store *store, struct err *e)
{
	struct objectives aims;
	size_t was = b->len;
	int rc;

	if (objectives_read(&aims, store, e) != 0)
		return -1;
	rc = objectives_put_front(b, store, &aims, FIGURES, e);
	if (b->len == was)
		buf_puts(b, "no trial");
	objectives_fini(&aims);
	return rc;
}

/* Dollars, NaN when nothing has a cost. */
static int
cost_get(double *cost, struct store *store, struct err *e)
{
	return rows_numbers(cost, 1, store, cost_sql, e) < 0 ? -1 : 0;
}

int
notice_text_put(struct buf *out, const struct notice_facts *f,
    struct store *store, struct err *e)
{
	bool several = f->study->n_objectives > 1;
	char host[HOST_BYTES];
	struct buf b = { 0 };
	double cost;
	int rc;

	host_name(host);
	buf_printf(&b, "The study %s %s: %s.\n\n", f->study->name,
	    study_moment_phrase(f->moment), f->why);
	buf_puts(&b, several ? "front:  " : "best:   ");
	rc = several ? notice_text_front_put(&b, store, e)
		     : notice_text_best_put(&b, f, store, e);
	buf_puts(&b, "\ntrials: ");
	if (rc == 0)
		rc = notice_text_counts_put(&b, store, e);
	if (rc == 0)
		rc = cost_get(&cost, store, e);
	if (rc == 0 && !isnan(cost))
		buf_printf(&b, "\ncost:   $%.2f", cost);
	buf_puts(&b, "\nran:    ");
	duration_put(&b, f->elapsed_ms / 1000 * 1000);
	buf_printf(
	    &b, "\nhost:   %s\nfolder: %s\ntime:   ", host, f->study->dir);
	notice_text_time_put(&b, f->time_us);
	buf_printf(&b, "\nnotice: %s (the same in every copy)\n", f->id);
	if (rc == 0)
		text_put_harmless(out, buf_str(&b), b.len, TEXT_LINES);
	buf_free(&b);
	return rc;
}

/* All states with at least one trial. */
static int
counts_put_json(struct json_writer *w, struct store *store, struct err *e)
{
	struct store_rows *rows;
	int64_t n;
	int rc;

	if (store_list_counts(&rows, store, e) != 0)
		return -1;
	json_writer_object(w, "trials");
	while ((rc = store_rows_next(rows, e)) == 1) {
		if ((rc = rows_count(rows, 1, &n, e)) != 0)
			break;
		json_writer_integer(w, store_rows_text(rows, 0), n);
	}
	json_writer_end(w);
	store_rows_close(rows);
	return rc;
}

static int
best_put_json(struct json_writer *w, struct store *store, struct err *e)
{
	struct buf best = { 0 };
	int rc;

	rc = rows_put_json(&best, store, best_sql, NULL, true, e);
	json_writer_raw(
	    w, "best", best.len <= PARAMS_MOST ? buf_str(&best) : "null");
	buf_free(&best);
	return rc;
}

static int
front_put_json(struct json_writer *w, struct store *store, struct err *e)
{
	struct buf front = { 0 };
	int rc = notice_text_front_put(&front, store, e);

	json_writer_text(w, "front", buf_str(&front));
	buf_free(&front);
	return rc;
}

int
notice_text_put_detail(struct buf *out, const struct notice_facts *f,
    struct store *store, struct err *e)
{
	bool several = f->study->n_objectives > 1;
	char host[HOST_BYTES];
	struct buf when = { 0 }, why = { 0 };
	struct json_writer w = { .out = out };
	double cost;
	int rc;

	host_name(host);
	notice_text_time_put(&when, f->time_us);
	text_put_harmless(&why, f->why, strlen(f->why), TEXT_LINE);
	json_writer_object(&w, NULL);
	json_writer_text(&w, "notice", f->id);
	json_writer_text(&w, "study", f->study->name);
	json_writer_text(&w, "moment", study_moment_name(f->moment));
	json_writer_text(&w, "state", f->state);
	json_writer_text(&w, "why", buf_str(&why));
	json_writer_text(&w, "time", buf_str(&when));
	if (!several) {
		json_writer_text(&w, "metric", f->study->metric);
		json_writer_text(&w, "goal", goal_name(f->study->maximize));
	}
	rc = several ? front_put_json(&w, store, e)
		     : best_put_json(&w, store, e);
	if (rc == 0)
		rc = counts_put_json(&w, store, e);
	if (rc == 0)
		rc = cost_get(&cost, store, e);
	if (rc == 0 && !isnan(cost))
		json_writer_number(&w, "cost", cost);
	json_writer_integer(&w, "seconds", f->elapsed_ms / 1000);
	json_writer_text(&w, "host", host);
	json_writer_text(&w, "folder", f->study->dir);
	json_writer_text(&w, "version", PACKAGE_VERSION);
	json_writer_end(&w);
	buf_free(&when);
	buf_free(&why);
	return rc;
}
