/*
 * hpotune import: writes a study.json from the configuration of another tuner.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/atomic-file.h"
#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/common/cli.h"
#include "src/cli/import/import-definitions.h"
#include "src/cli/import/import-trials.h"
#include "src/cli/import/imported-study.h"
#include "src/import/import-sagemaker.h"
#include "trials/backend.h"

/* FILE.json -> FILE-NAME.json, to be freed. */
static char *
part_path(const char *path, const char *name)
{
	size_t n = strlen(path);

	if (n > 5 && strcmp(path + n - 5, ".json") == 0)
		n -= 5;
	return xasprintf("%.*s-%s%s", (int)n, path, name, path + n);
}

/* A tuning job need not have all that a study must: the rest is noted. */
static void
import_rest_note(const struct buf *text, const char *to, struct buf *notes)
{
	struct err e = ERR_INIT;

	if (imported_study_check(text, to, &e) != 0)
		buf_printf(notes, "to be completed: %s\n", e.text);
}

/* Whether the name can be part of a file name. */
static int
part_name(const char **name, const struct import_source *from, size_t i,
    struct err *e)
{
	*name = import_sagemaker_name(from->root, from->more, i);
	if (*name != NULL && **name != '\0' && strchr(*name, '/') == NULL)
		return 0;
	return json_err(from->root, e,
	    "definition %zu has no DefinitionName to name its "
	    "study",
	    i + 1);
}

/* Build all studies before any file is created. */
static int
parts_write(struct import_source *from, size_t n, const char *to,
    struct buf *notes, struct err *e)
{
	struct atomic_file *files = xcalloc(n, sizeof *files);
	struct buf out = { 0 };
	size_t i, opened = 0;
	char *path;
	int rc = 0;

	from->parts = (int)n;
	for (i = 0; i < n && rc == 0; i++) {
		buf_clear(&out);
		if (part_name(&from->definition, from, i, e) != 0) {
			rc = -1;
			break;
		}
		path = part_path(to, from->definition);
		buf_printf(notes, "%s:\n", path);
		rc = import_sagemaker(&out, notes, from, e);
		if (rc == 0)
			import_rest_note(&out, path, notes);
		if (rc == 0 &&
		    (rc = atomic_file_open(&files[i], path, false, e)) == 0)
			opened++;
		free(path);
		if (rc == 0)
			rc = atomic_file_put(&files[i], &out, e);
	}
	for (i = 0; i < opened && rc == 0; i++)
		rc = atomic_file_finish(&files[i], e);
	for (i = 0; i < opened; i++)
		atomic_file_drop(&files[i]);
	buf_free(&out);
	free(files);
	return rc;
}

static int
one_write(const struct import_source *from, const char *to, struct buf *notes,
    struct err *e)
{
	struct buf out = { 0 };
	int rc = import_sagemaker(&out, notes, from, e);

	if (rc == 0)
		import_rest_note(&out, to, notes);
	if (rc == 0)
		rc = import_definitions_write(&out, to, e);
	buf_free(&out);
	return rc;
}

static int
import_files(struct cli *cli, struct json_doc *doc, struct json_doc *more,
    struct buf *notes, struct err *e)
{
	const char *to = cli_value(cli, "output");
	struct import_source from = {
		.root = json_root(doc),
		.more = more != NULL ? json_root(more) : NULL,
		.definition = cli_value(cli, "definition"),
	};
	size_t n = import_sagemaker_count(from.root, from.more);
	bool apart = cli_has(cli, "separate");
	struct buf why = { 0 };

	if (apart && to == NULL)
		return err_set(e, ERR_USAGE,
		    "import: --separate creates a file for each "
		    "definition: give a name with -o");
	if (from.definition == NULL && to != NULL && n > 1 && !apart) {
		apart = !import_sagemaker_is_one(from.root, from.more, &why);
		if (apart)
			buf_printf(notes,
			    "each definition is a study of its own, not one of "
			    "backend.algorithms: %s\n",
			    buf_str(&why));
		buf_free(&why);
	}
	if (from.definition == NULL && n > 1 && apart)
		return parts_write(&from, n, to, notes, e);
	return one_write(&from, to, notes, e);
}

/* The description of a tuning job, read from AWS. */
static int
job_load(struct json_doc **doc, const struct cli *cli, struct err *e)
{
	struct launch_tuning ask = {
		.name = cli_value(cli, "tuning-job"),
		.region = cli_value(cli, "region"),
		.profile = cli_value(cli, "profile"),
	};
	struct buf text = { 0 };
	struct loop *loop;
	int rc;

	if (cli->n_operands > 1)
		return err_set(e, ERR_USAGE,
		    "import: give a file or a tuning job, not both");
	if (loop_open(&loop, LOOP_REAL, e) != 0)
		return -1;
	rc = backend_type_find("sagemaker")->tuning(loop, &ask, &text, e);
	loop_close(loop);
	if (rc == 0)
		rc = json_parse(
		    doc, buf_str(&text), text.len, ask.name, false, e);
	buf_free(&text);
	return rc;
}

