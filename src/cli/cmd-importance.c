/* hpotune importance: how much each parameter matters. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"
#include "src/view/objectives.h"
#include "src/view/rows.h"
#include "src/view/table.h"
#include "src/view/trial-points.h"
#include "strategies/importance/importance.h"

enum {
	TREES = 64,
	TRIALS_LEAST = 2,
	PAIRS_LEAST = 10, /* trials below which interactions are not shown */
	BAR = 24 /* columns */
};

/* Options of the command, and its results for one objective. */
struct question {
	struct study *study;
	struct objectives aims;
	bool forest, stopped;
	double target; /* for PED-ANOVA: the share of good trials */
	size_t aim; /* the objective of what follows */
	double *points, *losses;
	size_t n, cap;
	double *share; /* per parameter */
	struct importance_pair pairs[IMPORTANCE_PAIRS];
	size_t n_pairs, pair_trials;
	double sum; /* of the shares, before they added up to 1 */
};

static void
question_fini(struct question *q)
{
	study_free(q->study);
	objectives_fini(&q->aims);
	free(q->points);
	free(q->losses);
	free(q->share);
}

static int
question_read(struct question *q, const struct cli *cli, struct err *e)
{
	const char *method = cli_value(cli, "method");
	const char *target = cli_value(cli, "quantile");
	char *end;

	q->target = 0.1;
	q->stopped = cli_has(cli, "stopped");
	if (method != NULL && strcmp(method, "fanova") != 0 &&
	    strcmp(method, "ped-anova") != 0)
		return err_set(e, ERR_USAGE,
		    "--method %s: expected ped-anova or fanova", method);
	q->forest = method != NULL && strcmp(method, "fanova") == 0;
	if (target == NULL)
		return 0;
	q->target = strtod(target, &end);
	if (end == target || *end != '\0' || !(q->target > 0 && q->target < 1))
		return err_set(e, ERR_USAGE,
		    "--quantile %s: expected a number between 0 and 1", target);
	if (q->forest)
		return err_set(
		    e, ERR_USAGE, "--quantile requires --method ped-anova");
	return 0;
}

/* One trial of the database: its point in the unit cube, its loss. */
static int
trial_add(struct question *q, double loss, const char *params, struct err *e)
{
	const struct space *space = q->study->space;

	if (q->n == q->cap) {
		q->cap = 2 * q->cap + 64;
		q->losses = xreallocarray(q->losses, q->cap, sizeof *q->losses);
		q->points = xreallocarray(
		    q->points, q->cap, (space->n + 1) * sizeof *q->points);
	}
	if (trial_points_read(q->points + q->n * space->n, space, params, e) ==
	    -1)
		return -1;
	q->losses[q->n++] = q->aims.objectives[q->aim].maximize ? -loss : loss;
	return 0;
}

/*
 * The trials with a value of objective aim; of replicates the first ones, which
 * have the same seed or fold.
 */
static int
cmd_importance_trials_read(
    struct question *q, struct store *store, struct err *e)
{
	const char *state = q->stopped ? "stopped" : "completed";
	const char *metric = q->aims.objectives[q->aim].metric;
	const char *const bind[] = { q->aim == 0 ? "" : metric, state, NULL };
	struct store_rows *rows;
	double loss;
	int rc;

