/*
 * AWS without I/O, on a virtual clock: implements trials/aws/aws.h and the
 * readers of output by simulated training jobs, which continue when the
 * backend is closed.  Faults are drawn from a seed.
 */

#ifndef HPOTUNE_SM_WORLD_H
#define HPOTUNE_SM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/mem.h"
#include "trials/aws/aws.h"

struct loop;
struct loop_timer;

/* Shares, 0 to 1, of calls unless another thing is named. */
struct sm_world_faults {
	const char *only; /* of calls of this operation; NULL = all */
	double throttle;
	double lose_before; /* no answer, and nothing was done */
	double lose_after; /* no answer, but it was done */
	double late; /* no answer, and done within the next 14 min */
	double denied; /* of keys that expired */
	double deaf; /* of stops: success, but without effect */
	double hidden; /* the client's own retry met its lost request */
	double no_spot; /* of jobs: spot was asked for and not given */
	double capacity, internal, client, fail, max_wait; /* of jobs */
	double interrupt; /* of jobs: once */
	double stolen; /* of jobs: a foreign job has the name already */
	int64_t lag_ms; /* lists are so old at most */
	int quota; /* jobs at once; 0 = no limit, -1 = none at all */
	int64_t start_ms, train_ms, stop_ms; /* at most; at least a third */
};

enum sm_world_end {
	SM_WORLD_OK,
	SM_WORLD_FAIL,
	SM_WORLD_CAPACITY,
	SM_WORLD_INTERNAL,
	SM_WORLD_CLIENT,
	SM_WORLD_MAX_WAIT
};

struct sm_world_job {
	char name[64], uuid[40];
	bool spot_asked, spot;
	bool gone; /* deleted */
	bool codeless; /* its request held a text that was NULL */
	enum sm_world_end kind;
	int64_t created, train, end; /* world time, ms */
	int64_t interrupted; /* -1 = never */
	int64_t stop, stopped; /* -1 = nobody asked */
	int reports;
};

struct sm_world {
	struct loop *loop;
	struct sm_world_faults bad;
	uint64_t dice;
	struct sm_world_job *jobs[4096];
	size_t n;
	struct aws_call *calls; /* all there are */
	int open_calls; /* that wait to be answered or to act */
	/* Of one operation, for scripts: how often it came. */
	int64_t checkpoint_s; /* when the newest was written; 0 = none */
	bool checkpoints; /* they are written all the time */
	int tried; /* Creates that were answered, or given up */
	int creates, describes, lists, stops, heads, puts;
	/* Of Creates and Stops: answers lost; requests repeated. */
	int lost, doubled;
	/* Called when a job is created. */
	void (*born)(void *, const struct sm_world_job *);
	void *arg;
};

/* The only one, found by the calls. */
extern struct sm_world *sm_world_current;

void sm_world_open(struct sm_world *, struct loop *, uint64_t seed);
void sm_world_close(struct sm_world *);
bool sm_world_chance(struct sm_world *, double share);
int64_t sm_world_between(struct sm_world *, int64_t least, int64_t most);
struct sm_world_job *sm_world_find(struct sm_world *, const char *name);
/* As a stranger would: the name is taken. */
struct sm_world_job *
sm_world_add(struct sm_world *, const char *name, const char *uuid, bool spot);
bool sm_responses_over(const struct sm_world_job *, int64_t at);
bool sm_responses_trains(const struct sm_world_job *, int64_t at);
/* Whether anything is still to come: jobs, or calls on their way. */
bool sm_world_busy(const struct sm_world *);

/* What an operation comes to. */
struct outcome {
	enum aws_class what;
	const char *code, *message;
	struct buf body;
};
void sm_world_serve(struct sm_world *, struct outcome *, const char *operation,
    const char *body);

/* sm-client.c */
/* Forget every call, whatever it might still do. */
void sm_client_drop_calls(struct sm_world *);

/* sm-responses.c: descriptions as JSON, as they were at a time. */
void
sm_responses_put_job(struct buf *, const struct sm_world_job *, int64_t at);
void
sm_responses_put_summary(struct buf *, const struct sm_world_job *, int64_t at);

#endif /* HPOTUNE_SM_WORLD_H */
