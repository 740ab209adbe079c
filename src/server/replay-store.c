/* A recorded study: reports and ends in the order they were recorded. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/study.h"
#include "src/server/replay-parts.h"
#include "src/store/store.h"
#include "strategies/stopper.h"

static int
on_record(void *arg, int64_t trial, int64_t step, double value,
    enum trial_state state)
{
	struct rerun *r = arg;

	if (state == TRIAL_RUNNING)
		rerun_report(r, trial, step, value);
	else
		rerun_end(r, trial, state == TRIAL_COMPLETED);
	return 0;
}

/* What was stopped then, and at which step. */
static int
know_stops(struct rerun *r, struct store *s, struct err *e)
{
	struct store_rows *rows;
	int more;

	if (store_rows_open(&rows, s,
		"SELECT trial, step FROM stops WHERE verdict = 'stop'", NULL,
		e) == -1)
		return -1;
	while ((more = store_rows_next(rows, e)) > 0)
		rerun_know(r, store_rows_int(rows, 0), store_rows_int(rows, 1));
	store_rows_close(rows);
	return more;
}

static int
study_of(struct study **study, struct store *s, struct err *e)
{
	struct store_study row = { 0 };
	char *path;
	int rc;

	if (store_study_get(s, &row, e) == -1)
		return -1;
	path = xasprintf("%s/study.json", row.dir);
	rc = study_parse(study, row.json, strlen(row.json), path, e);
	free(path);
	store_study_fini(&row);
	return rc;
}

int
replay_store(struct replay_sum *sum, struct store *s,
    const struct replay_rule *rule, struct err *e)
{
	struct stopper_env env;
	struct study *study;
	struct rerun r;
	int rc;

	if (study_of(&study, s, e) == -1)
		return -1;
	env = (struct stopper_env){ .max_steps = study->trial.max_steps,
		.maximize = study->maximize,
		.study = study->name };
	rc = rerun_open(&r, rule, &env, study->value_last, e);
	if (rc == 0) {
		rc = know_stops(&r, s, e);
		if (rc == 0)
			rc = store_each_record(s, on_record, &r, e);
		if (rc == 0)
			rerun_sum(sum, &r);
		rerun_close(&r);
	}
	study_free(study);
	return rc;
}
