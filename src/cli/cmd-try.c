/*
 * hpotune try: run one trial in the foreground, as "start" would, and show what
 * is read of its output.  The study is created in a temporary folder, which is
 * removed at the end, so nothing is recorded.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/json/json-writer.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/cli/check/one-trial.h"
#include "src/cli/check/read-log.h"
#include "src/cli/check/start-cost.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/load-study.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/where.h"
#include "src/server/server.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"
#include "src/view/rows.h"

enum { TRY_CHUNK = 65536, TRY_DIGITS = 6 };

/* A growing file of the attempt. */
struct try_file {
	char *path;
	int fd; /* -1: it does not exist yet */
	off_t at;
	void (*feed)(struct read_log *, struct buf *, const char *, size_t);
};

struct
try {
	struct cli *cli;
	struct study *study;
	struct one_trial_folder folder;
	struct read_log *reader;
	struct start_cost cost;
	struct try_file files[2]; /* the log, and $HPOTUNE_METRICS */
	bool shown; /* the setting was printed */
	int64_t recorded; /* the last report that was shown, by its seq */
	char bytes[TRY_CHUNK];
};

static int
try_folder_make(struct try *t, struct err *e)
{
	if (one_trial_folder_make(&t->folder, t->study->name, "try", e) != 0)
		return -1;
	t->files[0] = (struct try_file){ .fd = -1, .feed = read_log_feed };
	t->files[1] =
	    (struct try_file){ .fd = -1, .feed = read_log_feed_metrics };
	t->files[0].path =
	    xasprintf("%s/trials/1/attempt-1/log", t->folder.state_dir);
	t->files[1].path = xasprintf(
	    "%s/trials/1/attempt-1/metrics.jsonl", t->folder.state_dir);
	return 0;
}

static void
try_fini(struct try *t)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (t->files[i].path != NULL && t->files[i].fd != -1)
			(void)close(t->files[i].fd);
		free(t->files[i].path);
	}
	read_log_free(t->reader);
	one_trial_folder_free(&t->folder);
}

static void
file_drain(struct try *t, struct try_file *f, struct buf *out)
{
	off_t data;
	ssize_t n;

	if (f->fd == -1)
		f->fd = file_open(AT_FDCWD, f->path);
	if (f->fd == -1)
		return;
	for (;;) {
		/* What the limit of the log has dropped is a hole. */
		data = lseek(f->fd, f->at, SEEK_DATA);
		if (data > f->at) {
			buf_printf(out,
			    "    %lld bytes of output were dropped\n",
			    (long long)(data - f->at));
			f->at = data;
		}
		n = pread(f->fd, t->bytes, sizeof t->bytes, f->at);
		if (n <= 0)
			return;
		f->at += n;
		f->feed(t->reader, out, t->bytes, (size_t)n);
	}
}

/* Print what was appended; --json prints only the end. */
static void
out_print(struct try *t, struct buf *out)
{
	if (!t->cli->json && out->len > 0) {
		(void)fwrite(buf_str(out), 1, out->len, stdout);
		(void)fflush(stdout);
	}
	buf_free(out);
}

/* The setting of the trial, once it has one. */
static void
setting_put(struct try *t, struct store *store, struct buf *out)
{
	struct store_rows *rows;

	if (rows_first(&rows, store,
		"SELECT params FROM trials WHERE trial = 1 AND "
		"state <> 'waiting'",
		NULL, NULL) != 1)
		return;
	buf_puts(out, "setting: ");
	rows_put_params(out, store_rows_text(rows, 0), 0);
	buf_putc(out, '\n');
	store_rows_close(rows);
	t->shown = true;
}

/* What was read from files of the trial since the last time. */
static int
recorded_put(struct try *t, struct store *store, struct buf *out, struct err *e)
{
	struct store_rows *rows;
	int rc;

	if (t->study->trial.n_files == 0)
		return 0;
	if (store_list_reports_after(&rows, store, 1, t->recorded, -1, e) != 0)
		return -1;
	read_log_has_recorded(t->reader);
	while ((rc = store_rows_next(rows, e)) == 1) {
		read_log_add_recorded(t->reader, out, store_rows_text(rows, 0),
		    store_rows_int(rows, 3), rows_real(rows, 1));
		t->recorded = store_rows_int(rows, 4);
	}
	read_log_end_recorded(t->reader, out);
	store_rows_close(rows);
	return rc;
}

static void
try_on_display(void *arg, struct store *store, const char *trouble)
{
	struct try *t = arg;
	struct buf out = { 0 };
	int i;

	if (store != NULL && !t->shown)
		setting_put(t, store, &out);
	if (*trouble != '\0')
		buf_printf(&out, "    %s\n", trouble);
	for (i = 0; t->shown && i < 2; i++)
		file_drain(t, &t->files[i], &out);
	/* An error is found again at the end. */
	if (store != NULL && t->shown)
		(void)recorded_put(t, store, &out, NULL);
	out_print(t, &out);
}

