/*
 * hpotune best: the best trial, its parameters, and how to run it again; with
 * several objectives the front.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/front-table.h"
#include "src/cli/common/rerun-command.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"
#include "src/view/best-settings.h"
#include "src/view/contest-text.h"
#include "src/view/model-best.h"
#include "src/view/objectives.h"
#include "src/view/rows.h"

/* The first two settings, and whether the first is better beyond chance. */
static int
settings_json(struct buf *out, struct store *store, struct err *e)
{
	struct json_writer w = { .out = out, .comma = true };
	struct best_settings c = { .p = NAN };
	double any = 0;

	if (rows_numbers(&any, 1, store, "SELECT count(*) FROM settings", e) ==
	    -1)
		return -1;
	if (!(any > 0))
		return 0;
	if (best_settings_compare(&c, store, e) == -1)
		return -1;
	if (rows_put_json(json_writer_value(&w, "settings"), store,
		"SELECT * FROM settings WHERE rank <= 2 ORDER BY rank", NULL,
		false, e) != 0)
		return -1;
	json_writer_number(&w, "p", c.p);
	return rows_put_json(json_writer_value(&w, "confirmed"), store,
	    CONTEST_TEXT_SQL, NULL, true, e);
}

/* The object held_best, which a program reads. */
static int
model_json(struct buf *out, struct store *store, const struct objectives *aims,
    struct err *e)
{
	struct json_writer w = { .out = out, .comma = true };
	struct model_best m;
	int rc = model_best_find(&m, store, aims, e);

	if (rc != 1)
		return rc;
	json_writer_object(&w, "held_best");
	json_writer_integer(&w, "trial", m.trial);
	json_writer_number(&w, "objective", m.result);
	json_writer_number(&w, "expected", m.expected);
	json_writer_number(&w, "expected_of_best", m.expected_looks);
	json_writer_number(&w, "noise", m.noise);
	json_writer_end(&w);
	return 0;
}

/*
 * The first trial of the baseline that a proposal became, its parameters and its
 * commit: no row without one, and when it is this trial.
 */
static int
baseline_first(struct store_rows **rows, struct store *store, int64_t best,
    struct store_proposals *p, struct err *e)
{
	char number[24];
	const char *args[] = { number, NULL };

	if (store_proposals_get(store, p, e) != 0)
		return -1;
	if (p->trial == 0 || p->trial == best)
		return 0;
	(void)snprintf(number, sizeof number, "%" PRId64, p->trial);
	return rows_first(rows, store,
	    "SELECT params, git_commit FROM trials WHERE trial = "
	    "CAST(?1 AS INTEGER)",
	    args, e);
}

/* The object baseline, with what runs it again. */
static int
baseline_json(struct buf *out, struct store *store,
    const struct study_files *found, const struct store_study *study,
    int64_t best, struct err *e)
{
	struct json_writer w = { .out = out, .comma = true };
	struct store_proposals p;
	struct store_rows *rows;
	int rc = baseline_first(&rows, store, best, &p, e);

	if (rc != 1)
		return rc;
	json_writer_object(&w, "baseline");
	json_writer_integer(&w, "trial", p.trial);
	json_writer_integer(&w, "proposal", p.standing);
	buf_puts(json_writer_value(&w, "params"), store_rows_text(rows, 0));
	rc = rerun_command_put(out, store, found, study, p.trial, true, e);
	json_writer_end(&w);
	store_rows_close(rows);
	return rc;
}

static int
best_json(struct buf *out, struct store *store, const struct study_files *found,
    const struct store_study *study, const struct objectives *aims,
    const struct store_rows *best, struct err *e)
{
	if (rows_put_json(out, store, "SELECT * FROM best", NULL, true, e) ==
	    -1)
		return -1;
	out->len--;
	if (settings_json(out, store, e) != 0 ||
	    model_json(out, store, aims, e) != 0 ||
	    baseline_json(
		out, store, found, study, store_rows_int(best, 0), e) != 0)
		return -1;
	if (rerun_command_put(out, store, found, study, store_rows_int(best, 0),
		true, e) != 0)
		return -1;
	buf_puts(out, "}\n");
	return 0;
}

/* Print the URI of an artifact of the trial, or its commit; "": it has none. */
static void
put_uri(struct buf *out, const char *what, const char *uri)
{
	if (*uri == '\0')
		return;
	buf_printf(out, "%s  ", what);
	cli_put_text(out, uri);
	buf_putc(out, '\n');
}

static int
baseline_text(struct buf *out, struct store *store,
    const struct study_files *found, const struct store_study *study,
    int64_t best, struct err *e)
{
	struct buf line = { 0 };
	struct store_proposals p;
	struct store_rows *rows;
	int rc = baseline_first(&rows, store, best, &p, e);

	if (rc != 1)
		return rc;
	buf_printf(out, "what proposal %" PRId64 " has made the baseline:\n",
	    p.standing);
	cli_put_params(out, store_rows_text(rows, 0));
	put_uri(out, "commit", store_rows_text(rows, 1));
	rc = rerun_command_put(&line, store, found, study, p.trial, false, e);
	if (line.len > 0)
		buf_printf(out, "baseline %s", buf_str(&line));
	buf_free(&line);
	store_rows_close(rows);
	return rc;
}

