/*
 * A small tuner for the sagemaker backend: rows that survive a kill, one
 * backend after the other, and invariants of the rows and the world.
 */

#ifndef HPOTUNE_SM_ROWS_H
#define HPOTUNE_SM_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/model/study/study.h"
#include "tests/support/sagemaker-world/sm-world.h"
#include "trials/backend.h"

enum { ROWS_TRIALS = 8, ROWS_MOST = 512 };

struct row { /* one attempt, as committed */
	int64_t trial;
	int attempt;
	char uuid[40];
	int slot;
	bool open, up, placed, stopping;
	bool asked; /* by this server */
	bool sent; /* start was called by this server */
	bool lost;
	int64_t reports;
	int gpus; /* of its machines */
	struct launch_cursor cursor;
	struct launch_exit exit;
};

struct sm_rows {
	struct sm_world world;
	struct loop *loop;
	void *ctx; /* of the backend, NULL = the server is dead */
	char dir[128];
	struct study_trial settings;
	struct option_value *options;
	struct json_doc *doc;
	struct loop_timer *tick, *guard;

	struct row rows[ROWS_MOST];
	size_t n;
	bool final[ROWS_TRIALS + 1]; /* trials that are done */
	int trials;
	int slots;

	struct launch_event *heard; /* of this turn, not committed */
	size_t n_heard;
	struct buf notes; /* of all turns, a line each */
	int slot_events;

	double kill; /* share of moments at which the server dies */
	double stop; /* of turns: somebody stops a trial */
	int kills, broken;
	bool late;
	bool hold; /* the next backend serves a command alone */
	int64_t dead_ms; /* loop time until which no server starts */
	bool (*until)(
	    struct sm_rows *); /* NULL: until all is final and quiet */
};

/* block: the members of the backend block, or NULL for the usual one. */
void
sm_rows_open(struct sm_rows *, uint64_t seed, int trials, const char *block);
/* The server comes to life: open, and look at every open row. */
void sm_rows_start(struct sm_rows *);
/* The server dies: nothing is committed any more. */
void sm_rows_kill(struct sm_rows *);
/* Run until it holds; false: it did not within a week. */
bool sm_rows_run(struct sm_rows *, bool (*until)(struct sm_rows *));
void sm_rows_close(struct sm_rows *);
/* The newest row of a trial, or NULL. */
struct row *sm_rows_of(struct sm_rows *, int64_t trial);
/* Want the end of its newest attempt, as a rule would. */
void sm_rows_stop(struct sm_rows *, int64_t trial);
struct sm_world_job *sm_rows_job(struct sm_rows *, const struct row *);
bool sm_rows_noted(const struct sm_rows *, const char *part);

#endif /* HPOTUNE_SM_ROWS_H */
