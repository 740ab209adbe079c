/*
 * A world of simulated trials: no processes, only curves over time.
 *
 * The backend "pretend" creates a world that is freed with it.  A test creates
 * one that outlives backends, injects faults, and compares its ledger (what
 * really happened) with a store.
 */

#ifndef HPOTUNE_PRETEND_H
#define HPOTUNE_PRETEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trials/backend.h"

struct err;
struct loop;
struct pretend_world;

enum pretend_curve {
	PRETEND_EXP, /* exponential decay */
	PRETEND_POWER, /* power law */
	PRETEND_CROSSING, /* slow starters end best: hard for stopping rules */
	PRETEND_PLATEAU, /* flat for long, then a sudden fall */
	PRETEND_FLAT,
	PRETEND_CURVES
};

/* Trials without faults. */
struct pretend_script {
	enum pretend_curve curve;
	double noise; /* standard deviation */
	int64_t steps; /* reports of a whole trial */
	double step_ms;
	double fail; /* share of attempts that exit with 1 */
	double nan; /* share of trials that become NaN */
	uint64_t seed;
	bool maximize;
};

/* Shares, 0 to 1: of attempts unless stated otherwise. */
struct pretend_faults {
	double busy; /* of start calls: ERR_BUSY */
	double refuse; /* start fails for good */
	double late; /* start takes effect up to 4 s later */
	double no_run; /* the command cannot be executed */
	double lost;
	double fail;
	double oom;
	double silent; /* exits 0 without a report */
	double hang; /* never ends by itself */
	double slow_stop; /* takes most of the grace to end */
	double ignore_stop; /* runs until it is killed */
	double last_words; /* one more report after a stop */
	double nonfinite; /* of reports: NaN or an infinity */
	double backwards; /* of reports: an earlier step again */
	double stepless; /* of trials: reports without steps */
	double gaps; /* of trials: not every step is reported */
	double second; /* of trials: reports another metric, too */
	double repeat; /* steps before the checkpoint are reported again */
	double worse; /* of settings, the worst ones: they fail at once */
	double unknown; /* of adopt calls: ADOPT_UNKNOWN */
	double dribble; /* of collects: deliver only a part */
	double waits; /* no machine is available for it */
	/* of trials: old reports are sent again after a restart */
	double again;
};

enum pretend_state {
	PRETEND_COMING, /* start will take effect later */
	PRETEND_RUNS,
	PRETEND_ENDED,
	PRETEND_LOST,
	PRETEND_ABANDONED /* will never start */
};

struct pretend_report {
	bool has_step;
	int64_t step;
	double value;
	int64_t time_us; /* time of the report */
};

/* The true history of one attempt. */
struct pretend_attempt {
	int64_t trial;
	int attempt;
	char uuid[40];
	enum pretend_state state;
	int64_t started_ms; /* world time; -1 = never started */
	int64_t stop_ms; /* a stop was requested; -1 = no */
	int64_t ended_ms; /* -1 = running */
	struct pretend_report *reports;
	size_t n_reports;
	struct launch_exit exit;

	/* The future of the attempt; private to pretend-world.c. */
	struct pretend_life {
		double quality; /* 0 best, 1 worst */
		int64_t next_step;
		int64_t last_step; /* of the script */
		int64_t report_ms; /* the next report; all world time */
		int64_t end_ms; /* when it ends by itself */
		int64_t kill_ms;
		int64_t limit_ms; /* max_run */
		int64_t grace_ms;
		size_t cap;
		bool fails, hangs, loses, stepless, gaps, second,
		    dies_of_memory, never_runs, waits, again;
	} life;
};

struct pretend_world *
pretend_world_new(uint64_t seed, const struct pretend_faults *);
void pretend_world_free(struct pretend_world *);
/* Let time pass while no backend is open. */
void pretend_world_pass(struct pretend_world *, int64_t ms);
int64_t pretend_world_now(const struct pretend_world *);
/* The ledger: attempts in the order of their first start. */
size_t pretend_world_count(const struct pretend_world *);
const struct pretend_attempt *
pretend_world_get(const struct pretend_world *, size_t i);
/* Number of running attempts, and its maximum so far. */
size_t pretend_world_running(const struct pretend_world *);
size_t pretend_world_most(const struct pretend_world *);

/* As backend_pretend.open, but with a world that stays; NULL = create one. */
int pretend_open(void **ctx, const struct launch_env *, struct pretend_world *,
    struct err *);

/* For the backend: use the clock of this loop from now on. */
void pretend_world_attach(
    struct pretend_world *, struct loop *, const struct pretend_script *);
void pretend_world_detach(struct pretend_world *);
/* Let everything happen that is due. */
void pretend_world_run(struct pretend_world *);
/* Milliseconds until the next thing happens; -1 = never. */
int64_t pretend_world_next(const struct pretend_world *);
/* Draw whether an event with this probability happens now. */
bool pretend_world_dice(struct pretend_world *, double share);
const struct pretend_faults *pretend_world_faults(const struct pretend_world *);
struct pretend_attempt *
pretend_world_find(struct pretend_world *, const char *uuid);
/* The step after which a trial has written its checkpoint; 0 = none. */
int64_t pretend_world_saved(struct pretend_world *, int64_t trial);
/* Start the attempt now or later; it must not exist yet. */
struct pretend_attempt *pretend_world_start(struct pretend_world *,
    const struct launch_spec *, double quality, bool abandoned);
void
pretend_world_stop(struct pretend_world *, struct pretend_attempt *, bool now);
/* Prevent the start of an attempt; false when it has started already. */
bool pretend_world_abandon(struct pretend_world *, struct pretend_attempt *);
/* Free an attempt that has ended, in a world without a ledger. */
void pretend_world_forget(struct pretend_world *, struct pretend_attempt *);

/* pretend-curve.c: loss in about 0 to 1 at a step from 1, without noise. */
double pretend_curve_loss(
    const struct pretend_script *, int64_t trial, double quality, int64_t step);
/* The reported value: with noise, and with the sign of the goal. */
double pretend_curve_value(const struct pretend_script *, int64_t trial,
    int attempt, double quality, int64_t step);
/* The seed for the landscape of another metric. */
uint64_t pretend_curve_seed(uint64_t seed, const char *metric);
/*
 * Quality of a configuration: 0 best, 1 worst; the seed selects the landscape.
 */
double pretend_curve_quality(uint64_t seed, const char *params_json);

/* pretend.c: add the use of this many steps on one GPU. */
void pretend_gpus_use(struct gpu_usage *, size_t steps);

#endif /* HPOTUNE_PRETEND_H */
