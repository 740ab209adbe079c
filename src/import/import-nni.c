/*
 * An experiment of NNI as a study.  Keys: nni/experiment/config, and those of
 * its first version, which convert.py has.
 */

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-nni-space.h"
#include "src/import/import-nni.h"
#include "src/import/import-study.h"

enum { TRIALS = 100 };

/* NNI reads trial_command and trialcommand as trialCommand. */
static bool
nni_key_is(const char *own, const char *key)
{
	for (;; own++, key++) {
		while (*own == '_')
			own++;
		if (tolower((unsigned char)*own) !=
		    tolower((unsigned char)*key))
			return false;
		if (*own == '\0')
			return true;
	}
}

static const struct json *
nni_member(const struct json *config, const char *key)
{
	const struct json *j = json_get(config, key);

	if (j == NULL && config != NULL && json_type(config) == JSON_OBJECT)
		for (j = json_first(config); j != NULL; j = json_next(j))
			if (nni_key_is(json_key(j), key))
				break;
	return j != NULL && json_type(j) != JSON_NULL ? j : NULL;
}

/* The key of the second version, or of the first one. */
static const struct json *
nni_get(const struct json *config, const char *key, const char *first)
{
	const struct json *j = nni_member(config, key);

	return j == NULL && first != NULL ? nni_member(config, first) : j;
}

/*
 * trialCommand, or trial.command of the first version; for a cluster that of its
 * workers.
 */
static const struct json *
nni_trial_get(const struct import *im, const char *key, const char *first)
{
	static const char *const above[] = { "trial", "trainingService", NULL };
	const struct json *j = nni_get(im->root, key, NULL), *block;
	size_t i;

	for (i = 0; above[i] != NULL && j == NULL; i++) {
		block = nni_get(im->root, above[i], NULL);
		j = nni_get(block, key, first);
		if (j == NULL)
			j = nni_get(
			    nni_get(block, "worker", NULL), first, NULL);
	}
	return j;
}

const char *
import_nni_space_file(const struct json *config)
{
	return json_string(
	    nni_get(config, "searchSpaceFile", "searchSpacePath"));
}

/* The name of an algorithm, or NULL: tuner, assessor, advisor. */
static const char *
nni_algorithm(const struct import *im, const char *kind, const char *first)
{
	const struct json *j = nni_get(im->root, kind, NULL);

	return json_string(nni_get(j, "name", first));
}

/* The tuner, which may be written as advisor. */
static const char *
nni_tuner(const struct import *im, const struct json **args)
{
	const char *name = nni_algorithm(im, "tuner", "builtinTunerName");

	*args = nni_get(nni_get(im->root, "tuner", NULL), "classArgs", NULL);
	if (name == NULL) {
		name = nni_algorithm(im, "advisor", "builtinAdvisorName");
		if (name != NULL)
			*args = nni_get(nni_get(im->root, "advisor", NULL),
			    "classArgs", NULL);
	}
	return name;
}

/* What a tuner assumes that is not told the mode. */
static bool
nni_maximizes(const char *tuner)
{
	static const char *const names[] = { "Evolution", "DNGO", "Hyperband",
		"BOHB", "PBTTuner", "SMAC", "Metis", "GP", NULL };
	size_t i;

	for (i = 0; tuner != NULL && names[i] != NULL; i++)
		if (strcasecmp(tuner, names[i]) == 0)
			return true;
	return false;
}

static int
nni_objective_put(struct import *im, struct err *e)
{
	static const char *const goals[] = { "minimize", "maximize", NULL };
	const struct json *args, *j;
	const char *tuner = nni_tuner(im, &args);
	struct json_writer w;
	size_t i = nni_maximizes(tuner);

	j = json_get(args, "optimize_mode");
	if (j != NULL && json_type(j) != JSON_NULL) {
		if (json_read_word(j, goals, &i, e) != 0)
			return -1;
	} else
		buf_printf(im->to.notes,
		    "objective.goal: %s, as no optimize_mode is there\n",
		    goals[i]);
	w = converted_object(&im->to, 1, "objective");
	json_writer_text(&w, "metric", "default");
	json_writer_text(&w, "goal", goals[i]);
	json_writer_text(&w, "value", "last");
	json_writer_end(&w);
	return 0;
}

static void
nni_strategy_put(struct import *im)
{
	static const struct {
		const char *theirs, *ours;
	} names[] = { { "Random", "random" }, { "GridSearch", "grid" },
		{ "TPE", "tpe" }, { "GP", "gp" }, { "Metis", "gp" },
		{ "SMAC", "gp" }, { "BOHB", "bohb" }, { "Hyperband", "random" },
		{ "PBTTuner", "pbt" } };
	const struct json *args;
	const char *tuner = nni_tuner(im, &args);
	size_t i;

	for (i = 0; tuner != NULL && i < sizeof names / sizeof *names; i++)
		if (strcasecmp(tuner, names[i].theirs) == 0) {
			converted_text(&im->to, 1, "strategy", names[i].ours);
			return;
		}
	if (tuner != NULL)
		buf_printf(
		    im->to.notes, "strategy: %s is left out: auto\n", tuner);
}

