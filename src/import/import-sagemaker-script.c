/*
 * The script of a framework's job and how its processes are started.  The SDK
 * passes both as hyperparameters with reserved names (sagemaker_program,
 * sagemaker_mpi_enabled, …), all values as JSON; with autotune they are hints
 * of AutoParameters instead of static ones.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-study.h"
#include "src/model/study/study.h"

#define HP_SUBMIT "sagemaker_submit_directory"
#define HP_MPI "sagemaker_mpi_enabled"
#define HP_MPI_COUNT "sagemaker_mpi_num_of_processes_per_host"
#define HP_MPI_OPTIONS "sagemaker_mpi_custom_mpi_options"
#define HP_DDP IMPORT_HP_DDP
#define HP_DDP_OPTIONS "sagemaker_distributed_dataparallel_custom_mpi_options"
#define HP_TORCH "sagemaker_torch_distributed_enabled"
#define HP_GROUPS IMPORT_HP_GROUPS
#define HP_LEVEL "sagemaker_container_log_level"
#define HP_MODEL IMPORT_HP_MODEL

/*
 * The launchers of the toolkit.  When several flags are true the first row
 * applies: smddp and modelparallel also set those of torchrun or MPI.
 */
static const struct import_launcher launchers[] = {
	{ "modelparallel", HP_MPI, NULL, 1, HP_MPI_COUNT, HP_MPI_OPTIONS,
	    true },
	{ "modelparallel", HP_TORCH, NULL, 2, NULL, NULL, true },
	{ "smddp", HP_DDP, HP_TORCH, 0, NULL, HP_DDP_OPTIONS, true },
	{ "smddp", HP_DDP, NULL, 0, NULL, HP_DDP_OPTIONS, true },
	{ "torch-distributed", HP_TORCH, NULL, 0, NULL, NULL, true },
	{ "pytorch-ddp", "sagemaker_pytorch_ddp_enabled", NULL, 0, NULL, NULL,
	    true },
	{ "parameter-server", "sagemaker_parameter_server_enabled", NULL, 0,
	    NULL, NULL, false },
	{ "multi-worker-mirrored",
	    "sagemaker_multi_worker_mirrored_strategy_enabled", NULL, 0, NULL,
	    NULL, false },
	{ "mpi", HP_MPI, NULL, 0, HP_MPI_COUNT, HP_MPI_OPTIONS, false },
};

enum { N_LAUNCHERS = sizeof launchers / sizeof launchers[0] };

/* Hyperparameters that hpotune sets itself, or that a study does not need. */
static const char *const made_anew[] = { "sagemaker_job_name",
	"sagemaker_region", "sagemaker_instance_type",
	"sagemaker_estimator_class_name", "sagemaker_estimator_module", NULL };

/* The value of a hyperparameter that is not searched, as written. */
static const char *
fixed_find(const struct import *im, const char *name)
{
	const struct json *j =
	    import_at(im->def, "StaticHyperParameters", name);
	const char *text;

	if (j != NULL)
		return json_string(j);
	j = import_at(import_space_ranges(im), "AutoParameters", NULL);
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		text = json_string(json_get(j, "Name"));
		if (text != NULL && strcmp(text, name) == 0)
			return json_string(json_get(j, "ValueHint"));
	}
	return NULL;
}

/* The same without JSON quotes; the caller frees it.  Or NULL. */
static char *
import_script_fixed_text(const struct import *im, const char *name)
{
	const char *text = fixed_find(im, name), *inner;
	struct json_doc *doc = NULL;
	struct err ignored = ERR_INIT;
	char *copy = NULL;

	if (text == NULL)
		return NULL;
	if (json_parse(&doc, text, strlen(text), NULL, false, &ignored) == 0 &&
	    (inner = json_string(json_root(doc))) != NULL)
		copy = xstrdup(inner);
	json_free(doc);
	return copy != NULL ? copy : xstrdup(text);
}

static bool
fixed_true(const struct import *im, const char *name)
{
	char *text = import_script_fixed_text(im, name);
	bool yes = text != NULL &&
		   (strcmp(text, "true") == 0 || strcmp(text, "True") == 0 ||
		       strcmp(text, "1") == 0);

	free(text);
	return yes;
}

