/*
 * Shared by the two rules on the learning-curve bank: competitors, win
 * probability, and which trials are never judged.
 */

#ifndef HPOTUNE_EXTRAPOLATE_ENGINE_H
#define HPOTUNE_EXTRAPOLATE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"
#include "strategies/stop/extrapolate/peer-curves.h"
#include "strategies/stop/stop-options.h"
#include "strategies/stopper.h"

/* The state of a rule begins with this. */
struct extrapolate_engine {
	const char *name;
	struct stopper_env env;
	struct peer_curves *field;
	const struct kernels *kernels;
	struct curve_bank *bank;
	double temper; /* option of this name: see kernels.h */
	int64_t warmup; /* steps without judgement */
	int64_t guard; /* best trials that it tests; 0 = none */
	int64_t diverged_after;
	/* Where the guard last found the best trial underrated; a shortcut. */
	int64_t witness_trial;
	size_t witness;
};

/* A curve at the judged report. */
struct extrapolate_view {
	struct curve curve;
	size_t at; /* the judged report */
	size_t passed; /* number of marks */
	double values[CURVE_GRID_MAX]; /* at them */
	double own; /* the best of the last three */
};

/* Rows of both option tables. */
#define OPTION_TEMPER                                              \
	{                                                          \
		"temper", OPTION_REAL, 0.01, 1, "0.5", NULL,       \
		    "power of the evidence; less is more cautious" \
	}

/* Initialise a zeroed engine; -1 when the length of trials is unknown. */
int extrapolate_engine_init(struct extrapolate_engine *, const char *name,
    const struct option_value *, const struct stopper_env *, struct err *);
/* Functions of struct stopper. */
void extrapolate_engine_close(void *state);
void extrapolate_engine_observe(
    void *state, const struct history *, int64_t trial, int64_t step);
void
extrapolate_engine_ended(void *state, const struct history *, int64_t trial);

/*
 * Start the judgement of the report at step.  False: already decided, in most
 * cases because the report is not judged: during the warm-up, between marks, at
 * the end, and while the trial has the best value of all.
 */
bool extrapolate_engine_begin(const struct extrapolate_engine *,
    const struct history *, int64_t trial, int64_t step,
    struct extrapolate_view *, struct judgement *);
/*
 * The probability that a curve with these values at its first marks ends below
 * a goal; mean and sd in the curve's units.  False: unknown, because of too few
 * values, or because no competitor improves.
 */
bool extrapolate_engine_guess(const struct extrapolate_engine *,
    const double values[CURVE_GRID_MAX], size_t passed, double goal,
    struct curve_guess *);
/*
 * The trial, one of the best completed ones that the guard tests, of which
 * stopping below this probability would have been a mistake: at some mark it
 * had a lower probability of reaching its result; 0: none.
 */
int64_t extrapolate_engine_guard(
    struct extrapolate_engine *, const struct history *, double least);

#endif /* HPOTUNE_EXTRAPOLATE_ENGINE_H */