	q->n = 0;
	if (store_rows_open(&rows, store,
		"SELECT iif(?1 = '', objective, (SELECT value FROM outcomes "
		"WHERE trial = trials.trial AND metric = ?1)), params "
		"FROM trials "
		"WHERE state IN ('completed', ?2) AND forgotten = 0 "
		"AND outside IS NULL AND coalesce(replicate, 1) = 1 "
		"ORDER BY trial",
		bind, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		loss = rows_real(rows, 0);
		if (isfinite(loss) &&
		    (rc = trial_add(q, loss, store_rows_text(rows, 1), e)) != 0)
			break;
	}
	store_rows_close(rows);
	return rc;
}

static void
question_answer(struct question *q)
{
	const struct importance_data data = { .space = q->study->space,
		.n = q->n,
		.points = q->points,
		.losses = q->losses };
	size_t n = q->study->space->n;

	free(q->share);
	q->share = xcalloc(n + 1, sizeof *q->share);
	q->n_pairs = 0;
	if (q->n < TRIALS_LEAST)
		return;
	if (q->forest)
		importance_fanova(q->share, &data, TREES);
	else
		importance_ped_anova(q->share, &data, q->target, 1);
	if (q->n >= PAIRS_LEAST)
		q->n_pairs = importance_interactions(
		    q->pairs, &q->pair_trials, &data, q->share, TREES);
	q->sum = trial_points_shares(q->share, n);
}

/* The most important parameter that was not printed yet; or n. */
static size_t
next_of(const struct question *q, const bool *done)
{
	size_t i, n = q->study->space->n, best = n;

	for (i = 0; i < n; i++)
		if (!done[i] && (best == n || q->share[i] > q->share[best]))
			best = i;
	return best;
}

static void
pairs_json(struct json_writer *w, const struct question *q)
{
	const struct param *params = q->study->space->params;
	size_t i;

	json_writer_array(w, "interactions");
	for (i = 0; i < q->n_pairs; i++) {
		json_writer_object(w, NULL);
		json_writer_array(w, "parameters");
		json_writer_text(w, NULL, params[q->pairs[i].a].name);
		json_writer_text(w, NULL, params[q->pairs[i].b].name);
		json_writer_end(w);
		json_writer_number(w, "share", q->pairs[i].share);
		json_writer_end(w);
	}
	json_writer_end(w);
}

/* The members of an object. */
static void
members_json(struct json_writer *w, const struct question *q)
{
	size_t i, n = q->study->space->n;
	bool *done = xcalloc(n + 1, sizeof *done);

	json_writer_text(w, "metric", q->aims.objectives[q->aim].metric);
	json_writer_text(w, "method", q->forest ? "fanova" : "ped-anova");
	json_writer_integer(w, "trials", (int64_t)q->n);
	if (q->forest && q->n >= TRIALS_LEAST)
		json_writer_number(w, "explained", q->sum);
	json_writer_object(w, "importance");
	for (; q->n >= TRIALS_LEAST && (i = next_of(q, done)) < n;
	     done[i] = true)
		json_writer_number(
		    w, q->study->space->params[i].name, q->share[i]);
	json_writer_end(w);
	pairs_json(w, q);
	free(done);
}

static void
cmd_importance_row_put(struct table *t, const char *name, double share)
{
	char bar[BAR + 1];
	size_t k;

	for (k = 0; k < BAR && (double)k + 0.5 < share * BAR; k++)
		bar[k] = '#';
	bar[k] = '\0';
	table_cell(t, name, TABLE_PLAIN);
	table_cell_real(t, share, 3);
	table_cell(t, bar, TABLE_FAINT);
}

/* Pairs of parameters; nothing when none explains 1 % of the variance. */
static void
pairs_text(struct buf *out, const struct cli *cli, const struct question *q)
{
	const struct param *params = q->study->space->params;
	struct buf name = { 0 };
	struct table *t;
	size_t i;

	if (q->n_pairs == 0)
		return;
	t = table_new();
	table_column(t, "parameters", TABLE_LEFT);
	table_column(t, "interaction", TABLE_RIGHT);
	table_column(t, "", TABLE_LEFT);
	for (i = 0; i < q->n_pairs; i++) {
		buf_clear(&name);
		buf_printf(&name, "%s and %s", params[q->pairs[i].a].name,
		    params[q->pairs[i].b].name);
		cmd_importance_row_put(t, buf_str(&name), q->pairs[i].share);
	}
	buf_free(&name);
	buf_putc(out, '\n');
	table_put(out, t, cli->width, cli->colour, true);
	buf_printf(out,
	    "fANOVA of %zu trials: the share of the variance that two "
	    "explain only together\n",
	    q->pair_trials);
	table_free(t);
}

static void
cmd_importance_put_text(
    struct buf *out, const struct cli *cli, const struct question *q)
{
	bool *done = xcalloc(q->study->space->n + 1, sizeof *done);
	struct table *t = table_new();
	size_t i, n = q->study->space->n;

