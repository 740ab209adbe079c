/*
 * Successive halving without waiting: at each rung a trial continues when it is
 * among the best share of those that reached it.  One engine for one ladder
 * (asha) and for several (hyperband).
 */

#ifndef HPOTUNE_HALVING_ENGINE_H
#define HPOTUNE_HALVING_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategies/stop/halving/halving-rungs.h"
#include "strategies/stop/stop-options.h"
#include "strategies/stopper.h"

struct history;
struct halving_engine;

struct halving_rule {
	const char *name;
	struct option_value unit; /* the first rung: steps, or a share of all */
	int64_t factor;
	/* the first this many trials at a rung are stopped */
	int64_t bootstrap;
	int64_t guard; /* best trials that it tests; 0 = none */
	/* pause instead of stop, and resume trials that qualify later */
	bool promote;
	int64_t diverged_after; /* 0 = never */
	/* Create the ladders once a trial has completed with this last step. */
	void (*lay)(struct halving_engine *, int64_t last);
	/* The ladder of a trial. */
	size_t (*rungs_of_trial)(const struct halving_engine *, int64_t trial);
};

/* State of an opened rule. */
struct halving_engine {
	struct halving_rule rule;
	struct stopper_env env;
	int64_t longest; /* last step of completed trials; -1 = none yet */
	size_t n; /* ladders; 0 = waiting for a completed trial */
	struct halving_rungs *ladders;
};

/* Read the common options of both rules. */
void halving_engine_read(struct halving_rule *, const struct option_value *);
/* Initialise a rule whose state begins with a zeroed struct halving_engine. */
void halving_engine_init(struct halving_engine *, const struct halving_rule *,
    const struct stopper_env *);
/* Create n ladders, ladder b from unit * factor^(rate + b) on. */
void halving_engine_lay(
    struct halving_engine *, size_t n, int64_t unit, int64_t rate);
/* The unit of rungs for trials of this many steps. */
int64_t halving_engine_unit(const struct halving_engine *, int64_t steps);

/* Functions of struct stopper. */
void halving_engine_close(void *state);
void halving_engine_observe(
    void *state, const struct history *, int64_t trial, int64_t step);
void halving_engine_ended(void *state, const struct history *, int64_t trial);
void halving_engine_judge(void *state, const struct history *, int64_t trial,
    int64_t step, struct judgement *);
int64_t halving_engine_promote(void *state, const struct history *,
    const struct stopper_paused *, size_t n, struct judgement *);

/* Rows of both option tables. */
#define HALVING_OPTIONS(unit, share)                                         \
	{ "min_resource", OPTION_STEPS, 1, DBL_MAX, unit, NULL,              \
		"step of the first rung, or a share of all steps, "          \
		"rounded down" },                                            \
	    { "reduction_factor", OPTION_INT, 2, DBL_MAX, share, NULL,       \
		    "factor between the steps of two rungs; one trial in "   \
		    "this many continues at each" },                         \
	    OPTION_COUNT("bootstrap_count", 0, "0",                          \
		"stop this many first trials at each rung"),                 \
	    { "promote", OPTION_BOOL, 0, 0, "false", NULL,                   \
		    "pause instead of stopping, and resume trials that are " \
		    "among the best share later" },                          \
	    OPTION_GUARD("false"), OPTION_DIVERGED("3")

#endif /* HPOTUNE_HALVING_ENGINE_H */
