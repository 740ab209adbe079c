/* hpotune import csv, optuna, ray, synetune, trackio: a study with the trials of another tool. */

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/atomic-file.h"
#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/import/import-synetune-folder.h"
#include "src/cli/import/import-trials.h"
#include "src/cli/import/imported-study.h"
#include "src/import/import-results.h"
#include "src/import/import-study.h"
#include "src/model/study/study.h"
#include "src/store/optuna-read.h"
#include "src/store/trackio-read.h"

/* FILE.json -> FILE-trials.json, to be freed. */
static char *
trials_path(const char *path)
{
	size_t n = strlen(path);

	if (n > 5 && strcmp(path + n - 5, ".json") == 0)
		n -= 5;
	return xasprintf("%.*s-trials.json", (int)n, path);
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* Whether the file has this text: a command that was killed has written it. */
static bool
is_written(const char *path, const struct buf *text)
{
	struct buf there = { 0 };
	bool same = access(path, F_OK) == 0 &&
		    json_load_text(&there, path, NULL) == 0 &&
		    there.len == text->len &&
		    memcmp(there.data, text->data, text->len) == 0;

	buf_free(&there);
	return same;
}

/*
 * Write both files or none: the one that the study names is written first, and
 * taken as it is by the command that completes one which was killed.
 */
static int
files_write(const char *to, struct buf *study, const char *beside,
    struct buf *trials, struct err *e)
{
	struct atomic_file file;

	if (atomic_file_open(&file, to, false, e) != 0)
		return -1;
	if (atomic_file_put(&file, study, e) == 0 &&
	    (trials->len == 0 || is_written(beside, trials) ||
		atomic_file_write(beside, false, trials, e) == 0))
		return atomic_file_finish(&file, e);
	atomic_file_drop(&file);
	return -1;
}

/* Whether both paths are one file that is there. */
static bool
is_imported_file(const char *a, const char *b)
{
	struct stat one, other;

	return stat(a, &one) == 0 && stat(b, &other) == 0 &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/*
 * The study's database is NAME.db beside study.json.  Where that is the file
 * which is imported, return NAME-2, to be freed, with a note; otherwise NULL.
 */
static char *
other_name(
    const char *name, const char *to, const char *imported, struct buf *notes)
{
	const char *slash = to != NULL ? strrchr(to, '/') : NULL;
	struct buf own = { 0 };
	char *path, *other = NULL;

	import_put_study_name(&own, name, strlen(name), "imported");
	path = xasprintf("%.*s%s.db", slash != NULL ? (int)(slash + 1 - to) : 0,
	    slash != NULL ? to : "", buf_str(&own));
	if (is_imported_file(path, imported)) {
		other = xasprintf("%.30s-2", buf_str(&own));
		buf_printf(notes,
		    "study: it is named %s, because %s.db is the file that is "
		    "imported\n",
		    other, buf_str(&own));
	}
	buf_free(&own);
	free(path);
	return other;
}

/* list: the text of from->trials. */
static int
results_write(struct cli *cli, struct import_results *from, struct buf *list,
    struct buf *notes, struct err *e)
{
	const char *to = cli_value(cli, "output");
	char *beside = to != NULL ? trials_path(to) : NULL;
	struct buf study = { 0 }, trials = { 0 };
	struct json_doc *doc = NULL;
	char *other;
	int rc;

	other = other_name(from->study, to, cli->operands[1], notes);
	if (other != NULL)
		from->study = other;
	rc = json_parse(
	    &doc, buf_str(list), list->len, cli->operands[1], false, e);
	if (rc == 0 && json_count(json_root(doc)) == 0)
		rc = err_set(
		    e, ERR_USAGE, "%s: it has no trials", cli->operands[1]);
	if (rc == 0) {
		from->trials = json_root(doc);
		rc = import_results(&study, &trials, notes, from,
		    beside != NULL ? base_name(beside) : NULL, e);
	}
	if (rc == 0)
		rc = imported_study_valid(&study, to, e);
	if (rc == 0 && to == NULL)
		rc = cli_print(&study) == CLI_DONE ? 0 : -1;
	else if (rc == 0)
		rc = files_write(to, &study, beside, &trials, e);
	json_free(doc);
	buf_free(&study);
	buf_free(&trials);
	free(beside);
	free(other);
	return rc;
}

static int
import_trials_operand_check(
    const struct cli *cli, const char *what, struct err *e)
{
	if (cli->n_operands == 2)
		return 0;
	return err_set(e, ERR_USAGE,
	    "import: give one %s: hpotune import %s %s", what, cli->operands[0],
	    cli->command->args);
}

/* The goal, which no file of trials says. */
static int
goal_read(const struct cli *cli, bool *maximize, struct err *e)
{
	const char *goal = cli_value(cli, "goal");

	if (goal == NULL)
		return err_set(e, ERR_USAGE,
		    "import: give --goal minimize or --goal maximize");
	*maximize = strcmp(goal, "maximize") == 0;
	if (!*maximize && strcmp(goal, "minimize") != 0)
		return err_set(e, ERR_USAGE,
		    "import: --goal %s: expected minimize or maximize", goal);
	return 0;
}

/* The last part of a path, without the ending of a file; to be freed. */
static char *
study_name(const char *path)
{
	size_t n = strlen(path);
	char *name, *dot;

	while (n > 1 && path[n - 1] == '/')
		n--;
	name = xasprintf("%.*s", (int)n, path);
	memmove(name, base_name(name), strlen(base_name(name)) + 1);
	dot = strrchr(name, '.');
	if (dot != NULL && dot > name)
		*dot = '\0';
	return name;
}

int
import_trials_csv(struct cli *cli, struct buf *notes, struct err *e)
{
	struct import_results from = { .metric = cli_value(cli, "metric") };
	struct buf text = { 0 }, list = { 0 };
	char *name;
	int rc = -1;

	if (import_trials_operand_check(cli, "file", e) != 0 ||
	    goal_read(cli, &from.maximize, e) != 0)
		return -1;
	name = study_name(cli->operands[1]);
	from.study = name;
	from.stops = true;
	if (json_load_text(&text, cli->operands[1], e) == 0) {
		buf_putc(&text, '\n');
		rc = import_csv(&list, notes, &from, cli_value(cli, "params"),
		    text.data, cli->operands[1], e);
	}
	if (rc == 0)
		rc = results_write(cli, &from, &list, notes, e);
	buf_free(&text);
	buf_free(&list);
	free(name);
	return rc;
}

int
import_trials_optuna(struct cli *cli, struct buf *notes, struct err *e)
{
	struct import_results from = { .metric = cli_value(cli, "metric") };
	struct buf text = { 0 }, list = { 0 };
	struct json_doc *doc = NULL;
	int rc = -1;

	if (import_trials_operand_check(cli, "file", e) != 0)
		return -1;
	if (optuna_read(&text, cli->operands[1], cli_value(cli, "study"), e) ==
		0 &&
	    json_parse(&doc, buf_str(&text), text.len, cli->operands[1], false,
		e) == 0)
		rc = import_optuna(&list, &from, json_root(doc), e);
	if (rc == 0)
		rc = results_write(cli, &from, &list, notes, e);
	json_free(doc);
	buf_free(&text);
	buf_free(&list);
	return rc;
}

int
import_trials_synetune(struct cli *cli, struct buf *notes, struct err *e)
{
	struct import_results from = { .metric = cli_value(cli, "metric") };
	struct import_synetune_folder folder;
	char *name;
	int rc;

	if (import_trials_operand_check(cli, "folder", e) != 0)
		return -1;
	name = study_name(cli->operands[1]);
	from.study = name;
	rc = import_synetune_folder_read(
	    &folder, notes, &from, cli->operands[1], e);
	if (rc == 0)
		rc = results_write(cli, &from, &folder.list, notes, e);
	import_synetune_folder_free(&folder);
	free(name);
	return rc;
}

int
import_trials_trackio(struct cli *cli, struct buf *notes, struct err *e)
{
	struct import_results from = { .metric = cli_value(cli, "metric") };
	struct buf text = { 0 }, list = { 0 };
	struct json_doc *doc = NULL;
	const char *path;
	char *name;
	int rc;

	if (import_trials_operand_check(cli, "file", e) != 0 ||
	    goal_read(cli, &from.maximize, e) != 0)
		return -1;
	if (from.metric == NULL)
		return err_set(e, ERR_USAGE,
		    "import: name the metric of the objective with --metric");
	path = cli->operands[1];
	name = study_name(path);
	from.study = name;
	rc = trackio_read(&text, path, from.metric, e);
	if (rc == 0)
		rc = json_parse(&doc, buf_str(&text), text.len, path, false, e);
	if (rc == 0)
		rc = import_trackio(
		    &list, notes, &from, json_root(doc), path, e);
	if (rc == 0)
		rc = results_write(cli, &from, &list, notes, e);
	json_free(doc);
	buf_free(&text);
	buf_free(&list);
	free(name);
	return rc;
}

/* A folder of a trial; one without params.json is none. */
static int
import_trials_trial_read(struct buf *list, const char *folder, const char *name,
    struct import_results *from, bool *reported, struct err *e)
{
	char *params = xasprintf("%s/%s/params.json", folder, name);
	char *results = xasprintf("%s/%s/result.json", folder, name);
	char *failure = xasprintf("%s/%s/error.txt", folder, name);
	struct json_doc *doc = NULL;
	struct buf text = { 0 };
	int rc = 0;

	if (access(params, F_OK) == 0) {
		rc = json_load(&doc, params, e);
		if (rc == 0 && access(results, F_OK) == 0)
			rc = json_load_text(&text, results, e);
		buf_putc(&text, '\n');
		if (rc == 0)
			rc = import_ray_trial(list, from, json_root(doc),
			    text.data, access(failure, F_OK) == 0, params,
			    reported, e);
	}
	json_free(doc);
	buf_free(&text);
	free(params);
	free(results);
	free(failure);
	return rc;
}

static int
folder_read(struct buf *list, const char *folder, struct import_results *from,
    struct err *e)
{
	struct dirent **found;
	bool reported = false;
	int i, n = scandir(folder, &found, NULL, alphasort), rc = 0;

	if (n < 0)
		return err_set(e, ERR_FILE, "%s: %s", folder, strerror(errno));
	buf_putc(list, '[');
	for (i = 0; i < n; i++) {
		if (rc == 0 && found[i]->d_name[0] != '.')
			rc = import_trials_trial_read(
			    list, folder, found[i]->d_name, from, &reported, e);
		free(found[i]);
	}
	free(found);
	if (rc == 0 && !reported)
		rc = err_set(e, ERR_USAGE,
		    "%s: no folder in it is a trial with params.json and "
		    "reports of %s in result.json",
		    folder, from->metric);
	buf_putc(list, ']');
	return rc;
}

int
import_trials_ray(struct cli *cli, struct buf *notes, struct err *e)
{
	struct import_results from = { .metric = cli_value(cli, "metric") };
	struct buf list = { 0 };
	char *name;
	int rc;

	if (import_trials_operand_check(cli, "folder", e) != 0 ||
	    goal_read(cli, &from.maximize, e) != 0)
		return -1;
	if (from.metric == NULL)
		return err_set(e, ERR_USAGE,
		    "import: name the metric of the objective with --metric");
	name = study_name(cli->operands[1]);
	from.study = name;
	rc = folder_read(&list, cli->operands[1], &from, e);
	if (rc == 0)
		rc = results_write(cli, &from, &list, notes, e);
	if (rc == 0)
		buf_puts(notes, "trials that a scheduler of Ray stopped are "
				"completed here, "
				"with their last value\n");
	buf_free(&list);
	free(name);
	return rc;
}