static void
nni_hyperband_put(struct import *im, const struct json *args)
{
	struct json_writer w = converted_object(&im->to, 1, "stopping");
	double eta = 3;

	(void)json_number(json_get(args, "eta"), &eta);
	json_writer_text(&w, "rule", "hyperband");
	json_writer_number(&w, "reduction_factor", fmax(2, floor(eta)));
	json_writer_end(&w);
	converted_note(&im->to,
	    "stopping: NNI gives a trial of Hyperband its budget as parameter "
	    "TRIAL_BUDGET; here it trains to its end unless the rule stops it");
}

/*
 * The steps of a complete trial, which only Curvefitting tells, of which curve
 * needs 2 or more; otherwise 0.
 */
static int64_t
nni_max_steps(const struct import *im)
{
	const struct json *block = nni_get(im->root, "assessor", NULL);
	const char *name = nni_algorithm(im, "assessor", "builtinAssessorName");
	int64_t n;

	if (name == NULL || strcasecmp(name, "Curvefitting") != 0 ||
	    !json_integer(
		json_get(nni_get(block, "classArgs", NULL), "epoch_num"), &n))
		return 0;
	return n >= 2 && n <= 1000000000 ? n : 0;
}

static void
nni_stopping_put(struct import *im)
{
	const char *name = nni_algorithm(im, "assessor", "builtinAssessorName");
	const struct json *args, *j;
	const char *tuner = nni_tuner(im, &args);
	struct json_writer w;
	int64_t start;

	j = nni_get(nni_get(im->root, "assessor", NULL), "classArgs", NULL);

	if (tuner != NULL && (strcasecmp(tuner, "Hyperband") == 0 ||
				 strcasecmp(tuner, "BOHB") == 0)) {
		nni_hyperband_put(im, args);
		return;
	}
	if (name != NULL && strcasecmp(name, "Medianstop") == 0) {
		j = json_get(j, "start_step");
		w = converted_object(&im->to, 1, "stopping");
		json_writer_text(&w, "rule", "nni");
		if (json_integer(j, &start) && start >= 0)
			json_writer_integer(&w, "start_step", start);
		json_writer_end(&w);
		return;
	}
	if (nni_max_steps(im) > 0) {
		converted_text(&im->to, 1, "stopping", "curve");
		converted_note(&im->to,
		    "stopping: Curvefitting becomes curve, which "
		    "extrapolates in another way");
		return;
	}
	if (name != NULL)
		buf_printf(im->to.notes,
		    "stopping: the assessor %s is left out\n", name);
	converted_text(&im->to, 1, "stopping", "none");
}

/* Whether a shell would do with a command what words alone do. */
static bool
nni_is_plain(const char *command)
{
	for (; *command != '\0'; command++)
		if (!isalnum((unsigned char)*command) &&
		    strchr(" _-./=:@,+%", *command) == NULL)
			return false;
	return true;
}

static void
nni_command_put(struct import *im, const char *command)
{
	const char *params = im->words ? "{params:python}" : "{params}";
	struct buf text = { 0 };
	char *copy = xstrdup(command), *word, *rest = copy;

	converted_open(&im->to, 2, "command", '[');
	if (nni_is_plain(command)) {
		while ((word = strtok_r(rest, " ", &rest)) != NULL)
			converted_text(&im->to, 3, NULL, word);
		converted_text(&im->to, 3, NULL, params);
	} else {
		import_escape_braces(&text, command);
		buf_puts(&text, " \"$@\"");
		converted_text(&im->to, 3, NULL, "sh");
		converted_text(&im->to, 3, NULL, "-c");
		converted_text(&im->to, 3, NULL, buf_str(&text));
		converted_text(&im->to, 3, NULL, "sh");
		converted_text(&im->to, 3, NULL, params);
		converted_note(&im->to,
		    "trial.command: the shell gives the arguments "
		    "to the last of its commands: \"$@\"");
	}
	converted_close(&im->to, 2, ']');
	buf_free(&text);
	free(copy);
}

/* A duration of NNI, 1h or a number of seconds, is one here. */
static void
nni_duration_put(
    struct import *im, int depth, const char *key, const struct json *j)
{
	if (j != NULL && json_string(j) != NULL)
		converted_text(&im->to, depth, key, json_string(j));
	else if (j != NULL)
		(void)converted_number(&im->to, depth, key, j);
}