const struct import_launcher *
import_script_launcher(const char *word, int version, bool torch)
{
	size_t i;

	for (i = 0; i < N_LAUNCHERS; i++)
		if (strcmp(launchers[i].word, word) == 0 &&
		    (launchers[i].version == 0 ||
			launchers[i].version == version) &&
		    (torch || launchers[i].and == NULL))
			return &launchers[i];
	return NULL;
}

void
import_script_find(struct import *im)
{
	const struct import_launcher *l;
	size_t i;

	im->program = import_script_fixed_text(im, "sagemaker_program");
	for (i = 0; i < N_LAUNCHERS && im->launcher == NULL; i++) {
		l = &launchers[i];
		if (fixed_true(im, l->flag) &&
		    (l->and == NULL || fixed_true(im, l->and)) &&
		    (l->version == 0 || fixed_find(im, HP_MODEL) != NULL))
			im->launcher = l;
	}
}

bool
import_script_is_toolkit(const struct import *im, const char *name)
{
	return strncmp(name, "sagemaker_", 10) == 0 ||
	       strcmp(name, "_tuning_objective_metric") == 0 ||
	       (strcmp(name, HP_MODEL) == 0 && im->launcher != NULL &&
		   im->launcher->version > 0);
}

static bool
ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0;
}

/* A text of a command, with braces escaped. */
static void
argument_put(struct import *im, const char *front, const char *text)
{
	struct buf b = { 0 };

	buf_puts(&b, front);
	import_escape_braces(&b, text);
	json_put_string(&im->to.out, buf_str(&b));
	buf_free(&b);
}

/* Chosen by its suffix, as in the toolkit. */
void
import_script_put_command(struct import *im)
{
	const char *program = im->program;

	converted_key(&im->to, 2, "command");
	if (im->algorithm) {
		buf_puts(&im->to.out, "[\"train\"]");
		return;
	}
	if (program == NULL && im->def == NULL) {
		buf_puts(&im->to.out, "[\"./train\", \"{params}\"]");
		converted_note(&im->to,
		    "trial.command: the file names no program: set it");
		return;
	}
	if (program == NULL) {
		/*
		 * The command that SageMaker runs in an image without a
		 * program.
		 */
		buf_puts(&im->to.out, "[\"train\"]");
		converted_note(&im->to,
		    "trial.command: \"train\" is what SageMaker runs "
		    "in an image; put your program there");
		return;
	}
	buf_putc(&im->to.out, '[');
	if (ends_in(program, ".py"))
		buf_puts(&im->to.out, "\"python3\", ");
	else if (ends_in(program, ".sh"))
		buf_puts(&im->to.out, "\"sh\", ");
	argument_put(im,
	    ends_in(program, ".py") || strchr(program, '/') != NULL ? "" : "./",
	    program);
	buf_puts(&im->to.out, ", \"{params}\"]");
}

/* The folder does not exist yet: hpotune check reports it until it does. */
static void
import_script_code_put(struct import *im)
{
	char *from = import_script_fixed_text(im, HP_SUBMIT);

	if (im->program == NULL) {
		if (from != NULL)
			buf_printf(
			    im->to.notes, HP_SUBMIT ": left out: %s\n", from);
		free(from);
		return;
	}
	if (from != NULL && strncmp(from, "s3://", 5) == 0) {
		converted_text(&im->to, 2, "code", "code");
		buf_printf(im->to.notes,
		    "backend.code: the script %s is in S3; beside study.json: "
		    "mkdir code && aws s3 cp '%s' - | tar -xz -C code\n",
		    im->program, from);
	} else if (from != NULL)
		buf_printf(im->to.notes,
		    "backend.code: name the folder that holds %s: it was in "
		    "%s of the image\n",
		    im->program, from);
	else
		buf_printf(im->to.notes,
		    "backend.code: name the folder that holds %s, unless the "
		    "image has it\n",
		    im->program);
	free(from);
}

/* A JSON value, copied; nothing when it is not valid JSON. */
static bool
raw_put(struct import *im, int depth, const char *key, const char *text,
    enum json_type type)
{
	struct json_doc *doc = NULL;
	struct err ignored = ERR_INIT;
	bool good;

	good =
	    text != NULL &&
	    json_parse(&doc, text, strlen(text), NULL, false, &ignored) == 0 &&
	    json_type(json_root(doc)) == type;
	if (good) {
		converted_key(&im->to, depth, key);
		json_write(&im->to.out, json_root(doc));
	}
	json_free(doc);
	return good;
}

