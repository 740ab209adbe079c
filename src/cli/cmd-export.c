/* hpotune export: a study in other formats. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/atomic-file.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/common/cli.h"
#include "src/export/export-mlflow.h"
#include "src/export/export-optuna.h"
#include "src/export/export-sagemaker.h"
#include "src/export/export-tensorboard.h"
#include "src/export/export.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"

enum { PASS_BYTES = 65536, FOLLOW_MS = 2000, AWAY_MS = 10000 };

enum format {
	FORMAT_CSV,
	FORMAT_JSON,
	FORMAT_MLFLOW,
	FORMAT_OPTUNA,
	FORMAT_SAGEMAKER,
	FORMAT_TENSORBOARD
};

static const char *const formats[] = { "csv", "json", "mlflow", "optuna",
	"sagemaker", "tensorboard", NULL };

/* The views, and the order of their rows where it differs from the table's. */
static const struct view {
	const char *name;
	const char *order;
} views[] = {
	{ "results", "trial" },
	{ "trials", "trial" },
	{ "curves", "trial, step" },
	{ "metrics", NULL },
	{ "last_reports", "trial" },
	{ "attempts", "trial, attempt" },
	{ "stops", NULL },
	{ "events", NULL },
	{ "medians", "step" },
	{ "hindsight", "trial" },
	{ "study", NULL },
	{ "best", NULL },
	{ "front", "trial" },
	{ "outcomes", "trial" },
	{ "savings", NULL },
	{ "settings", "setting" },
	{ "setting_outcomes", "setting, metric" },
	{ "contests", "contest" },
	{ "proposals", "proposal" },
	{ "costs", NULL },
	{ "suggestions", "trial" },
	{ "tags", "trial, tag" },
	{ "retries", NULL },
	{ "queue", "id" },
	{ "population", "member, trial" },
	{ "warm", NULL },
	{ "gpus", NULL },
	{ "throughput", "trial" },
	{ "changes", NULL },
	{ "requests", NULL },
	{ "provenance", NULL },
	{ "notes", "trial" },
	{ "notices", NULL },
	{ "parameters", "trial" },
	{ "importance", NULL },
};

#define N_VIEWS (sizeof views / sizeof views[0])

/* The options of the command. */
struct wish {
	enum format format;
	const char *output; /* NULL = standard output */
	bool force;
	const char *url; /* of MLflow */
	bool follow;
};

void
export_put_select(struct buf *sql, struct store *store, const char *view)
{
	size_t i;

	buf_printf(sql, "SELECT * FROM %s", store_view_source(store, view));
	for (i = 0; i < N_VIEWS; i++)
		if (strcmp(views[i].name, view) == 0 && views[i].order != NULL)
			buf_printf(sql, " ORDER BY %s", views[i].order);
}

static int
text_write(struct export *x, struct err *e)
{
	size_t n = x->text.len;

	if (n > 0 && fwrite(x->text.data, 1, n, x->out) != n)
		return err_set(e, errno == ENOSPC ? ERR_FULL : ERR_FILE,
		    "%s: %s", x->name, strerror(errno));
	buf_clear(&x->text);
	return 0;
}

int
export_flush(struct export *x, struct err *e)
{
	return x->text.len < PASS_BYTES ? 0 : text_write(x, e);
}

static int
format_read(struct wish *wish, const struct cli *cli, struct err *e)
{
	const char *name = cli_value(cli, "format"), *near;
	size_t i;

	wish->format = cli->json ? FORMAT_JSON : FORMAT_CSV;
	if (name == NULL)
		return 0;
	for (i = 0; formats[i] != NULL; i++)
		if (strcmp(formats[i], name) == 0)
			break;
	if (formats[i] == NULL) {
		near = text_nearest(name, formats);
		return err_set(e, ERR_USAGE,
		    near != NULL
			? "export: --format %s: did you mean %s?"
			: "export: --format %s: csv, json, mlflow, optuna, "
			  "sagemaker or tensorboard",
		    name, near);
	}
	wish->format = (enum format)i;
	if (cli->json && wish->format != FORMAT_JSON)
		return err_set(e, ERR_USAGE,
		    "export: --json is --format json, not %s", name);
	return 0;
}

static int
export_table_read(struct export *x, const struct cli *cli, struct err *e)
{
	const char *names[N_VIEWS + 1], *near;
	size_t i;

	x->table = cli_value(cli, "table");
	if (x->table == NULL)
		return 0;
	for (i = 0; i < N_VIEWS; i++) {
		names[i] = views[i].name;
		if (strcmp(names[i], x->table) == 0)
			return 0;
	}
	names[i] = NULL;
	near = text_nearest(x->table, names);
	return err_set(e, ERR_USAGE,
	    near != NULL
		? "export: --table %s: no such view: did you mean %s?"
		: "export: --table %s: no such view: man hpotune-db describes "
		  "them",
	    x->table, near);
}

