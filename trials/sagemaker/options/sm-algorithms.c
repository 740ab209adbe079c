/*
 * Built-in algorithms of AWS: which image, which hyperparameters, and the
 * metrics in its log.  The metric definitions are those of AWS's tuning jobs:
 * of XGBoost from the source of its container, of linear learner from
 * DescribeHyperParameterTuningJob.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "src/model/plugin-options.h"
#include "trials/sagemaker/options/sm-options-internal.h"

enum {
	ALGORITHMS_MAX = 32,
	IMAGE_MAX = 255,
	BUILT_IN_WAIT_S = 3600 /* most waiting for spot without checkpoints */
};

/* The step of either algorithm's lines, in one group. */
#define STEP_REGEX "(?|\\[([0-9]+)\\](?:\\t|#011)|epoch=([0-9]+))"

static const char *const xgboost[] = { "accuracy", "auc", "aucpr",
	"balanced_accuracy", "f1", "f1_binary", "f1_macro", "map", "ndcg",
	"precision", "r2", "recall", "precision_macro", "precision_micro",
	"recall_macro", "recall_micro", "aft-nloglik", "cox-nloglik", "error",
	"gamma-deviance", "gamma-nloglik", "interval-regression-accuracy",
	"logloss", "mae", "mape", "merror", "mlogloss", "mphe", "mse",
	"poisson-nloglik", "rmse", "rmsle", "tweedie-nloglik", NULL };

static const struct {
	const char *name, *text; /* behind "train " */
	bool epochs; /* one for each epoch, not only at the end */
} linear[] = {
	{ "objective_loss", "\\S+_objective <loss>", true },
	{ "objective_loss:final", "\\S+_objective <loss>", false },
	{ "mse", "mse <loss>", false },
	{ "rmse", "rmse <loss>", false },
	{ "absolute_loss", "absolute_loss <loss>", false },
	{ "binary_f_beta", "binary_f_\\S+ <score>", false },
	{ "binary_classification_accuracy",
	    "binary_classification_accuracy <score>", false },
	{ "precision", "precision <score>", false },
	{ "recall", "recall <score>", false },
	{ "dcg", "dcg <score>", false },
	{ "macro_f_beta", "macro_f_\\S+ <score>", false },
	{ "macro_precision", "macro_precision <score>", false },
	{ "macro_recall", "macro_recall <score>", false },
	{ "multiclass_accuracy", "multiclass_accuracy <score>", false },
	{ "multiclass_top_k_accuracy", "multiclass_top_k_accuracy_\\S+ <score>",
	    false },
};

enum { N_LINEAR = sizeof linear / sizeof linear[0] };

static const char *const sets[] = { "train", "validation", "test", NULL };

/* The last part of an image's name, without tag and digest. */
static enum sm_known
known_of(const char *image)
{
	const char *slash = strrchr(image, '/');
	const char *name = slash != NULL ? slash + 1 : image;
	size_t n = strcspn(name, ":@");

	if ((n == 7 && strncmp(name, "xgboost", n) == 0) ||
	    (n == 17 && strncmp(name, "sagemaker-xgboost", n) == 0))
		return SM_KNOWN_XGBOOST;
	if (n == 14 && strncmp(name, "linear-learner", n) == 0)
		return SM_KNOWN_LINEAR;
	return SM_KNOWN_NOT;
}

/* What stands behind "SET:", or NULL. */
static const char *
behind_set(const char *metric, const char **set)
{
	size_t i, n;

	for (i = 0; sets[i] != NULL; i++) {
		n = strlen(sets[i]);
		if (strncmp(metric, sets[i], n) == 0 && metric[n] == ':') {
			*set = sets[i];
			return metric + n + 1;
		}
	}
	return NULL;
}

static char *
linear_regex(const char *set, const char *name)
{
	size_t i;

	for (i = 0; i < N_LINEAR; i++)
		if (strcmp(linear[i].name, name) == 0)
			break;
	if (i == N_LINEAR)
		return NULL;
	/* The test set has a single value, at the end. */
	return xasprintf("#quality_metric: host=[^,\\s]+, %s%s %s=(\\S+)",
	    linear[i].epochs && strcmp(set, "test") != 0 ? "epoch=[^,\\s]+, "
							 : "",
	    set, linear[i].text);
}

