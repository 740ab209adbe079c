/* gp asked again and again, with the kernels of this CPU. */

#ifndef TESTS_GP_RUN_H
#define TESTS_GP_RUN_H

#include <stdio.h>
#include <string.h>

#include "kernels/kernels.h"
#include "src/base/err.h"
#include "src/base/json.h"
#include "src/model/history.h"
#include "src/model/options.h"
#include "src/model/space.h"
#include "strategies/strategy.h"

enum { DIMS_MAX = 8 };

#define UNIT(name) "\"" name "\": {\"type\": \"float\", \"min\": 0, \"max\": 1}"
#define FEW "{\"candidates\": 4096}"

struct run {
	struct json_doc *space_doc, *options_doc;
	const struct strategy *strategy;
	struct option_value *options;
	struct space *space;
	struct history *history;
	uint64_t seed;
};

static struct json_doc *
doc(const char *text)
{
	struct json_doc *d = NULL;
	struct err e = ERR_INIT;

	if (json_parse(&d, text, strlen(text), "test", false, &e) == -1)
		printf("# %s\n", e.text);
	return d;
}

static void
run_open(struct run *r, const char *space, const char *options, uint64_t seed)
{
	struct err e = ERR_INIT;

	*r = (struct run){ .seed = seed };
	r->strategy = strategy_find("gp");
	r->space_doc = doc(space);
	r->options_doc = doc(options);
	if (space_read(&r->space, json_root(r->space_doc), &e) != 0 ||
	    options_read(&r->options, r->strategy->options,
		json_root(r->options_doc), NULL, &e) != 0)
		printf("# %s\n", e.text);
	r->history =
	    history_new(r->space->n, false, HISTORY_POINTS | HISTORY_CURVES);
}

static void
run_close(struct run *r)
{
	history_free(r->history);
	options_free(r->options, r->strategy->options);
	space_free(r->space);
	json_free(r->space_doc);
	json_free(r->options_doc);
}

/* The next point, added to the history as one that runs; 0 = no answer. */
static int64_t
run_next(struct run *r, double *x)
{
	struct strategy_ask ask = { .space = r->space,
		.history = r->history,
		.seed = r->seed,
		.trial = history_count(r->history) + 1,
		.kernels = kernels_cpu() };
	struct suggestion out = { .x = x };
	struct err e = ERR_INIT;

	if (r->strategy->suggest(&out, &ask, r->options, &e) != 0) {
		printf("# %s\n", e.text);
		return 0;
	}
	space_snap(r->space, x);
	history_add(r->history, ask.trial, x);
	return ask.trial;
}

#endif /* TESTS_GP_RUN_H */