static int
mlflow_read(struct wish *wish, const struct cli *cli, struct err *e)
{
	struct buf shown = { 0 };
	int rc = 0;

	wish->url = cli_value(cli, "url");
	wish->follow = cli_has(cli, "follow");
	if (wish->format != FORMAT_MLFLOW)
		return wish->url == NULL && !wish->follow
			   ? 0
			   : err_set(e, ERR_USAGE,
				 "export: --url and --follow require --format "
				 "mlflow");
	if (wish->output != NULL)
		return err_set(e, ERR_USAGE,
		    "export: --format mlflow has no --output: a server gets "
		    "it");
	if (wish->url == NULL)
		wish->url = getenv("MLFLOW_TRACKING_URI");
	if (wish->url == NULL || (strncmp(wish->url, "http://", 7) != 0 &&
				     strncmp(wish->url, "https://", 8) != 0))
		return err_set(e, ERR_USAGE,
		    "export: --format mlflow requires --url http://HOST:PORT");
	text_put_url(&shown, wish->url);
	if (strcmp(buf_str(&shown), wish->url) != 0)
		rc = err_set(e, ERR_USAGE,
		    "export: %s: an address with a user or a password is not "
		    "sent: set MLFLOW_TRACKING_TOKEN",
		    buf_str(&shown));
	buf_free(&shown);
	return rc;
}

static int
wish_read(
    struct wish *wish, struct export *x, const struct cli *cli, struct err *e)
{
	if (format_read(wish, cli, e) != 0 || export_table_read(x, cli, e) != 0)
		return -1;
	wish->output = cli_value(cli, "output");
	if (wish->output != NULL && strcmp(wish->output, "-") == 0)
		wish->output = NULL;
	wish->force = cli_has(cli, "force");
	x->spreadsheet = cli_has(cli, "spreadsheet");
	if (mlflow_read(wish, cli, e) != 0)
		return -1;
	if (wish->force && wish->output == NULL)
		return err_set(
		    e, ERR_USAGE, "export: --force requires --output FILE");
	if (x->spreadsheet && wish->format != FORMAT_CSV)
		return err_set(e, ERR_USAGE,
		    "export: --spreadsheet requires --format csv");
	if (wish->format != FORMAT_CSV && wish->format != FORMAT_JSON &&
	    x->table != NULL)
		return err_set(e, ERR_USAGE,
		    "export: --table requires --format csv or json");
	if (wish->format == FORMAT_OPTUNA && wish->output == NULL)
		return err_set(e, ERR_USAGE,
		    "export: --format optuna requires --output FILE.db");
	if (wish->format == FORMAT_TENSORBOARD && wish->output == NULL)
		return err_set(e, ERR_USAGE,
		    "export: --format tensorboard requires --output FOLDER");
	return 0;
}

static bool
export_same_file(const char *a, const char *b)
{
	struct stat one, other;

	return a != NULL && b != NULL && stat(a, &one) == 0 &&
	       stat(b, &other) == 0 && one.st_dev == other.st_dev &&
	       one.st_ino == other.st_ino;
}

/* Not even --force overwrites the study's database. */
static int
output_check(
    const struct wish *wish, const struct study_files *found, struct err *e)
{
	const char *output = wish->output;

	if (export_same_file(output, found->db) ||
	    export_same_file(output, found->json))
		return err_set(
		    e, ERR_USAGE, "export: %s is the study itself", output);
	if (!wish->force && access(output, F_OK) == 0)
		return err_set(e, ERR_FILE,
		    "export: %s exists already: --force replaces it", output);
	return 0;
}

static int
export_text_put(const struct wish *wish, struct export *x, struct err *e)
{
	int rc = -1;

	switch (wish->format) {
	case FORMAT_CSV:
		rc = export_csv(x, e);
		break;
	case FORMAT_JSON:
		rc = export_json(x, e);
		break;
	case FORMAT_SAGEMAKER:
		rc = export_sagemaker(&x->text, &x->notes, x->store, e);
		break;
	case FORMAT_OPTUNA: /* a database, not text */
	case FORMAT_MLFLOW: /* a server */
	case FORMAT_TENSORBOARD: /* a folder */
		break;
	}
	return rc == 0 ? text_write(x, e) : -1;
}

/* Files that SQLite would take for the log of the new file must not exist. */
static int
no_log_beside(const char *path, struct err *e)
{
	static const char *const ends[] = { "-journal", "-wal" };
	char *name;
	size_t i;
	int rc = 0;

	for (i = 0; i < 2 && rc == 0; i++) {
		name = xasprintf("%s%s", path, ends[i]);
		if (access(name, F_OK) == 0)
			rc = err_set(e, ERR_FILE,
			    "export: %s exists: another program uses %s, or "
			    "was "
			    "killed and left it",
			    name, path);
		free(name);
	}
	return rc;
}

