/*
 * Durations of trials, from what the store has recorded: a restart reads the
 * same.
 */

#include <math.h>
#include <stddef.h>

#include "src/engine/durations.h"
#include "src/model/history/history.h"
#include "src/model/study/study.h"
#include "src/store/store.h"
#include "src/view/rows.h"

#define WHOLE                                                         \
	"seconds + coalesce(steps_skipped * coalesce(pace_seconds / " \
	"nullif(pace_steps, 0), seconds / nullif(steps_run, 0)), 0)"
#define KNOWN "seconds > 0 AND state IN ('completed', 'stopped')"

int
durations_load(
    struct history *h, struct store *store, bool settings, struct err *e)
{
	/* The seconds of a step are explained in schema/006-pace.sql. */
	static const char *const of_trials =
	    "SELECT trial, " WHOLE " FROM t_trial WHERE " KNOWN;
	static const char *const of_settings =
	    "SELECT setting, avg(" WHOLE ") FROM t_trial WHERE " KNOWN
	    " AND setting IS NOT NULL GROUP BY setting";
	struct store_rows *rows;
	int64_t trial;
	int rc;

	if (store_rows_open(
		&rows, store, settings ? of_settings : of_trials, NULL, e) != 0)
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
	static const char *const sql =
	    "SELECT total(seconds), total(gpu_seconds) FROM t_trial "
	    "WHERE end_seq IS NOT NULL";
	double sums[2], wall = (double)lim->wall_time_ms / 1000;

	*share = 0;
	if (lim->wall_time_ms <= 0 && lim->gpu_hours <= 0)
		return 0;
	if (rows_numbers(sums, 2, store, sql, e) < 0)
		return -1;
	if (wall > 0)
		*share = sums[0] / wall / (double)(parallel > 0 ? parallel : 1);
	if (lim->gpu_hours > 0)
		*share = fmax(*share, sums[1] / 3600 / lim->gpu_hours);
	*share = fmin(fmax(*share, 0), 1);
	return 0;
}