static int
files_load(struct json_doc **doc, struct json_doc **more, const struct cli *cli,
    struct err *e)
{
	if (cli_value(cli, "region") != NULL ||
	    cli_value(cli, "profile") != NULL)
		return err_set(e, ERR_USAGE,
		    "import: --region and --profile belong to --tuning-job");
	if (cli->n_operands < 2)
		return err_set(e, ERR_USAGE,
		    "import: give the file of a tuning job, or the job "
		    "with --tuning-job");
	if (json_load(doc, cli->operands[1], e) != 0)
		return -1;
	return cli->n_operands > 2 ? json_load(more, cli->operands[2], e) : 0;
}

static int
sagemaker(struct cli *cli, struct buf *notes, struct err *e)
{
	struct json_doc *doc = NULL, *more = NULL;
	int rc;

	rc = cli_value(cli, "tuning-job") != NULL
		 ? job_load(&doc, cli, e)
		 : files_load(&doc, &more, cli, e);
	if (rc == 0)
		rc = import_files(cli, doc, more, notes, e);
	json_free(doc);
	json_free(more);
	return rc;
}

/* Tools whose studies can be read, and the options that only they have. */
static const struct tool {
	const char *name;
	int (*import)(struct cli *, struct buf *notes, struct err *);
	const char *options[6];
} tools[] = {
	{ "sagemaker", sagemaker,
	    { "definition", "tuning-job", "region", "profile", "separate" } },
	{ "csv", import_trials_csv, { "metric", "goal", "params" } },
	{ "optuna", import_trials_optuna, { "metric", "study" } },
	{ "ray", import_trials_ray, { "metric", "goal" } },
	{ "synetune", import_trials_synetune, { "metric" } },
	{ "trackio", import_trials_trackio, { "metric", "goal" } },
	{ "wandb", import_definitions_wandb, { NULL } },
	{ "nni", import_definitions_nni, { NULL } },
	{ "katib", import_definitions_katib, { NULL } },
};

#define N_TOOLS (sizeof tools / sizeof *tools)

static const struct tool *
tool_find(const char *name, struct err *e)
{
	const char *names[N_TOOLS + 1], *near;
	struct buf all = { 0 };
	size_t i;

	for (i = 0; i < N_TOOLS; i++) {
		names[i] = tools[i].name;
		if (strcmp(name, names[i]) == 0) {
			buf_free(&all);
			return &tools[i];
		}
		buf_printf(&all, "%s%s",
		    i == 0	      ? ""
		    : i + 1 < N_TOOLS ? ", "
				      : " or ",
		    names[i]);
	}
	names[N_TOOLS] = NULL;
	near = text_nearest(name, names);
	if (near != NULL)
		err_set(
		    e, ERR_USAGE, "import: %s: did you mean %s?", name, near);
	else
		err_set(e, ERR_USAGE, "import: %s: expected %s", name,
		    buf_str(&all));
	buf_free(&all);
	return NULL;
}

static bool
has(const struct tool *tool, const char *name)
{
	const char *const *option;

	for (option = tool->options; *option != NULL; option++)
		if (strcmp(*option, name) == 0)
			return true;
	return false;
}

/* An option of another tool would have no effect. */
static int
options_check(const struct cli *cli, const struct tool *tool, struct err *e)
{
	const char *const *option;
	size_t i;

	for (i = 0; i < N_TOOLS; i++)
		for (option = tools[i].options; *option != NULL; option++)
			if (cli_has(cli, *option) && !has(tool, *option))
				return err_set(e, ERR_USAGE,
				    "import: --%s belongs to %s", *option,
				    tools[i].name);
	return 0;
}

static int
import_run(struct cli *cli)
{
	struct err e = ERR_INIT;
	const struct tool *tool = tool_find(cli->operands[0], &e);
	struct buf notes = { 0 };
	int rc = -1;

	if (tool != NULL && options_check(cli, tool, &e) == 0)
		rc = tool->import(cli, &notes, &e);
	if (rc == 0)
		cli_print_notes(&notes);
	buf_free(&notes);
	return rc == -1 ? cli_fail(&e) : CLI_DONE;
}

static const struct cli_option import_options[] = {
	{ "output", 'o', "FILE", "write to this new file" },
	{ "definition", 0, "NAME",
	    "the training definition to convert, of several" },
	{ "tuning-job", 0, "NAME",
	    "request this tuning job, a name or an ARN, from AWS" },
	{ "region", 0, "REGION", "its region" },
	{ "profile", 0, "PROFILE", "profile whose keys are used" },
	{ "separate", 0, NULL,
	    "one study per definition instead of one for all" },
	{ "metric", 0, "NAME",
	    "csv, ray, synetune, trackio, optuna: the objective" },
	{ "goal", 0, "GOAL", "csv, ray, trackio: minimize or maximize" },
	{ "params", 0, "A,B,...", "csv: the columns that are parameters" },
	{ "study", 0, "NAME", "optuna: the study, when there are several" },
	{ .name = NULL },
};

const struct cli_command cmd_import = {
	.name = "import",
	.args = "sagemaker FILE [DEFINITION] | sagemaker --tuning-job NAME | "
		"wandb FILE | nni FILE | katib FILE | optuna FILE | "
		"trackio FILE | csv FILE | ray FOLDER | "
		"synetune FOLDER",
	.about = "make a study.json from a study of another tool",
	.options = import_options,
	.min_operands = 1,
	.max_operands = 3,
	.run = import_run,
};