static int
database_put(const struct wish *wish, struct export *x, struct err *e)
{
	struct atomic_file file;

	if (no_log_beside(wish->output, e) != 0 ||
	    atomic_file_open(&file, wish->output, wish->force, e) != 0)
		return -1;
	atomic_file_release(&file);
	if (export_optuna(x->store, file.temporary, wish->output, e) == 0)
		return atomic_file_finish(&file, e);
	atomic_file_drop(&file);
	return -1;
}

static int
export_file_put(const struct wish *wish, struct export *x, struct err *e)
{
	struct atomic_file file;
	int rc;

	if (atomic_file_open(&file, wish->output, wish->force, e) != 0)
		return -1;
	if ((x->out = fdopen(dup(file.fd), "w")) == NULL) {
		rc = err_set(
		    e, ERR_FILE, "%s: %s", wish->output, strerror(errno));
	} else {
		rc = export_text_put(wish, x, e);
		if (fclose(x->out) != 0 && rc == 0)
			rc = err_set(e, errno == ENOSPC ? ERR_FULL : ERR_FILE,
			    "%s: %s", wish->output, strerror(errno));
	}
	if (rc == 0)
		return atomic_file_finish(&file, e);
	atomic_file_drop(&file);
	return -1;
}

/*
 * One pass, or with --follow passes until one began without a server.  While it
 * follows, an MLflow server may be away.
 */
static int
server_put(const struct wish *wish, struct export *x,
    const struct study_files *found, struct err *e)
{
	struct mlflow *m;
	bool lives;
	int rc;

	if (export_mlflow_open(&m, x->store, wish->url,
		getenv("MLFLOW_TRACKING_TOKEN"), e) != 0)
		return -1;
	for (;;) {
		lives = wish->follow && study_files_served(found->db);
		rc = export_mlflow_pass(m, e);
		if (!lives || (rc != 0 && e->kind != ERR_REMOTE))
			break;
		if (rc != 0) {
			buf_printf(&x->notes, "%s\n", e->text);
			cli_print_notes(&x->notes);
			buf_clear(&x->notes);
		}
		export_mlflow_wait(m, rc == 0 ? FOLLOW_MS : AWAY_MS);
	}
	if (rc == 0) {
		text_put_url(&x->notes, wish->url);
		buf_printf(&x->notes, ": runs sent: %" PRId64 "\n",
		    export_mlflow_changed(m));
	}
	export_mlflow_close(m);
	return rc;
}

static int
export_run(struct cli *cli)
{
	struct wish wish;
	struct export x = { .out = stdout, .name = "standard output" };
	struct study_files found;
	struct err e = ERR_INIT;
	int rc;

	if (wish_read(&wish, &x, cli, &e) != 0 ||
	    cli_open_store(cli, &found, &x.store, &e) != 0)
		return cli_fail(&e);
	rc = wish.format == FORMAT_MLFLOW ? server_put(&wish, &x, &found, &e)
					  : store_begin(x.store, &e);
	if (wish.format == FORMAT_MLFLOW)
		; /* done */
	else if (rc == 0 && wish.output == NULL)
		rc = export_text_put(&wish, &x, &e);
	else if (rc == 0) {
		x.name = wish.output;
		rc = output_check(&wish, &found, &e);
		if (rc == 0 && wish.format == FORMAT_OPTUNA)
			rc = database_put(&wish, &x, &e);
		else if (rc == 0 && wish.format == FORMAT_TENSORBOARD)
			rc = export_tensorboard(
			    x.store, wish.output, wish.force, &e);
		else if (rc == 0)
			rc = export_file_put(&wish, &x, &e);
	}
	if (rc == 0)
		cli_print_notes(&x.notes);
	buf_free(&x.text);
	buf_free(&x.notes);
	store_close(x.store);
	study_files_fini(&found);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}

static const struct cli_option export_options[] = {
	{ "format", 'f', "FORMAT",
	    "csv, json, mlflow, optuna, sagemaker or tensorboard (csv)" },
	{ "output", 'o', "FILE", "write to this new file" },
	{ "force", 0, NULL, "replace an existing file" },
	{ "url", 0, "URL", "mlflow: the server (MLFLOW_TRACKING_URI)" },
	{ "follow", 0, NULL, "mlflow: go on until the study has no server" },
	{ "table", 't', "VIEW",
	    "one view of the database (csv: results; json: the whole study)" },
	{ "spreadsheet", 0, NULL,
	    "csv: an apostrophe before text that a spreadsheet would compute" },
	{ .name = NULL },
};

const struct cli_command cmd_export = {
	.name = "export",
	.args = "[STUDY]",
	.about = "the study as CSV, JSON, Optuna storage or tuning job",
	.options = export_options,
	.max_operands = 1,
	.json = true,
	.run = export_run,
};
