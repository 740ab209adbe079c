/* Repeated suggestions of a strategy in memory. */

#include "tests/support/strategy-run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/model/plugin-options.h"

const char strategy_run_small[] =
    "{\"lr\": {\"type\": \"float\", \"min\": 1e-4, \"max\": 0.3,"
    " \"scale\": \"log\"},"
    "\"n\": {\"type\": \"int\", \"min\": 16, \"max\": 256,"
    " \"scale\": \"log\"},"
    "\"drop\": {\"type\": \"float\", \"min\": 0, \"max\": 0.5,"
    " \"step\": 0.1},"
    "\"opt\": {\"type\": \"choice\", \"values\": [\"sgd\", \"adam\"]},"
    "\"momentum\": {\"type\": \"float\", \"min\": 0, \"max\": 0.99,"
    " \"when\": {\"opt\": [\"sgd\"]}},"
    "\"size\": {\"type\": \"choice\", \"values\": [1, 2, 4, 8],"
    " \"ordered\": true},"
    "\"beta\": {\"type\": \"float\", \"min\": 0, \"max\": 0.999,"
    " \"scale\": \"reverse-log\"},"
    "\"one\": {\"type\": \"int\", \"min\": 3, \"max\": 3}}";

static struct json_doc *
doc(const char *text)
{
	struct json_doc *d = NULL;
	struct err e = ERR_INIT;

	if (json_parse(&d, text, strlen(text), "test", false, &e) == -1)
		printf("# %s\n", e.text);
	return d;
}

void
strategy_run_open(struct strategy_run *r, const char *strategy,
    const char *space, const char *options, uint64_t seed)
{
	struct err e = ERR_INIT;

	*r = (struct strategy_run){ .seed = seed };
	r->strategy = strategy_find(strategy);
	r->space_doc = doc(space);
	r->options_doc = doc(options);
	if (space_read(&r->space, json_root(r->space_doc), &e) != 0 ||
	    plugin_options_read(&r->options, r->strategy->options,
		json_root(r->options_doc), NULL, &e) != 0)
		printf("# %s\n", e.text);
	r->history =
	    history_new(r->space->n, false, HISTORY_POINTS | HISTORY_CURVES);
}

void
strategy_run_close(struct strategy_run *r)
{
	history_free(r->history);
	plugin_options_free(r->options);
	space_free(r->space);
	json_free(r->space_doc);
	json_free(r->options_doc);
}

int64_t
strategy_run_next(struct strategy_run *r, double *x)
{
	struct strategy_ask ask = { .space = r->space,
		.history = r->history,
		.seed = r->seed,
		.kernels = r->kernels,
		.trial = history_count(r->history) + 1 };
	struct suggestion out = { .x = x, .made_by = "cpu" };
	struct err e = ERR_INIT;

	if (strategy_suggest(r->strategy, &out, &ask, r->options, &e) != 0) {
		printf("# %s\n", e.text);
		return 0;
	}
	space_snap(r->space, x);
	history_add(r->history, ask.trial, x);
	return ask.trial;
}

void
strategy_run_end(struct strategy_run *r, int64_t trial, enum ending ending)
{
	struct history *h = r->history;

	if (ending == END_MIX)
		ending = (enum ending)(trial % END_MIX);
	if (trial % 3 != 0)
		history_report(h, trial, trial % 7,
		    trial % 5 == 0 ? NAN : (double)(trial % 11));
	switch (ending) {
	case END_EQUAL:
		history_end(h, trial, TRIAL_COMPLETED, 1);
		break;
	case END_NAN:
		history_end(h, trial, TRIAL_COMPLETED, NAN);
		break;
	case END_FAIL:
		history_end(h, trial, TRIAL_FAILED, NAN);
		break;
	case END_STOP:
		history_end(h, trial, TRIAL_STOPPED, NAN);
		break;
	case END_INFINITE:
		history_end(h, trial, TRIAL_COMPLETED,
		    trial % 2 == 0 ? INFINITY : -INFINITY);
		break;
	case END_MIX:
		break;
	}
}

bool
strategy_run_in_cube(const struct strategy_run *r, const double *x)
{
	struct value values[DIMS_MAX];
	size_t i;

	space_decode(r->space, x, values);
	for (i = 0; i < r->space->n; i++)
		if (isnan(x[i]) ? values[i].kind != VALUE_NONE
				: !(x[i] >= 0 && x[i] <= 1))
			return false;
	return true;
}