/* Where the trials ran, if that was not this machine. */
static void
nni_platform_note(struct import *im)
{
	const struct json *service = nni_get(im->root, "trainingService", NULL);
	const char *name =
	    json_string(nni_get(im->root, "trainingServicePlatform", NULL));

	if (name == NULL)
		name = json_string(nni_get(service, "platform", NULL));
	if (name == NULL && service != NULL && json_type(service) == JSON_ARRAY)
		name = "several platforms";
	if (name != NULL && strcasecmp(name, "local") != 0)
		buf_printf(im->to.notes,
		    "backend: the trials ran on %s, whose settings are left "
		    "out: here they run on this machine\n",
		    name);
}

static int
nni_trial_put(struct import *im, struct err *e)
{
	const struct json *j = nni_trial_get(im, "trialCommand", "command");
	const char *text = "./train";
	int64_t gpus, steps;

	if (j != NULL && json_read_string(j, &text, e) != 0)
		return -1;
	if (j == NULL)
		converted_note(
		    &im->to, "trial.command: ./train: name your program");
	converted_open(&im->to, 1, "trial", '{');
	nni_command_put(im, text);
	text = json_string(nni_trial_get(im, "trialCodeDirectory", "codeDir"));
	if (text != NULL && strcmp(text, ".") != 0 && strcmp(text, "./") != 0)
		converted_text(&im->to, 2, "workdir", text);
	steps = nni_max_steps(im);
	if (steps > 0) {
		converted_key(&im->to, 2, "max_steps");
		buf_printf(&im->to.out, "%lld", (long long)steps);
	}
	if (json_integer(
		nni_trial_get(im, "trialGpuNumber", "gpuNum"), &gpus) &&
	    gpus > 0)
		import_gpus_note(im, gpus);
	nni_platform_note(im);
	nni_duration_put(
	    im, 2, "max_run", nni_get(im->root, "maxTrialDuration", NULL));
	converted_close(&im->to, 1, '}');
	converted_note(&im->to,
	    "trial.command: nni.get_next_parameter() has no parameters here, "
	    "so that each trial would run the program's own: read the "
	    "arguments, or hpotune.params()");
	converted_note(&im->to,
	    "metrics: what the program gives to "
	    "nni.report_intermediate_result() is not read: print it (hpotune: "
	    "step=1 default=0.5), or use hpotune.report(step, default=0.5)");
	return 0;
}

static int
nni_limits_put(struct import *im, struct err *e)
{
	const struct json *most =
	    nni_get(im->root, "maxTrialNumber", "maxTrialNum");
	const struct json *time =
	    nni_get(im->root, "maxExperimentDuration", "maxExecDuration");
	const struct json *parallel =
	    nni_get(im->root, "trialConcurrency", NULL);
	int64_t n = TRIALS;

	if (most != NULL && json_read_integer(most, 1, 1000000000, &n, e) != 0)
		return -1;
	if (most == NULL)
		converted_note(&im->to,
		    "limits.trials: the experiment has no maxTrialNumber: 100");
	converted_open(&im->to, 1, "limits", '{');
	converted_key(&im->to, 2, "trials");
	buf_printf(&im->to.out, "%lld", (long long)n);
	if (parallel != NULL)
		(void)converted_number(&im->to, 2, "parallel", parallel);
	nni_duration_put(im, 2, "wall_time", time);
	converted_close(&im->to, 1, '}');
	return 0;
}

static int
nni_study_put(struct import *im, const struct json *space, struct err *e)
{
	const char *name = json_string(json_get(im->root, "experimentName"));

	if (space == NULL)
		return json_err(im->root, e,
		    "it has no searchSpace and no searchSpaceFile");
	buf_putc(&im->to.out, '{');
	name = name != NULL ? name : "";
	import_name(im, name, strlen(name), "nni");
	if (nni_objective_put(im, e) != 0)
		return -1;
	converted_open(&im->to, 1, "parameters", '{');
	if (import_nni_space_put(im, space, e) != 0)
		return -1;
	converted_close(&im->to, 1, '}');
	nni_strategy_put(im);
	nni_stopping_put(im);
	if (nni_trial_put(im, e) != 0 || nni_limits_put(im, e) != 0)
		return -1;
	if (im->words)
		converted_note(&im->to,
		    "trial.command: {params:python} writes True, False and "
		    "None, as Python reads them");
	buf_puts(&im->to.out, "\n}\n");
	return 0;
}

int
import_nni(struct buf *out, struct buf *notes, const struct json *config,
    const struct json *space, struct err *e)
{
	struct import im = { .to = { .notes = notes, .fresh = true },
		.root = config };
	int rc = -1;

	if (import_nni_space_is(config))
		space = config;
	else if (space == NULL)
		space = nni_get(config, "searchSpace", NULL);
	if (json_want(config, JSON_OBJECT, e) == 0)
		rc = nni_study_put(&im, space, e);
	if (rc == 0)
		buf_add(out, im.to.out.data, im.to.out.len);
	buf_free(&im.to.out);
	strv_free(im.names.v);
	return rc;
}