static char *
xgboost_regex(const char *set, const char *name)
{
	size_t i;

	if (strcmp(set, "test") == 0)
		return NULL;
	for (i = 0; xgboost[i] != NULL; i++)
		if (strcmp(xgboost[i], name) == 0)
			return xasprintf("\\[[0-9]+\\].*(?:\\t|#011)%s-%s:"
					 "([^\\s#]+)",
			    set, name);
	return NULL;
}

/* The pattern of a metric in an algorithm's log, to be freed; NULL = none. */
static char *
metric_regex(enum sm_known known, const char *metric)
{
	const char *set = NULL, *name = behind_set(metric, &set);

	if (name == NULL)
		return NULL;
	switch (known) {
	case SM_KNOWN_NOT:
		break;
	case SM_KNOWN_XGBOOST:
		return xgboost_regex(set, name);
	case SM_KNOWN_LINEAR:
		return linear_regex(set, name);
	}
	return NULL;
}

static int
metric_read(struct sm_reader *r, struct sm_algorithm *a, const struct json *j)
{
	const char *text;
	char *regex;
	size_t i;

	if (json_read_string(j, &text, r->e) != 0)
		return -1;
	a->metric = xstrdup(text);
	for (i = 0; i < r->trial->n_metrics; i++)
		if (strcmp(r->trial->metrics[i].name, text) == 0)
			return 0;
	regex = metric_regex(a->known, text);
	if (regex == NULL)
		return json_err(j, r->e,
		    "this is not a metric of the algorithm: expected "
		    "one, or its pattern in trial.metrics");
	free(regex);
	return 0;
}

static int
hyperparameters_read(
    struct sm_reader *r, struct sm_algorithm *a, const struct json *block)
{
	const struct json *j;

	if (json_want(block, JSON_OBJECT, r->e) != 0)
		return -1;
	for (j = json_first(block); j != NULL; j = json_next(j))
		if (json_type(j) == JSON_OBJECT || json_type(j) == JSON_NULL)
			return json_err(j, r->e,
			    "expected a text, a number, a boolean or a list");
	a->hyperparameters = block;
	return 0;
}

static int
algorithm_read(struct sm_reader *r, const struct json *block)
{
	static const char *const keys[] = { "image", "metric",
		"hyperparameters", NULL };
	struct sm_algorithm *a = &r->s->algorithms[r->s->n_algorithms++];
	const struct json *j = json_need(block, "image", r->e);
	const char *text;

	a->value = xstrdup(json_key(block));
	if (j == NULL || json_only(block, keys, r->e) != 0 ||
	    json_read_string(j, &text, r->e) != 0)
		return -1;
	if (*text == '\0' || strlen(text) > IMAGE_MAX ||
	    strpbrk(text, " \t\r\n") != NULL)
		return json_err(j, r->e,
		    "expected the name of an image, at most 255 characters");
	a->image = xstrdup(text);
	a->known = known_of(text);
	if ((j = json_get(block, "metric")) != NULL &&
	    metric_read(r, a, j) == -1)
		return -1;
	j = json_get(block, "hyperparameters");
	return j == NULL ? 0 : hyperparameters_read(r, a, j);
}

static int
algorithms_list_read(struct sm_reader *r)
{
	const struct json *block = sm_options_json(r, "algorithms"), *j;

	if (block == NULL) {
		r->s->algorithms[0].image = xstrdup(r->s->image);
		r->s->algorithms[0].known = known_of(r->s->image);
		r->s->n_algorithms = 1;
		return 0;
	}
	if (r->s->algorithm_param == NULL)
		return json_err(block, r->e,
		    "expected \"algorithm\", too: the parameter that chooses "
		    "one of them");
	if (json_want(block, JSON_OBJECT, r->e) != 0)
		return -1;
	if (json_count(block) < 1 || json_count(block) > ALGORITHMS_MAX)
		return json_err(
		    block, r->e, "expected 1 to %d algorithms", ALGORITHMS_MAX);
	for (j = json_first(block); j != NULL; j = json_next(j))
		if (json_want(j, JSON_OBJECT, r->e) != 0 ||
		    algorithm_read(r, j) == -1)
			return -1;
	return 0;
}

