/*
 * A sweep of Weights & Biases as a study.  Keys and distributions: "Sweep
 * configuration options" of its documentation, and wandb/sweeps.
 */

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-study.h"
#include "src/import/import-wandb-command.h"
#include "src/import/import-wandb-params.h"
#include "src/import/import-wandb.h"

enum { TRIALS = 100, GRID_MOST = 1000000 };

static const char *const sweep_keys[] = { "program", "method", "metric",
	"parameters", "early_terminate", "command", "run_cap", "name",
	"description", "project", "entity", "controller", "program_type",
	"imageuri", "job", "scheduler", NULL };

/* The name, or that of the program or module without folder and ending. */
static void
wandb_name_put(struct import *im)
{
	const char *name = json_string(json_get(im->root, "name")), *dot;

	if (name == NULL)
		name = json_string(json_get(im->root, "program"));
	if (name != NULL && strrchr(name, '/') != NULL)
		name = strrchr(name, '/') + 1;
	if (name == NULL)
		name = "";
	dot = strrchr(name, '.');
	if (dot != NULL && dot != name && strlen(dot) > 3 &&
	    json_get(im->root, "name") == NULL)
		name = dot + 1; /* of a module */
	import_name(im, name, strcspn(name, "."), "sweep");
	name = json_string(json_get(im->root, "description"));
	converted_text(&im->to, 1, "description", name);
}

static int
wandb_objective_put(struct import *im, struct err *e)
{
	static const char *const goals[] = { "minimize", "maximize", NULL };
	static const char *const keys[] = { "name", "goal", "target", "impute",
		"impute_while_running", NULL };
	const struct json *j = json_get(im->root, "metric"), *name;
	struct buf metric = { 0 };
	struct json_writer w;
	const char *text = "loss";
	size_t i = 0;

	if (j == NULL) {
		converted_note(&im->to,
		    "objective: the sweep has no metric: loss, "
		    "minimized");
	} else {
		if (json_want(j, JSON_OBJECT, e) != 0)
			return -1;
		import_unknown_note(im, "metric", j, keys);
		name = json_need(j, "name", e);
		if (name == NULL || json_read_string(name, &text, e) != 0)
			return -1;
		name = json_get(j, "goal");
		if (name != NULL && json_read_word(name, goals, &i, e) != 0)
			return -1;
	}
	w = converted_object(&im->to, 1, "objective");
	import_put_metric(&metric, text);
	if (strcmp(buf_str(&metric), text) != 0)
		buf_printf(im->to.notes, "objective.metric: %s is %s here\n",
		    text, buf_str(&metric));
	json_writer_text(&w, "metric", buf_str(&metric));
	buf_free(&metric);
	json_writer_text(&w, "goal", goals[i]);
	/* The summary of a run has the last value of a metric. */
	json_writer_text(&w, "value", "last");
	if (json_get(j, "target") != NULL)
		json_write(
		    json_writer_value(&w, "target"), json_get(j, "target"));
	json_writer_end(&w);
	return 0;
}

static int
wandb_strategy_put(struct import *im, struct err *e)
{
	static const char *const methods[] = { "grid", "random", "bayes",
		"custom", NULL };
	const struct json *j = json_need(im->root, "method", e);
	size_t i;

	if (j == NULL || json_read_word(j, methods, &i, e) != 0)
		return -1;
	if (i < 2)
		converted_text(&im->to, 1, "strategy", methods[i]);
	if (i == 3)
		converted_note(&im->to, "method: custom is left out: auto");
	return 0;
}

