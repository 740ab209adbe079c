/*
 * Durations of trials, from what the store has recorded: a restart reads the
 * same.
 */

#include <math.h>

#include "src/engine/durations.h"
#include "src/model/history/history.h"
#include "src/model/study/study.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/view/rows.h"

int
durations_load(
    struct history *h, struct store *store, bool settings, struct err *e)
{
	struct store_rows *rows;
	int64_t trial;
	int rc;

	if (store_list_durations(&rows, store, settings, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		trial = store_rows_int(rows, 0);
		if (trial >= 1 && trial <= history_count(h))
			history_set_seconds(h, trial, rows_real(rows, 1));
	}
	store_rows_close(rows);
	return rc;
}

int
durations_used(double *share, struct store *store,
    const struct study_limits *lim, int64_t parallel, struct err *e)
{
	double seconds, gpu_seconds, wall = (double)lim->wall_time_ms / 1000;

	*share = 0;
	if (lim->wall_time_ms <= 0 && lim->gpu_hours <= 0)
		return 0;
	if (store_seconds_used(store, &seconds, &gpu_seconds, e) != 0)
		return -1;
	if (wall > 0)
		*share = seconds / wall / (double)(parallel > 0 ? parallel : 1);
	if (lim->gpu_hours > 0)
		*share = fmax(*share, gpu_seconds / 3600 / lim->gpu_hours);
	*share = fmin(fmax(*share, 0), 1);
	return 0;
}
