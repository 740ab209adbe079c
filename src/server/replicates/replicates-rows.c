/* Settings as rows of t_setting. */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/replicate-stats.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/server/replicates/replicates.h"
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
	    replicates_losses(r, i), r->count, &row.mean, &row.error);
	row.mean = history_flip_sign(r->trials, row.mean);
	row.value = history_flip_sign(r->trials, s->value);
	row.trial = replicates_first_trial(r, i);
	row.params = params;
	(void)store_setting_put(store, &row, NULL);
	free(params);
	s->dirty = false;
}

void
replicates_write(struct replicates *r, struct store *store)
{
	size_t i;

	replicates_race(r);
	for (i = 0; i < r->n; i++)
		if (r->list[i].dirty)
			setting_write(r, i, store);
}