static int
wandb_stopping_put(struct import *im, struct err *e)
{
	static const char *const keys[] = { "type", "min_iter", "max_iter", "s",
		"eta", "strict", NULL };
	static const char *const types[] = { "hyperband", NULL };
	const struct json *j = json_get(im->root, "early_terminate");
	const struct json *from;
	struct json_writer w;
	double max, s, eta = 3, first = 1;
	size_t i;

	if (j == NULL || json_type(j) == JSON_NULL) {
		converted_text(&im->to, 1, "stopping", "none");
		return 0;
	}
	import_unknown_note(im, "early_terminate", j, keys);
	if (json_want(j, JSON_OBJECT, e) != 0 ||
	    (from = json_need(j, "type", e)) == NULL ||
	    json_read_word(from, types, &i, e) != 0)
		return -1;
	from = json_get(j, "eta");
	if (from != NULL && json_read_number(from, 1, 1e9, &eta, e) != 0)
		return -1;
	if (json_get(j, "min_iter") != NULL) {
		if (json_read_number(
			json_get(j, "min_iter"), 1, 1e15, &first, e) != 0)
			return -1;
	} else if (import_wandb_number(j, "max_iter", NAN, &max, e) != 0 ||
		   import_wandb_number(j, "s", NAN, &s, e) != 0)
		return -1;
	else /* the last bracket of those that max_iter gives */
		first = fmax(1, floor(max / pow(eta, s)));
	w = converted_object(&im->to, 1, "stopping");
	json_writer_text(&w, "rule", "asha");
	json_writer_number(&w, "min_resource", first);
	json_writer_number(&w, "reduction_factor", fmax(2, floor(eta)));
	json_writer_end(&w);
	converted_note(&im->to,
	    "early_terminate: brackets become those of asha: at "
	    "min_iter, min_iter * eta, … the best share goes on");
	return 0;
}

static int
wandb_limits_put(struct import *im, struct err *e)
{
	const char *word = json_string(json_get(im->root, "method"));
	const struct json *j = json_get(im->root, "run_cap");
	int64_t n = TRIALS;

	if (j != NULL && json_read_integer(j, 1, 1000000000, &n, e) != 0)
		return -1;
	if (j == NULL && im->settings > 0 && im->settings <= GRID_MOST &&
	    word != NULL && strcmp(word, "grid") == 0) {
		n = (int64_t)im->settings;
		buf_printf(im->to.notes,
		    "limits.trials: the sweep has no run_cap: %lld, all of its "
		    "grid\n",
		    (long long)n);
	} else if (j == NULL)
		converted_note(
		    &im->to, "limits.trials: the sweep has no run_cap: 100");
	converted_open(&im->to, 1, "limits", '{');
	converted_key(&im->to, 2, "trials");
	buf_printf(&im->to.out, "%lld", (long long)n);
	converted_close(&im->to, 1, '}');
	return 0;
}

static int
wandb_study_put(struct import *im, struct err *e)
{
	const struct json *params = json_need(im->root, "parameters", e);

	if (params == NULL)
		return -1;
	buf_putc(&im->to.out, '{');
	wandb_name_put(im);
	if (wandb_objective_put(im, e) != 0)
		return -1;
	converted_open(&im->to, 1, "parameters", '{');
	if (import_wandb_params_put(im, NULL, params, 0, e) != 0)
		return -1;
	converted_close(&im->to, 1, '}');
	if (wandb_strategy_put(im, e) != 0 || wandb_stopping_put(im, e) != 0 ||
	    import_wandb_command_put(im, e) != 0 ||
	    wandb_limits_put(im, e) != 0)
		return -1;
	buf_puts(&im->to.out, "\n}\n");
	return 0;
}

int
import_wandb(
    struct buf *out, struct buf *notes, const struct json *root, struct err *e)
{
	struct import im = { .to = { .notes = notes, .fresh = true },
		.root = root,
		.settings = 1 };
	int rc = -1;

	if (json_want(root, JSON_OBJECT, e) == 0) {
		import_unknown_note(&im, NULL, root, sweep_keys);
		rc = wandb_study_put(&im, e);
	}
	if (rc == 0)
		buf_add(out, im.to.out.data, im.to.out.len);
	buf_free(&im.to.out);
	strv_free(im.names.v);
	strv_free(im.theirs.v);
	return rc;
}
