/* The one row of t_study, in and out. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/stmt.h"

static const char *const state_names[] = {
	[STUDY_RUNNING] = "running",
	[STUDY_PAUSED] = "paused",
	[STUDY_INTERRUPTED] = "interrupted",
	[STUDY_FINISHED] = "finished",
	[STUDY_FAILED] = "failed",
};

#define STUDY_STATES (sizeof state_names / sizeof state_names[0])

const char *
study_state_name(enum study_state state)
{
	return state < STUDY_STATES ? state_names[state] : "?";
}

static enum study_state
state_parse(const char *name)
{
	size_t i;

	for (i = 0; name != NULL && i < STUDY_STATES; i++)
		if (strcmp(name, state_names[i]) == 0)
			return (enum study_state)i;
	return STUDY_FAILED;
}

void
store_study_fini(struct store_study *study)
{
	free(study->name);
	free(study->metric);
	free(study->strategy);
	free(study->rule);
	free(study->json);
	free(study->fixed);
	free(study->dir);
	free(study->why);
	*study = (struct store_study){ 0 };
}

int
store_study_get(struct store *s, struct store_study *study, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_STUDY_GET, e);
	const char *goal;
	int rc;

	if (st == NULL || (rc = stmt_step(s, st, e)) < 0)
		return -1;
	if (rc == 0)
		return err_set(e, ERR_STORE, "%s: holds no study", s->path);
	goal = stmt_col_text(st, 3);
	*study = (struct store_study){
		.name = stmt_dup(stmt_col_text(st, 0)),
		.state = state_parse(stmt_col_text(st, 1)),
		.metric = stmt_dup(stmt_col_text(st, 2)),
		.maximize = goal != NULL && strcmp(goal, "maximize") == 0,
		.strategy = stmt_dup(stmt_col_text(st, 4)),
		.seed = (uint64_t)stmt_col_int(st, 5, 0),
		.rule = stmt_dup(stmt_col_text(st, 6)),
		.max_steps = stmt_col_int(st, 7, 0),
		.json = stmt_dup(stmt_col_text(st, 8)),
		.fixed = stmt_dup(stmt_col_text(st, 9)),
		.dir = stmt_dup(stmt_col_text(st, 10)),
		.created_us = stmt_col_int(st, 11, 0),
		.started_us = stmt_col_int(st, 12, 0),
		.ended_us = stmt_col_int(st, 13, 0),
		.elapsed_ms = stmt_col_int(st, 14, 0),
		.why = stmt_dup(stmt_col_text(st, 15)),
	};
	stmt_done(st);
	return 0;
}

int
store_study_put(struct store *s, const struct store_study *study, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_STUDY_PUT, e);

	if (st == NULL)
		return -1;
	stmt_text(st, 1, study_state_name(study->state));
	stmt_text(st, 2, study->strategy);
	stmt_int(st, 3, (int64_t)study->seed);
	stmt_text(st, 4, study->rule);
	stmt_int(st, 5, study->max_steps);
	stmt_text(st, 6, study->json);
	stmt_text(st, 7, study->fixed);
	stmt_text(st, 8, study->dir);
	stmt_int_or(st, 9, study->started_us, 0);
	stmt_int_or(st, 10, study->ended_us, 0);
	stmt_int(st, 11, study->elapsed_ms);
	stmt_text(st, 12, study->why);
	return stmt_write(s, st, e);
}
