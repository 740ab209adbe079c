/*
 * The simulator: the real tuner, the real store, a virtual clock and a
 * simulated world with faults.  One seed is one study from its first start to
 * its end, through crashes of the server at random moments.  At the end, and at
 * every start and stop, the store is compared with the history of the world.
 */

#ifndef HPOTUNE_SIM_H
#define HPOTUNE_SIM_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "trials/pretend/pretend.h"

struct loop;
struct loop_timer;
struct store;
struct study;
struct tuner;

enum { SIM_ASKS_MAX = 256, SIM_GPUS = 3 };

/* What the user was told. */
struct sim_ask {
	struct sim *sim;
	int kind; /* enum tuner_request_kind */
	int64_t trial;
	bool answered, good;
};

struct sim {
	uint64_t seed;
	bool verbose;
	struct rng dice;
	/* The study, drawn from the seed. */
	char *dir, *db, *state_dir, *json;
	struct study *study;
	struct pretend_faults faults;
	int64_t trials, parallel, retries;
	bool several; /* objectives: no rule */
	bool aims; /* several objectives, or constraints */
	int64_t parallel_now; /* of this server: start --parallel */
	bool parallel_changed;
	char adopted[8][40]; /* uuids that were open at its start */
	size_t n_adopted;
	double crash; /* share of passes of a fail point */
	double trouble; /* share of iterations with a user, a lock, … */
	/* The life of the server. */
	struct loop *loop;
	struct pretend_world *world;
	struct tuner *tuner; /* NULL while no server is up */
	struct loop_timer *reopen, *unpause;
	struct store *blocker; /* another connection */
	int blocked; /* remaining iterations of its lock */
	struct store *reader; /* sees the committed state, as others do */
	int64_t down_ms; /* when the server died */
	struct buf mind; /* state of the last server; empty = not taken */
	bool restart; /* as a new process, not only a new tuner */
	bool paused; /* requested and acknowledged */
	bool ended;
	int64_t attempts_when_paused;
	jmp_buf crashed;
	bool may_crash;
	int broken; /* remaining iterations with a full disk */
	bool full; /* a server has met the full disk */
	int disks; /* iterations that failed because of it */
	int turns, crashes, locks, leaves, retried;
	struct sim_ask asks[SIM_ASKS_MAX];
	size_t n_asks;
	const char *bug; /* a seeded bug, or NULL */
	/* The verdict: the first error found, or "". */
	char wrong[400];
	char why[256]; /* why the study ended */
};

/* sim-study.c */
void sim_study_make(struct sim *);
void sim_study_free(struct sim *);

/* sim-world.c: the backend between tuner and world. */
void sim_world_use(struct sim *);

/* sim-run.c: from the first start to the end of the study. */
void sim_run(struct sim *);

/* sim-disk.c: SQLite's writes fail with this errno from now on; 0 = no more. */
void sim_disk_install(void);
void sim_disk_break(int error);

/* sim-check.c, sim-replay.c, sim-params.c: after the end. */
void sim_check(struct sim *);
void sim_check_curves(struct sim *);
void sim_replay(struct sim *);
void sim_check_params(struct sim *);
/* sim-usage.c: what attempts used of GPUs. */
void sim_check_usage(struct sim *);

/* sim-worth.c: what a trial has come to after this attempt of it. */
/* The objective of the trial; NaN = none. */
double sim_worth(const struct sim *, int64_t trial, int64_t attempt);
/* The highest step that it has reported. */
int64_t sim_worth_steps(const struct sim *, int64_t trial, int64_t attempt);
/*
 * Whether all its steps are reported (those of its segment, which ends at step
 * until; 0 = it has none), with a finite value of each objective and a value of
 * each constraint.
 */
bool
sim_worth_whole(struct sim *, int64_t trial, int64_t attempt, int64_t until);

/* sim-aims.c */
/* The objectives, constraints and the stopping that follows from them. */
void sim_aims_put(struct sim *, struct buf *, const char *goal);
void sim_check_aims(struct sim *);
/* What this server knows; and that the next one knows the same. */
void sim_memory_take(struct sim *);
void sim_memory_check(struct sim *);

/* t_sim.c */
void sim_wrong(struct sim *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
bool sim_chance(struct sim *, double share);
int64_t sim_below(struct sim *, int64_t n);
/* The one number that a query over committed rows gives; -1 = none. */
int64_t sim_number(struct sim *, const char *sql, const char *param);

#endif /* HPOTUNE_SIM_H */