/* [ "group" ]: a single group trains. */
static void
group_put(struct import *im)
{
	const char *text = fixed_find(im, HP_GROUPS);
	struct json_doc *doc = NULL;
	struct err ignored = ERR_INIT;

	if (text == NULL)
		return;
	if (json_parse(&doc, text, strlen(text), NULL, false, &ignored) == 0 &&
	    json_type(json_root(doc)) == JSON_ARRAY &&
	    json_count(json_root(doc)) == 1)
		converted_text(&im->to, 3, "group",
		    json_string(json_first(json_root(doc))));
	else
		buf_printf(im->to.notes,
		    HP_GROUPS ": left out: one group was expected: %s\n", text);
	json_free(doc);
}

static void
import_script_launcher_put(struct import *im)
{
	const struct import_launcher *l = im->launcher;
	char *options = l->options != NULL
			    ? import_script_fixed_text(im, l->options)
			    : NULL;

	converted_open(&im->to, 2, "distribution", '{');
	converted_text(&im->to, 3, "launcher", l->word);
	if (l->version == 1) {
		converted_key(&im->to, 3, "version");
		buf_puts(&im->to.out, "1");
	}
	if (l->count != NULL)
		(void)raw_put(im, 3, "processes_per_host",
		    fixed_find(im, l->count), JSON_NUMBER);
	if (options != NULL && *options != '\0')
		converted_text(&im->to, 3, "custom_mpi_options", options);
	free(options);
	if (l->and != NULL) {
		converted_key(&im->to, 3, "torch_distributed");
		buf_puts(&im->to.out, "true");
	}
	if (l->version > 0 && !raw_put(im, 3, "parameters",
				  fixed_find(im, HP_MODEL), JSON_OBJECT))
		converted_note(
		    &im->to, HP_MODEL ": left out: an object was expected");
	group_put(im);
	converted_close(&im->to, 2, '}');
}

/* Whether the block or the command already covers name. */
static bool
is_carried(const struct import *im, const char *name)
{
	const struct import_launcher *l = im->launcher;
	size_t i;

	if (strcmp(name, "sagemaker_program") == 0 ||
	    strcmp(name, HP_SUBMIT) == 0 ||
	    strcmp(name, "_tuning_objective_metric") == 0 ||
	    (strcmp(name, HP_LEVEL) == 0 &&
		strcmp(fixed_find(im, name), "20") == 0))
		return true;
	for (i = 0; made_anew[i] != NULL; i++)
		if (strcmp(name, made_anew[i]) == 0)
			return true;
	if (l != NULL &&
	    (strcmp(name, HP_GROUPS) == 0 || strcmp(name, HP_MODEL) == 0 ||
		(l->count != NULL && strcmp(name, l->count) == 0) ||
		(l->options != NULL && strcmp(name, l->options) == 0)))
		return true;
	if (l != NULL && (strcmp(name, l->flag) == 0 ||
			     (l->and != NULL && strcmp(name, l->and) == 0)))
		return true;
	/* A flag that is false is ignored. */
	for (i = 0; i < N_LAUNCHERS; i++)
		if (strcmp(name, launchers[i].flag) == 0)
			return !fixed_true(im, name);
	return false;
}

static void
left_out(struct import *im, const char *name)
{
	const char *value;

	if (name == NULL || !import_script_is_toolkit(im, name) ||
	    is_carried(im, name))
		return;
	value = fixed_find(im, name);
	buf_printf(im->to.notes, "%s: left out: %s\n", name,
	    value != NULL && *value != '\0' ? value : "(empty)");
}

/*
 * Note each toolkit hyperparameter that is neither converted nor set by
 * hpotune.
 */
static void
import_script_rest_note(struct import *im)
{
	const struct json *j =
	    import_at(im->def, "StaticHyperParameters", NULL);

	for (j = json_first(j); j != NULL; j = json_next(j))
		left_out(im, json_key(j));
	j = import_at(import_space_ranges(im), "AutoParameters", NULL);
	for (j = json_first(j); j != NULL; j = json_next(j))
		left_out(im, json_string(json_get(j, "Name")));
}

void
import_script_put(struct import *im)
{
	import_script_code_put(im);
	if (im->launcher != NULL)
		import_script_launcher_put(im);
	import_script_rest_note(im);
}
