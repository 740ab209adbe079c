/* Adds the trials of other studies to the history, before our own. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/server/tuner/converge.h"
#include "src/server/tuner/tuner-internal.h"
#include "strategies/strategy.h"
#include "src/server/tuner/warm-trials.h"

struct warm_load {
	struct tuner *tuner;
	struct value *values;
	double *point;
	int64_t number; /* of the next trial: up to 0 */
	struct err *err;
};

static double
metric_of(const struct json *metrics, const char *name)
{
	double value;

	return json_number(json_get(metrics, name), &value) ? value : NAN;
}

/* All objectives, and the violations of constraints. */
static void
results_load(
    struct warm_load *wl, const struct store_warm *row, const struct json *m)
{
	const struct study *study = wl->tuner->study;
	double *objectives = xcalloc(study->n_objectives, sizeof *objectives);
	double *broken = xcalloc(study->n_constraints + 1, sizeof *broken);
	size_t i;

	objectives[0] = row->objective;
	for (i = 0; i < study->n_objectives && study->n_objectives > 1; i++)
		objectives[i] = metric_of(m, study->objectives[i].metric);
	for (i = 0; i < study->n_constraints; i++)
		broken[i] = study_violation(&study->constraints[i],
		    metric_of(m, study->constraints[i].metric));
	history_results(wl->tuner->history, wl->number, objectives, broken);
	free(objectives);
	free(broken);
}

static int
on_warm(void *arg, const struct store_warm *row)
{
	struct warm_load *wl = arg;
	const struct space *space = wl->tuner->study->space;
	struct history *h = wl->tuner->history;
	struct json_doc *doc = NULL;

	if (space_parse_values(space, row->params, wl->values, wl->err) != 0)
		return err_add(wl->err, "the parameters of trial %lld of %s",
		    (long long)row->trial, row->source);
	space_encode(space, wl->values, wl->point);
	history_add(h, wl->number, wl->point);
	/*
	 * The last point of the curve suffices: rules never see these trials.
	 */
	if (row->last_step >= 0)
		history_report(h, wl->number, row->last_step, row->last_value);
	if (history_has_results(h) &&
	    json_parse(&doc, row->metrics != NULL ? row->metrics : "{}",
		row->metrics != NULL ? strlen(row->metrics) : 2, NULL, false,
		wl->err) == 0) {
		results_load(wl, row, json_root(doc));
		json_free(doc);
	}
	history_end(h, wl->number, row->state, row->objective);
	wl->number++;
	return 0;
}

int
warm_trials_load(struct tuner *t, struct err *e)
{
	struct warm_load wl = { .tuner = t, .err = e };
	int64_t n;
	int rc;

	if (!t->plugins.strategy->wants_points &&
	    t->plugins.convergence == NULL)
		return 0;
	if (store_warm_count(t->store, &n, e) != 0)
		return -1;
	if (n == 0)
		return 0;
	history_add_prior(t->history, (size_t)n);
	wl.number = 1 - n;
	wl.values = xcalloc(t->study->space->n, sizeof *wl.values);
	wl.point = xcalloc(t->study->space->n, sizeof *wl.point);
	rc = store_walk_warm(t->store, on_warm, &wl, e);
	free(wl.values);
	free(wl.point);
	return rc;
}