/* Reject options that need a program of the user. */
static int
others_check(struct sm_reader *r)
{
	static const char *const others[] = { "code", "distribution",
		"requirements", NULL };
	const struct study_trial *t = r->trial;
	size_t i;

	for (i = 0; others[i] != NULL; i++)
		if (sm_options_json(r, others[i]) != NULL)
			return json_err(sm_options_json(r, others[i]), r->e,
			    "AWS's own algorithms have a program of their "
			    "own: leave this key out");
	if (t->env[0] != NULL)
		return json_err(sm_options_json(r, "container"), r->e,
		    "AWS's own algorithms accept no environment variables: "
		    "remove trial.env");
	if (t->batch_global > 0 || t->batch_param != NULL)
		return json_err(sm_options_json(r, "container"), r->e,
		    "AWS's own algorithms do not support a batch per process: "
		    "remove trial.batch");
	if (t->launcher != STUDY_LAUNCHER_NONE)
		return json_err(sm_options_json(r, "container"), r->e,
		    "AWS's own algorithms start their processes themselves: "
		    "leave trial.launcher out");
	if (strcmp(t->command[0], "train") != 0 || t->command[1] != NULL)
		return json_err(sm_options_json(r, "container"), r->e,
		    "AWS starts its own algorithms with one word: expected "
		    "trial.command [\"train\"]");
	if (strcmp(plugin_option_get(r->values, "metrics_from")->text,
		"logs") != 0)
		return json_err(sm_options_json(r, "metrics_from"), r->e,
		    "what an algorithm reports is read from its log: leave "
		    "this key out");
	return 0;
}

/* Whether all algorithms write checkpoints, as far as is known. */
static int
checkpoints_check(struct sm_reader *r)
{
	struct sm_settings *s = r->s;
	size_t i;

	if (!plugin_option_get(r->values, "checkpoints")->given)
		s->checkpoints = false;
	for (i = 0; s->checkpoints && i < s->n_algorithms; i++)
		if (s->algorithms[i].known == SM_KNOWN_LINEAR)
			return json_err(sm_options_json(r, "checkpoints"), r->e,
			    "linear learner writes no checkpoints: expected "
			    "false");
	return 0;
}

int
sm_algorithms_read(struct sm_reader *r)
{
	struct sm_settings *s = r->s;

	s->algorithm = strcmp(plugin_option_get(r->values, "container")->text,
			   "algorithm") == 0;
	s->algorithm_param = sm_options_text(r, "algorithm");
	if (!s->algorithm) {
		if (sm_options_json(r, "algorithm") == NULL &&
		    sm_options_json(r, "algorithms") == NULL)
			return 0;
		return json_err(sm_options_json(r, "algorithm") != NULL
				    ? sm_options_json(r, "algorithm")
				    : sm_options_json(r, "algorithms"),
		    r->e, "this key goes with \"container\": \"algorithm\"");
	}
	s->algorithms = xcalloc(ALGORITHMS_MAX, sizeof *s->algorithms);
	if (others_check(r) == -1 || algorithms_list_read(r) == -1)
		return -1;
	return checkpoints_check(r);
}

int
sm_algorithms_check_spot(struct sm_reader *r)
{
	struct sm_settings *s = r->s;

	if (!s->algorithm || !s->spot || s->checkpoints)
		return 0;
	if (!plugin_option_get(r->values, "max_wait")->given &&
	    s->max_run_s <= BUILT_IN_WAIT_S)
		s->max_wait_s = BUILT_IN_WAIT_S;
	if (s->max_wait_s <= BUILT_IN_WAIT_S)
		return 0;
	return json_err(sm_options_where(r, "max_wait"), r->e,
	    "AWS allows an algorithm without checkpoints %d s of waiting and "
	    "training on spot: expected max_wait and max_run of at most that",
	    BUILT_IN_WAIT_S);
}

void
sm_algorithms_free(struct sm_settings *s)
{
	size_t i;

	for (i = 0; i < s->n_algorithms; i++) {
		free(s->algorithms[i].value);
		free(s->algorithms[i].image);
		free(s->algorithms[i].metric);
	}
	free(s->algorithms);
	free(s->algorithm_param);
}

void
sm_algorithm_misses(const struct sm_settings *s, struct buf *b)
{
	buf_puts(b,
	    "AWS's own algorithm: without environment, so a job is "
	    "identified by its name, its tags and its output path; without "
	    "files of hpotune, so reports come from its log only");
	if (!s->checkpoints)
		buf_puts(b, "; without checkpoints, so a trial that is lost or "
			    "interrupted starts from the beginning");
}