static int
best_text(struct buf *out, struct store *store, const struct study_files *found,
    const struct store_study *study, const struct objectives *aims,
    const struct store_rows *best, const struct buf *broken, struct err *e)
{
	buf_printf(out, "trial %s, %s: ", store_rows_text(best, 0),
	    store_rows_text(best, 1));
	cli_put_text(out, study->metric);
	buf_putc(out, ' ');
	rows_put_number(out, rows_real(best, 2), 0);
	if (!store_rows_null(best, 3))
		buf_printf(out, " (last step %s)", store_rows_text(best, 3));
	buf_putc(out, '\n');
	if (broken->len > 0)
		buf_printf(out,
		    "no trial satisfies all constraints: of this one %s\n",
		    buf_str(broken));
	if (best_settings_put(out, store, 12, "\n", e) != 0 ||
	    model_best_put(out, store, aims, 12, e) != 0)
		return -1;
	if (buf_str(out)[out->len - 1] != '\n')
		buf_putc(out, '\n');
	if (contest_text_put(out, store, 12, e) != 0)
		return -1;
	if (buf_str(out)[out->len - 1] != '\n')
		buf_putc(out, '\n');
	cli_put_params(out, store_rows_text(best, 4));
	put_uri(out, "model", store_rows_text(best, 5));
	put_uri(out, "output", store_rows_text(best, 6));
	put_uri(out, "commit", store_rows_text(best, 7));
	if (rerun_command_put(out, store, found, study, store_rows_int(best, 0),
		false, e) != 0)
		return -1;
	if (buf_str(out)[out->len - 1] != '\n')
		buf_putc(out, '\n');
	return baseline_text(
	    out, store, found, study, store_rows_int(best, 0), e);
}

/* The front, when there are several objectives. */
static int
best_front(struct buf *out, const struct cli *cli, struct store *store,
    const struct objectives *aims, struct err *e)
{
	struct json_writer w = { .out = out };

	if (!cli->json)
		return front_table_put(out, cli, store, aims, 0, e);
	json_writer_object(&w, NULL);
	if (rows_put_json(json_writer_value(&w, "front"), store,
		"SELECT * FROM front", NULL, false, e) != 0)
		return -1;
	json_writer_end(&w);
	buf_putc(out, '\n');
	return 0;
}

static int
best_one(struct buf *out, const struct cli *cli, struct store *store,
    const struct study_files *found, const struct store_study *study,
    const struct objectives *aims, struct err *e)
{
	static const char *const sql =
	    "SELECT trial, state, objective, step, params, model_uri, "
	    "output_uri, git_commit FROM best";
	struct store_rows *best;
	struct buf broken = { 0 };
	int rc = rows_first(&best, store, sql, NULL, e);

	if (rc != 1)
		return rc;
	rc = objectives_put_broken(
	    &broken, store, store_rows_text(best, 0), 0, e);
	if (rc == 0 && cli->json)
		rc = best_json(out, store, found, study, aims, best, e);
	else if (rc == 0)
		rc =
		    best_text(out, store, found, study, aims, best, &broken, e);
	buf_free(&broken);
	store_rows_close(best);
	return rc;
}

/* Print why there is no result. */
static int
best_none(struct store *store, const char *name, struct err *e)
{
	static const char *const sql =
	    "SELECT 1 FROM trials WHERE state = 'completed' LIMIT 1";
	struct store_rows *row;
	int rc = rows_first(&row, store, sql, NULL, e);

	if (rc == -1)
		return -1;
	if (rc == 0)
		return err_set(
		    e, ERR_STORE, "%s: no trial has a result yet", name);
	store_rows_close(row);
	return err_set(
	    e, ERR_STORE, "%s: no trial satisfies all constraints yet", name);
}

static int
best_run(struct cli *cli)
{
	struct store_study study = { 0 };
	struct objectives aims = { 0 };
	struct study_files found;
	struct store *store;
	struct buf out = { 0 };
	struct err e = ERR_INIT;
	int rc;

	if (cli_open_store(cli, &found, &store, &e) != 0)
		return cli_fail(&e);
	rc = store_study_get(store, &study, &e);
	if (rc == 0)
		rc = objectives_read(&aims, store, &e);
	if (rc == 0 && aims.several)
		rc = best_front(&out, cli, store, &aims, &e);
	else if (rc == 0)
		rc = best_one(&out, cli, store, &found, &study, &aims, &e);
	if (rc == 0 && out.len == 0)
		rc = best_none(store, study.name, &e);
	if (rc == 0)
		(void)cli_print(&out);
	buf_free(&out);
	objectives_fini(&aims);
	store_study_fini(&study);
	store_close(store);
	study_files_fini(&found);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}

const struct cli_command cmd_best = {
	.name = "best",
	.args = "[STUDY]",
	.about = "the best trial, and the command to run it again",
	.max_operands = 1,
	.json = true,
	.run = best_run,
};