/* How the trial ended: "completed after 3s" or why not. */
static int
end_put(struct try *t, struct store *store, struct buf *out, bool *good,
    struct err *e)
{
	static const char *const sql =
	    "SELECT state, why, seconds, params, objective FROM trials "
	    "WHERE trial = 1";
	struct json_writer w = { .out = out, .spacing = JSON_SPACED };
	struct store_rows *rows;
	const char *state, *why;
	int rc;

	*good = false;
	if ((rc = rows_first(&rows, store, sql, NULL, e)) != 1)
		return rc == 0 ? err_set(e, ERR_FILE, "try: no trial was begun")
			       : -1;
	state = store_rows_text(rows, 0);
	why = store_rows_text(rows, 1);
	*good = strcmp(state, "completed") == 0;
	if (t->cli->json) {
		json_writer_object(&w, NULL);
		json_writer_text(&w, "state", state);
		json_writer_text(
		    &w, "why", store_rows_null(rows, 1) ? NULL : why);
		json_writer_number(&w, "seconds", rows_real(rows, 2));
		json_writer_raw(&w, "params", store_rows_text(rows, 3));
		json_writer_number(&w, "objective", rows_real(rows, 4));
		read_log_put_json(t->reader, &w);
		start_cost_put_json(&w, &t->cost);
		json_writer_end(&w);
		buf_putc(out, '\n');
		store_rows_close(rows);
		return 0;
	}
	buf_printf(out, "\n%s after ", state);
	duration_put(out, (int64_t)(rows_real(rows, 2) * 1000));
	if (*why != '\0')
		buf_printf(out, ": %s", why);
	buf_putc(out, '\n');
	if (!store_rows_null(rows, 4)) {
		buf_printf(out, "objective: %s ", t->study->metric);
		rows_put_number(out, rows_real(rows, 4), TRY_DIGITS);
		buf_putc(out, '\n');
	}
	store_rows_close(rows);
	read_log_put_sum(t->reader, out, t->cli->width, t->cli->colour);
	start_cost_put(out, &t->cost, t->study);
	return 0;
}

static int
try_end(struct try *t, enum server_end end, struct err *e)
{
	struct buf out = { 0 };
	struct store *store;
	bool good;
	int i, rc;

	for (i = 0; i < 2; i++)
		file_drain(t, &t->files[i], &out);
	read_log_end(t->reader, &out);
	if (store_open(&store, t->folder.db, STORE_READ, e) != 0) {
		buf_free(&out);
		return -1;
	}
	rc = recorded_put(t, store, &out, e);
	out_print(t, &out);
	out = (struct buf){ 0 };
	t->cost.modules = -1;
	if (end != SERVER_INTERRUPTED)
		start_cost_measure(
		    &t->cost, t->study, t->folder.state_dir, t->folder.dir);
	if (rc == 0)
		rc = end_put(t, store, &out, &good, e);
	store_close(store);
	if (rc != 0) {
		buf_free(&out);
		return -1;
	}
	(void)cli_print(&out);
	if (end == SERVER_INTERRUPTED)
		return CLI_INTERRUPTED;
	return good && read_log_is_whole(t->reader) ? CLI_DONE : CLI_FAILED;
}

static int
try_run(struct try *t, struct err *e)
{
	struct server_env env = { .study = t->study,
		.db = t->folder.db,
		.state_dir = t->folder.state_dir,
		.temporary = true,
		.trials = 1,
		.parallel = 1,
		.display = try_on_display,
		.arg = t };
	enum server_end end;

	/* What a warning would say of the output stands beside its line. */
	log_set_level(LOG_LEVEL_ERROR);
	if (server_run(&env, &end, e) != 0)
		return -1;
	return try_end(t, end, e);
}

/* The study with one trial of the setting that is given. */
static int
study_prepare(struct cli *cli, struct study *study, struct err *e)
{
	struct value *setting = xcalloc(study->space->n + 1, sizeof *setting);
	int rc = cli_setting_operands(cli, study->space, setting, e);
	const char *broken =
	    rc == 0 ? where_broken(study->space, setting) : NULL;

	if (broken != NULL)
		rc = err_set(e, ERR_USAGE,
		    "the setting does not satisfy %.200s", broken);
	if (rc == 0)
		rc = one_trial_prepare(
		    study, cli->n_operands > 0 ? setting : NULL, "try", e);
	free(setting);
	return rc;
}

static int
try_command(struct cli *cli)
{
	struct try *t = xcalloc(1, sizeof *t);
	struct study_files found;
	struct err e = ERR_INIT;
	int status = -1;

	if (load_study_find(cli, &found, NULL, &e) != 0) {
		free(t);
		return cli_fail(&e);
	}
	t->cli = cli;
	t->study = found.study;
	if (study_prepare(cli, found.study, &e) == 0 &&
	    try_folder_make(t, &e) == 0 &&
	    read_log_new(&t->reader, found.study, &e) == 0)
		status = try_run(t, &e);
	try_fini(t);
	free(t);
	study_files_fini(&found);
	return status == -1 ? cli_fail(&e) : status;
}

const struct cli_command cmd_try = {
	.name = "try",
	.args = "[STUDY] [NAME=VALUE...]",
	.about = "run one trial here, show what is read of it, record nothing",
	.max_operands = -1,
	.json = true,
	.run = try_command,
};
