/*
 * hpotune best: the best trial, its parameters, and how to run it again; of
 * several objectives the front.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json.h"
#include "src/base/mem.h"
#include "src/cli/cli.h"
#include "src/cli/front.h"
#include "src/model/space.h"
#include "src/model/study.h"
#include "src/server/aims.h"
#include "src/server/rows.h"
#include "src/store/store.h"

/*
 * The command of a trial as it was started, with the folders of its first
 * attempt: from the study.json that the database keeps.
 */
static char **
command_again(struct study *study, const char *state_dir, int64_t trial,
    const char *params, struct err *e)
{
	struct value *values = xcalloc(study->space->n + 1, sizeof *values);
	struct study_command_vars vars = { .trial = trial, .attempt = 1 };
	struct json_doc *doc;
	char *dir, *checkpoint, *output, **argv = NULL;

	dir =
	    xasprintf("%s/%s.d/trials/%" PRId64, state_dir, study->name, trial);
	checkpoint = xasprintf("%s/checkpoint", dir);
	output = xasprintf("%s/attempt-1", dir);
	vars.checkpoint_dir = checkpoint;
	vars.output_dir = output;
	if (json_parse(&doc, params, strlen(params), NULL, false, e) == 0) {
		if (space_read_values(
			study->space, json_root(doc), values, e) == 0)
			argv = study_command(study, values, &vars);
		json_free(doc);
	}
	free(dir);
	free(checkpoint);
	free(output);
	free(values);
	return argv;
}

/* Append the command, as a shell line or as JSON members. */
static int
command_put(struct buf *out, const struct cli_study *found,
    const struct store_study *row, int64_t trial, const char *params, bool json,
    struct err *e)
{
	char *path = xasprintf("%s/study.json", row->dir);
	struct study *study;
	char **argv;
	int rc;

	rc = study_parse(&study, row->json, strlen(row->json), path, e);
	free(path);
	if (rc == -1)
		return -1;
	argv = command_again(study, found->state_dir, trial, params, e);
	if (argv == NULL) {
		study_free(study);
		return -1;
	}
	if (argv[0] == NULL && !json) {
		study_command_free(argv);
		study_free(study);
		return 0;
	}
	buf_puts(out, json ? ",\"workdir\":" : "again: cd ");
	if (json)
		json_put_string(out, study->trial.workdir);
	else
		cli_put_shell(out, study->trial.workdir);
	buf_puts(out, json ? ",\"command\":" : " && ");
	if (json)
		cli_put_argv_json(out, argv);
	else
		cli_put_argv(out, argv);
	study_command_free(argv);
	study_free(study);
	return 0;
}

static int
best_json(struct buf *out, struct store *store, const struct cli_study *found,
    const struct store_study *study, const struct store_rows *best,
    struct err *e)
{
	if (rows_put_json(out, store, "SELECT * FROM best", NULL, true, e) ==
	    -1)
		return -1;
	out->len--;
	if (command_put(out, found, study, store_rows_int(best, 0),
		store_rows_text(best, 4), true, e) == -1)
		return -1;
	buf_puts(out, "}\n");
	return 0;
}

static int
best_text(struct buf *out, const struct cli_study *found,
    const struct store_study *study, const struct store_rows *best,
    const struct buf *broken, struct err *e)
{
	buf_printf(out, "trial %s, %s: %s ", store_rows_text(best, 0),
	    store_rows_text(best, 1), study->metric);
	rows_put_number(out, rows_real(best, 2), 0);
	if (!store_rows_null(best, 3))
		buf_printf(out, " (last step %s)", store_rows_text(best, 3));
	buf_putc(out, '\n');
	if (broken->len > 0)
		buf_printf(out,
		    "no trial keeps all constraints: of this one %s\n",
		    buf_str(broken));
	cli_put_params(out, store_rows_text(best, 4));
	if (command_put(out, found, study, store_rows_int(best, 0),
		store_rows_text(best, 4), false, e) == -1)
		return -1;
	if (buf_str(out)[out->len - 1] != '\n')
		buf_putc(out, '\n');
	return 0;
}

/* The front, when there are several objectives. */
static int
best_front(struct buf *out, const struct cli *cli, struct store *store,
    const struct aims *aims, struct err *e)
{
	if (!cli->json)
		return front_put(out, cli, store, aims, 0, e);
	buf_puts(out, "{\"front\":");
	if (rows_put_json(out, store, "SELECT * FROM front", NULL, false, e) ==
	    -1)
		return -1;
	buf_puts(out, "}\n");
	return 0;
}

static int
best_one(struct buf *out, const struct cli *cli, struct store *store,
    const struct cli_study *found, const struct store_study *study,
    struct err *e)
{
	static const char *const sql =
	    "SELECT trial, state, objective, step, params FROM best";
	struct store_rows *best;
	struct buf broken = { 0 };
	int rc = rows_first(&best, store, sql, NULL, e);

	if (rc != 1)
		return rc;
	rc = aims_put_broken(&broken, store, store_rows_text(best, 0), 0, e);
	if (rc == 0 && cli->json)
		rc = best_json(out, store, found, study, best, e);
	else if (rc == 0)
		rc = best_text(out, found, study, best, &broken, e);
	buf_free(&broken);
	store_rows_close(best);
	return rc;
}

/* Why there is nothing to print. */
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
	    e, ERR_STORE, "%s: no trial keeps all constraints yet", name);
}

int
cmd_best(struct cli *cli)
{
	struct store_study study = { 0 };
	struct aims aims = { 0 };
	struct cli_study found;
	struct store *store;
	struct buf out = { 0 };
	struct err e = ERR_INIT;
	int rc;

	if (cli_open_store(cli, &found, &store, &e) == -1)
		return cli_fail(&e);
	rc = store_study_get(store, &study, &e);
	if (rc == 0)
		rc = aims_read(&aims, store, &e);
	if (rc == 0 && aims.several)
		rc = best_front(&out, cli, store, &aims, &e);
	else if (rc == 0)
		rc = best_one(&out, cli, store, &found, &study, &e);
	if (rc == 0 && out.len == 0)
		rc = best_none(store, study.name, &e);
	if (rc == 0)
		(void)cli_print(&out);
	buf_free(&out);
	aims_fini(&aims);
	store_study_fini(&study);
	store_close(store);
	cli_study_fini(&found);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}