	table_column(t, "parameter", TABLE_LEFT);
	table_column(t, "importance", TABLE_RIGHT);
	table_column(t, "", TABLE_LEFT);
	for (; (i = next_of(q, done)) < n; done[i] = true)
		cmd_importance_row_put(
		    t, q->study->space->params[i].name, q->share[i]);
	table_put(out, t, cli->width, cli->colour, true);
	buf_printf(
	    out, "%s of %zu trials", q->forest ? "fANOVA" : "PED-ANOVA", q->n);
	if (q->forest)
		buf_printf(out,
		    ": single parameters explain %.0f %% of the variance",
		    100 * q->sum);
	else
		buf_printf(out,
		    ": how much a parameter decides whether a trial is "
		    "among the best %g %%",
		    100 * q->target);
	buf_putc(out, '\n');
	pairs_text(out, cli, q);
	table_free(t);
	free(done);
}

/* A study with several objectives: the name of this one above its tables. */
static void
objective_text(struct buf *out, const struct cli *cli, const struct question *q)
{
	const struct objective *aim = &q->aims.objectives[q->aim];

	if (q->aims.several)
		buf_printf(out, "%s%s %s:\n", q->aim == 0 ? "" : "\n",
		    aim->maximize ? "maximize" : "minimize", aim->metric);
	if (q->n < TRIALS_LEAST)
		buf_puts(out, "fewer than two trials have a result\n");
	else
		cmd_importance_put_text(out, cli, q);
}

/*
 * JSON: the members of the first objective, and an array of objects with the
 * same members for the others.
 */
static int
cmd_importance_objectives_put(struct buf *out, const struct cli *cli,
    struct question *q, struct store *store, struct err *e)
{
	struct json_writer w = { .out = out };
	int rc = 0;

	if (cli->json)
		json_writer_object(&w, NULL);
	for (q->aim = 0; rc == 0 && q->aim < q->aims.n; q->aim++) {
		rc = cmd_importance_trials_read(q, store, e);
		if (rc == 0 && q->aim == 0 && q->n < TRIALS_LEAST)
			rc = err_set(e, ERR_STORE,
			    "%s: importance needs at least two trials with a "
			    "result",
			    q->study->name);
		if (rc != 0)
			break;
		question_answer(q);
		if (!cli->json) {
			objective_text(out, cli, q);
			continue;
		}
		if (q->aim == 1)
			json_writer_array(&w, "others");
		if (q->aim > 0)
			json_writer_object(&w, NULL);
		members_json(&w, q);
		if (q->aim > 0)
			json_writer_end(&w);
	}
	if (rc == 0 && cli->json) {
		if (q->aims.several)
			json_writer_end(&w);
		json_writer_end(&w);
		buf_putc(out, '\n');
	}
	return rc;
}

static int
importance_run(struct cli *cli)
{
	struct question q = { 0 };
	struct study_files found;
	struct store *store;
	struct buf out = { 0 };
	struct err e = ERR_INIT;
	int rc;

	if (question_read(&q, cli, &e) != 0 ||
	    cli_open_store(cli, &found, &store, &e) != 0)
		return cli_fail(&e);
	rc = trial_points_study(&q.study, store, &e);
	if (rc == 0)
		rc = objectives_read(&q.aims, store, &e);
	if (rc == 0)
		rc = cmd_importance_objectives_put(&out, cli, &q, store, &e);
	if (rc == 0)
		(void)cli_print(&out);
	else
		buf_free(&out);
	question_fini(&q);
	store_close(store);
	study_files_fini(&found);
	return rc != 0 ? cli_fail(&e) : CLI_DONE;
}

static const struct cli_option importance_options[] = {
	{ "method", 'm', "METHOD", "ped-anova or fanova (ped-anova)" },
	{ "quantile", 0, "Q", "of ped-anova: the share of good trials (0.1)" },
	{ "stopped", 0, NULL,
	    "count trials that a rule stopped, by their last or best report" },
	{ .name = NULL },
};

const struct cli_command cmd_importance = {
	.name = "importance",
	.args = "[STUDY]",
	.about = "how much each parameter influences the objective",
	.options = importance_options,
	.max_operands = 1,
	.json = true,
	.run = importance_run,
};
