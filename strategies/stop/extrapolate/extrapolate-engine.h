/*
 * What the two rules on the learning-curve bank share: a field of competitors,
 * the bank's odds, and whom they never judge.
 */

#ifndef HPOTUNE_EXTRAPOLATE_ENGINE_H
#define HPOTUNE_EXTRAPOLATE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"
#include "strategies/stop/extrapolate/peer-curves.h"
#include "strategies/stop/extrapolate/win-probability.h"
#include "strategies/stop/stop-options.h"
#include "strategies/stopper.h"

/* A rule's state begins with this. */
struct extrapolate_engine {
	const char *name;
	struct stopper_env env;
	struct peer_curves *field;
	struct win_probability *odds;
	int64_t warmup; /* steps that are not judged */
	bool guard;
	int64_t diverged_after;
	/* Where the guard last found the best trial underrated; a shortcut. */
	int64_t witness_trial;
	size_t witness;
};

/* A curve as it is judged. */
struct extrapolate_view {
	struct curve curve;
	size_t at; /* the judged report */
	size_t passed; /* marks */
	double values[CURVE_GRID_MAX]; /* at them */
	double own; /* the best of the last three of them */
};

/* Rows that both option tables have. */
#define OPTION_TEMPER                                              \
	{                                                          \
		"temper", OPTION_REAL, 0.01, 1, "0.5", NULL,       \
		    "power of the evidence; less is more cautious" \
	}

/* Fills a zeroed runner; -1 when nobody knows how long a trial is. */
int extrapolate_engine_init(struct extrapolate_engine *, const char *name,
    const struct stop_options_reader *, const struct stopper_env *,
    struct err *);
/* The plug's functions. */
void extrapolate_engine_close(void *state);
void extrapolate_engine_observe(
    void *state, const struct history *, int64_t trial, int64_t step);
void
extrapolate_engine_ended(void *state, const struct history *, int64_t trial);

/*
 * Begins a judgement of the report at step.  False: it is decided already,
 * mostly because nothing is judged there: during the warm-up, between marks, at
 * the end, and while the trial has the best value of all.
 */
bool extrapolate_engine_begin(const struct extrapolate_engine *,
    const struct history *, int64_t trial, int64_t step,
    struct extrapolate_view *, struct judgement *);
/*
 * Whether a trial that is given less than least would have been a mistake
 * before: somewhere on its way the best completed trial would have been given
 * less to reach what it did reach.
 */
bool extrapolate_engine_guard(
    struct extrapolate_engine *, const struct history *, double least);

#endif /* HPOTUNE_EXTRAPOLATE_ENGINE_H */
