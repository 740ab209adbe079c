/* A strategy on a test function. */

#include "tests/support/search-run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "strategies/evolution/pareto.h"
#include "strategies/strategy.h"

static struct json_doc *
doc(const char *text)
{
	struct json_doc *d = NULL;
	struct err e = ERR_INIT;

	if (json_parse(&d, text, strlen(text), "test", false, &e) == -1)
		printf("# %s\n", e.text);
	return d;
}

bool
search_run_open(struct search_run_state *s, const struct function *f,
    const char *strategy, const char *options, uint64_t seed)
{
	bool goals[FUNCTION_LOSSES] = { false };

	*s = (struct search_run_state){
		.function = f, .seed = seed, .err = ERR_INIT
	};
	s->kernels = kernels_cpu();
	s->strategy = strategy_find(strategy);
	s->space_doc = doc(f->space);
	s->options_doc = doc(options);
	if (space_read(&s->space, json_root(s->space_doc), &s->err) != 0 ||
	    plugin_options_read(&s->options, s->strategy->options,
		json_root(s->options_doc), NULL, &s->err) != 0 ||
	    (s->strategy->check != NULL &&
		s->strategy->check(s->options, s->space, &s->err) != 0))
		return false;
	s->history =
	    history_new(s->space->n, false, HISTORY_POINTS | HISTORY_CURVES);
	if (f->n_losses > 1 || f->n_bounds > 0)
		history_set_objectives(
		    s->history, f->n_losses, goals, f->n_bounds);
	return true;
}

void
search_run_close(struct search_run_state *s)
{
	history_free(s->history);
	if (s->options != NULL)
		plugin_options_free(s->options);
	space_free(s->space);
	json_free(s->space_doc);
	json_free(s->options_doc);
}

int
search_run_ask(struct search_run_state *s, double *x)
{
	struct suggestion out = { .x = x, .made_by = "cpu" };
	struct strategy_ask ask = { .space = s->space,
		.history = s->history,
		.seed = s->seed,
		.kernels = s->kernels,
		.trial = history_count(s->history) + 1 };
	int rc = s->strategy->suggest(&out, &ask, s->options, &s->err);

	if (rc == -1)
		printf("# %s: %s\n", s->strategy->name, s->err.text);
	return rc;
}

int64_t
search_run_next(struct search_run_state *s)
{
	double *x = xcalloc(s->space->n + 1, sizeof *x);
	int64_t trial = 0;

	if (search_run_ask(s, x) == 0) {
		trial = history_count(s->history) + 1;
		space_snap(s->space, x);
		history_add(s->history, trial, x);
	}
	free(x);
	return trial;
}

double
search_run_tell(struct search_run_state *s, int64_t trial)
{
	struct value *values = xcalloc(s->space->n + 1, sizeof *values);
	double losses[FUNCTION_LOSSES], bounds[FUNCTION_BOUNDS];

	space_decode(s->space, history_point(s->history, trial), values);
	s->function->give(values, losses, bounds);
	if (history_has_results(s->history))
		history_results(s->history, trial, losses, bounds);
	history_end(s->history, trial, TRIAL_COMPLETED, losses[0]);
	free(values);
	return losses[0];
}

double
search_run_found(const struct search_run_state *s)
{
	int64_t i, n = history_count(s->history);
	size_t m = s->function->n_losses, kept = 0;
	double *rows = xcalloc((size_t)n * m + 1, sizeof *rows), found;

	for (i = 1; i <= n; i++)
		if (history_state(s->history, i) == TRIAL_COMPLETED &&
		    history_violation(s->history, i) <= 0)
			memcpy(rows + kept++ * m, history_losses(s->history, i),
			    m * sizeof *rows);
	found = m > 1 ? hypervolume_of(rows, kept, m, s->function->reference)
		      : INFINITY;
	for (i = 0; m == 1 && i < (int64_t)kept; i++)
		found = fmin(found, rows[i]);
	free(rows);
	return found;
}

double
search_run(struct search_run_state *s, int n, int parallel)
{
	int64_t *running = xcalloc((size_t)parallel, sizeof *running);
	int i;

	for (i = 0; i < n + parallel; i++) {
		if (i >= parallel && i - parallel < n)
			search_run_tell(s, running[i % parallel]);
		if (i < n &&
		    (running[i % parallel] = search_run_next(s)) == 0) {
			free(running);
			return NAN;
		}
	}
	free(running);
	return search_run_found(s);
}