const struct sm_algorithm *
sm_algorithm_of(
    const struct sm_settings *s, const struct json *params, struct err *e)
{
	const struct json *j;
	const char *value;
	size_t i;

	if (s->algorithms[0].value == NULL)
		return &s->algorithms[0];
	j = json_get(params, s->algorithm_param);
	value = j != NULL ? json_string(j) : NULL;
	for (i = 0; value != NULL && i < s->n_algorithms; i++)
		if (strcmp(s->algorithms[i].value, value) == 0)
			return &s->algorithms[i];
	err_set(e, ERR_LAUNCH,
	    "backend.algorithms has none for the trial's %s, %s",
	    s->algorithm_param, value != NULL ? value : "which is no text");
	return NULL;
}

bool
sm_algorithm_takes(const struct sm_settings *s, const struct sm_algorithm *a,
    const char *param, const char **name)
{
	size_t i, n;

	*name = param;
	if (a->value == NULL)
		return true;
	if (strcmp(param, s->algorithm_param) == 0)
		return false;
	for (i = 0; i < s->n_algorithms; i++) {
		n = strlen(s->algorithms[i].value);
		if (strncmp(param, s->algorithms[i].value, n) != 0 ||
		    param[n] != '.' || param[n + 1] == '\0')
			continue;
		*name = param + n + 1;
		return &s->algorithms[i] == a;
	}
	return true;
}

const char *
sm_algorithm_objective(const struct sm_algorithm *a, const char *objective)
{
	const char *name = a->metric != NULL ? a->metric : objective;
	char *regex = metric_regex(a->known, name);
	bool tells = regex != NULL && strncmp(name, "train:", 6) != 0;

	free(regex);
	return tells ? name : NULL;
}

static void
metric_add(struct study_trial *t, const char *name, char *regex)
{
	if (regex == NULL)
		return;
	t->metrics =
	    xreallocarray(t->metrics, t->n_metrics + 1, sizeof *t->metrics);
	t->metrics[t->n_metrics++] =
	    (struct study_metric){ .name = xstrdup(name), .regex = regex };
}

/* The pattern of a name: the study's own, else the algorithm's. */
static char *
algorithms_regex_of(const struct study_trial *own, const struct sm_algorithm *a,
    const char *metric)
{
	size_t i;

	for (i = 0; i < own->n_metrics; i++)
		if (strcmp(own->metrics[i].name, metric) == 0)
			return xstrdup(own->metrics[i].regex);
	return metric_regex(a->known, metric);
}

/* Add every metric that the algorithm may print, under AWS's names. */
static void
all_add(struct study_trial *t, enum sm_known known)
{
	size_t i, k, n = known == SM_KNOWN_LINEAR ? N_LINEAR : 0;
	const char *base;
	char *name;

	if (known == SM_KNOWN_XGBOOST)
		n = sizeof xgboost / sizeof xgboost[0] - 1;
	for (i = 0; i < n; i++)
		for (k = 0; sets[k] != NULL; k++) {
			base = known == SM_KNOWN_LINEAR ? linear[i].name
							: xgboost[i];
			name = xasprintf("%s:%s", sets[k], base);
			metric_add(t, name, metric_regex(known, name));
			free(name);
		}
}

struct study_trial *
sm_algorithm_trial(const struct sm_settings *s, const struct study_trial *own,
    const char *objective)
{
	struct study_trial *t = xcalloc(1, sizeof *t);
	const struct sm_algorithm *a;
	bool seen[SM_KNOWN_LINEAR + 1] = { false };
	size_t i;

	*t = *own;
	t->metrics = NULL;
	t->n_metrics = 0;
	t->step_regex =
	    xstrdup(own->step_regex != NULL ? own->step_regex : STEP_REGEX);
	for (i = 0; i < own->n_metrics; i++)
		metric_add(
		    t, own->metrics[i].name, xstrdup(own->metrics[i].regex));
	for (i = 0; i < s->n_algorithms; i++) {
		a = &s->algorithms[i];
		if (a->metric != NULL && strcmp(a->metric, objective) != 0)
			metric_add(t, objective,
			    algorithms_regex_of(own, a, a->metric));
		if (!seen[a->known])
			all_add(t, a->known);
		seen[a->known] = true;
	}
	return t;
}

void
sm_algorithm_trial_free(struct study_trial *t)
{
	size_t i;

	for (i = 0; i < t->n_metrics; i++) {
		free(t->metrics[i].name);
		free(t->metrics[i].regex);
	}
	free(t->metrics);
	free(t->step_regex);
	free(t);
}
