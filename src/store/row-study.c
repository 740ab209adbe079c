/* Reads and writes the row of t_study. */

#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/digest.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/goal.h"
#include "src/store/row-columns.h"
#include "src/store/store.h"

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
row_study_state(struct row *r, int i)
{
	const char *name = row_text(r, i);
	size_t k;

	for (k = 0; k < STUDY_STATES; k++)
		if (strcmp(name, state_names[k]) == 0)
			return (enum study_state)k;
	(void)row_damaged(r, i, "not a state of a study");
	return STUDY_FAILED;
}

static bool
row_maximize(struct row *r, int i)
{
	bool maximize = false;

	if (!goal_parse(row_text(r, i), &maximize))
		(void)row_damaged(r, i, "no goal");
	return maximize;
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

/* The folder of the database; recorded as "." when it is the study's, too. */
static char *
own_dir(const struct store *s)
{
	char *path = xstrdup(s->path), *dir = xstrdup(dirname(path));

	free(path);
	return dir;
}

/*
 * A folder that no longer exists was recorded by an older program as absolute,
 * and has been moved.
 */
static char *
row_study_dir_read(const struct store *s, const char *dir)
{
	if (strcmp(dir, ".") == 0 || (*dir == '/' && access(dir, F_OK) != 0))
		return own_dir(s);
	return xstrdup(dir);
}

int
store_study_get(struct store *s, struct store_study *study, struct err *e)
{
	struct row r = row_begin(s, STMT_STUDY_GET, "t_study", 0, e);
	int rc;

	if (r.st == NULL || (rc = row_next(&r)) < 0)
		return -1;
	if (rc == 0)
		return err_set(e, ERR_STORE, "%s: holds no study", s->path);
	*study = (struct store_study){
		.name = stmt_dup(row_text(&r, 0)),
		.state = row_study_state(&r, 1),
		.metric = stmt_dup(row_text(&r, 2)),
		.maximize = row_maximize(&r, 3),
		.strategy = stmt_dup(row_text(&r, 4)),
		.seed = (uint64_t)row_int(&r, 5, INT64_MIN, INT64_MAX),
		.rule = stmt_dup(row_text(&r, 6)),
		.max_steps = row_int(&r, 7, 0, TRIAL_STEP_MAX),
		.json = stmt_dup(row_text(&r, 8)),
		.fixed = stmt_dup(row_text(&r, 9)),
		.dir = row_study_dir_read(s, row_text(&r, 10)),
		.created_us = row_int(&r, 11, 0, ROW_INT_MAX),
		.started_us = row_int_or(&r, 12, 0, 0, ROW_INT_MAX),
		.ended_us = row_int_or(&r, 13, 0, 0, ROW_INT_MAX),
		.elapsed_ms = row_int(&r, 14, 0, ROW_INT_MAX / 1000),
		.why = stmt_dup(row_text_or(&r, 15)),
		.run_trials = row_int_or(&r, 16, 0, 0, ROW_INT_MAX),
		.run_parallel = row_int_or(&r, 17, 0, 0, ROW_INT_MAX),
	};
	stmt_done(r.st);
	if (row_end(&r) != 0)
		store_study_fini(study);
	return row_end(&r);
}

int
store_study_put(struct store *s, const struct store_study *study, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_STUDY_PUT, e);
	char *own;
	int rc;

	if (st == NULL)
		return -1;
	own = own_dir(s);
	stmt_text(st, 1, study_state_name(study->state));
	stmt_text(st, 2, study->strategy);
	stmt_int(st, 3, (int64_t)study->seed);
	stmt_text(st, 4, study->rule);
	stmt_int(st, 5, study->max_steps);
	stmt_text(st, 6, study->json);
	stmt_text(st, 7, study->fixed);
	stmt_text(st, 8, strcmp(study->dir, own) == 0 ? "." : study->dir);
	stmt_int_or(st, 9, study->started_us, 0);
	stmt_int_or(st, 10, study->ended_us, 0);
	stmt_int(st, 11, study->elapsed_ms);
	stmt_line(st, 12, study->why);
	stmt_int_or(st, 13, study->run_trials, 0);
	stmt_int_or(st, 14, study->run_parallel, 0);
	rc = stmt_write(s, st, e);
	free(own);
	return rc;
}

void
store_study_id(char out[STUDY_ID], const struct store_study *row)
{
	char *text = xasprintf(
	    "%s\n%" PRIu64 "\n%" PRId64, row->name, row->seed, row->created_us);
	char hex[DIGEST_HEX];

	sha256_hex(hex, text, strlen(text));
	(void)snprintf(out, STUDY_ID, "%.*s", STUDY_ID - 1, hex);
	free(text);
}
