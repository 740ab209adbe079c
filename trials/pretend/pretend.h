/*
 * A world of pretended trials: no process, only curves that unroll with time.
 *
 * The launcher "pretend" makes a world of its own, which goes when the launcher
 * is closed.  A test makes one that outlives launchers, gives it faults, and
 * compares its ledger, what really happened, with what a store says.
 */

#ifndef HPOTUNE_PRETEND_H
#define HPOTUNE_PRETEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trials/launcher.h"

struct err;
struct loop;
struct pretend_world;

enum pretend_curve {
	PRETEND_EXP, /* falls exponentially to its end */
	PRETEND_POWER, /* falls as a power of the step */
	PRETEND_CROSSING, /* the slow ones end best: hard on rules */
	PRETEND_PLATEAU, /* nothing for long, then a sudden fall */
	PRETEND_FLAT,
	PRETEND_CURVES
};

/* How trials go when nothing is wrong with the world. */
struct pretend_script {
	enum pretend_curve curve;
	double noise; /* standard deviation */
	int64_t steps; /* reports of a whole trial */
	double step_ms;
	double fail; /* share of attempts that exit with 1 */
	double nan; /* share of trials that turn to NaN */
	uint64_t seed;
	bool maximize;
};

/* Shares, 0 to 1: of attempts unless another thing is named. */
struct pretend_faults {
	double busy; /* of calls of start: ERR_BUSY */
	double refuse; /* start says no for good */
	double late; /* start takes effect up to 4 s later */
	double no_run; /* the command cannot be executed */
	double lost;
	double fail;
	double oom;
	double silent; /* exits 0 without a report */
	double hang; /* never ends by itself */
	double slow_stop; /* uses much of the grace */
	double ignore_stop; /* goes on until it is killed */
	double last_words; /* one report more after a stop */
	double nonfinite; /* of reports: NaN or an infinity */
	double backwards; /* of reports: an earlier step again */
	double stepless; /* of trials: reports without steps */
	double gaps; /* of trials: not every step reports */
	double second; /* of trials: another metric beside it */
	double repeat; /* steps before the checkpoint come again */
	double unknown; /* of looks: cannot tell */
	double dribble; /* of collects: hand over a part only */
	double waits; /* there is no machine for it */
	double again; /* of trials: a restart hears old reports again */
};

enum pretend_state {
	PRETEND_COMING, /* start took effect somewhere, not here yet */
	PRETEND_RUNS,
	PRETEND_ENDED,
	PRETEND_LOST,
	PRETEND_ABANDONED /* will never start */
};

struct pretend_report {
	bool has_step;
	int64_t step;
	double value;
	int64_t time_us; /* when it was said */
};

/* What really happened to one attempt. */
struct pretend_attempt {
	int64_t trial;
	int attempt;
	char uuid[40];
	enum pretend_state state;
	int64_t started_ms; /* world time; -1 = it never did */
	int64_t stop_ms; /* asked to end; -1 = no */
	int64_t ended_ms; /* -1 = it runs */
	int64_t first_step; /* where it began: the checkpoint, or 1 */
	struct pretend_report *reports;
	size_t n_reports;
	struct launch_exit exit;

	/* How it will go on; nothing to read for others. */
	struct pretend_life {
		double quality; /* 0 best, 1 worst */
		int64_t next_step;
		int64_t last_step; /* of the script */
		int64_t report_ms; /* the next report; all world time */
		int64_t end_ms; /* it ends by itself */
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
/* Time goes by while no launcher is open. */
void pretend_world_pass(struct pretend_world *, int64_t ms);
int64_t pretend_world_now(const struct pretend_world *);
/* The ledger: attempts in the order of their first start. */
size_t pretend_world_count(const struct pretend_world *);
const struct pretend_attempt *
pretend_world_get(const struct pretend_world *, size_t i);
/* How many run now, and the most that ever ran at once. */
size_t pretend_world_running(const struct pretend_world *);
size_t pretend_world_most(const struct pretend_world *);

/* launcher_pretend.open into a world that stays; NULL = one of its own. */
int pretend_open(void **ctx, const struct launch_env *, struct pretend_world *,
    struct err *);

/* For the launcher: the clock of the world is that of this loop from now on. */
void pretend_world_attach(
    struct pretend_world *, struct loop *, const struct pretend_script *);
void pretend_world_detach(struct pretend_world *);
/* Let everything happen that is due. */
void pretend_world_run(struct pretend_world *);
/* When the next thing happens, in ms from now; -1 = never. */
int64_t pretend_world_next(const struct pretend_world *);
/* Whether a thing of this share befalls now: draws from the world's dice. */
bool pretend_world_dice(struct pretend_world *, double share);
const struct pretend_faults *pretend_world_faults(const struct pretend_world *);
struct pretend_attempt *
pretend_world_find(struct pretend_world *, const char *uuid);
/* The attempt begins (or will); it must not be there yet. */
struct pretend_attempt *pretend_world_start(struct pretend_world *,
    const struct launch_spec *, double quality, bool abandoned);
void
pretend_world_stop(struct pretend_world *, struct pretend_attempt *, bool now);
/* Never let it start; false when it has started already. */
bool pretend_world_abandon(struct pretend_world *, struct pretend_attempt *);
/* Forget one that is over: a world without a ledger. */
void pretend_world_forget(struct pretend_world *, struct pretend_attempt *);

/* pretend-curve.c: loss in about 0 … 1 at a step from 1, without noise. */
double pretend_curve_loss(
    const struct pretend_script *, int64_t trial, double quality, int64_t step);
/* What the trial reports there: with noise, in the sign of the goal. */
double pretend_curve_value(const struct pretend_script *, int64_t trial,
    int attempt, double quality, int64_t step);
/* The seed of another landscape, for a metric of this name. */
uint64_t pretend_curve_seed(uint64_t seed, const char *metric);
/* How good a setting is: 0 best, 1 worst; the landscape comes from the seed. */
double pretend_curve_quality(uint64_t seed, const char *params_json);

/* pretend-gpus.c: what so many more steps use of the attempt's one GPU. */
void pretend_gpus_use(struct launch_usage *, size_t steps);
/* GPU i with so many trials on it; the name of it in uuid. */
void pretend_gpus_show(struct launch_gpu *, int i, int trials, char uuid[24]);

#endif /* HPOTUNE_PRETEND_H */
