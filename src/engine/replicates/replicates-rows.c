/* Writes the rows of settings that have changed. */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/engine/replicates/replicates.h"
#include "src/model/history/history.h"
#include "src/model/replicate-stats.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/store/store.h"

static const char *const state_names[] = {
	[SETTING_OPEN] = "open",
	[SETTING_COMPLETED] = "completed",
	[SETTING_STOPPED] = "stopped",
	[SETTING_FAILED] = "failed",
	[SETTING_CANCELLED] = "cancelled",
	[SETTING_FORGOTTEN] = "forgotten",
};

/* The setting as JSON, without the parameter of replicates. */
static char *
setting_params(const struct replicates *r, int64_t number)
{
	const struct space *space = r->study->space;
	struct value *values = xcalloc(space->n, sizeof *values);
	struct buf b = { 0 };

	space_decode(space, history_point(r->history, number), values);
	values[r->study->replicates.param].kind = VALUE_NONE;
	space_put_json(&b, space, values);
	free(values);
	return buf_take(&b);
}

/* Objectives with the user's sign, and constraints. */
static void
outcomes_write(struct replicates *r, size_t i, struct store *store)
{
	const struct study *study = r->study;
	struct store_setting_outcome row = { .setting = (int64_t)i + 1 };
	size_t a;

	for (a = 0; a < r->n_aims && r->n_aims > 1; a++) {
		row.position = (int)a + 1;
		row.value = row.mean = row.error = row.violation = NAN;
		if (a >= study->n_objectives)
			row.violation = r->list[i].values[a];
		else {
			row.value = r->list[i].values[a];
			(void)replicate_stats_mean(replicates_losses(r, a, i),
			    r->count, &row.mean, &row.error);
			if (study->objectives[a].maximize) {
				row.value = -row.value;
				row.mean = -row.mean;
			}
		}
		(void)store_setting_outcome_put(store, &row, NULL);
	}
}

/* The first trial of each setting on the front is in t_front. */
static void
front_write(struct replicates *r, struct store *store)
{
	int64_t trial;
	size_t i;
	bool in;

	if (!r->front_known)
		(void)store_front_clear(store, NULL);
	for (i = 0; i < r->n; i++) {
		in = replicates_on_front(r, i);
		trial = replicates_first_trial(r, i);
		if (in && (!r->front_known || r->list[i].front != trial)) {
			if (r->list[i].front > 0)
				(void)store_front_drop(
				    store, r->list[i].front, NULL);
			(void)store_front_add(store, trial, true, NULL);
		} else if (!in && r->list[i].front > 0)
			(void)store_front_drop(store, r->list[i].front, NULL);
		r->list[i].front = in ? trial : 0;
	}
	r->front_known = true;
}

static void
setting_write(struct replicates *r, size_t i, struct store *store)
{
	struct setting *s = &r->list[i];
	struct store_setting row = { .number = (int64_t)i + 1,
		.state = state_names[s->state] };
	char *params = setting_params(r, row.number);

	if (s->state == SETTING_OPEN && s->behind)
		row.state = "behind";
	row.completed = (int64_t)replicate_stats_mean(
	    replicates_losses(r, 0, i), r->count, &row.mean, &row.error);
	row.mean = history_flip_sign(r->trials, row.mean);
	row.value = history_flip_sign(r->trials, s->value);
	row.trial = replicates_first_trial(r, i);
	row.violation = s->violation;
	row.params = params;
	(void)store_setting_put(store, &row, NULL);
	outcomes_write(r, i, store);
	free(params);
	s->dirty = false;
}

void
replicates_write(struct replicates *r, struct store *store)
{
	bool any = false;
	size_t i;

	replicates_race(r);
	for (i = 0; i < r->n; i++) {
		any = any || r->list[i].dirty;
		if (r->list[i].dirty)
			setting_write(r, i, store);
	}
	if (r->n > 0 && r->study->n_objectives > 1 && (any || !r->front_known))
		front_write(r, store);
}
