/*
 * A strategy chooses the next point to try.
 *
 * It is a pure function of what has been learnt so far: same space, same
 * history, same seed, same trial number, same answer.  It sees points in the
 * unit cube and losses, and nothing else: no file, clock, socket or store.
 * Trials of other studies (warm_start) are in the history before its own: look
 * from history_first().
 */

#ifndef HPOTUNE_STRATEGY_H
#define HPOTUNE_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct history;
struct kernels;
struct option;
struct option_value;
struct rng;
struct space;

struct strategy_ask {
	const struct space *space;
	const struct history *history;
	uint64_t seed;
	int64_t trial; /* the number the new trial will have, from 1 */
	int64_t n_enqueued; /* trials before it that were not suggested */
	int64_t max_steps; /* of a trial; 0 = not known */
	/*
	 * How often this was asked before in vain: the answers were settings
	 * that had been tried.
	 */
	unsigned redraw;
	const struct kernels *kernels; /* NULL: none but the plain ones */
};

/* The answer. */
struct suggestion {
	double *x; /* one number in [0, 1] per parameter; the caller's array */
	int64_t from; /* the trial whose checkpoint it continues; 0 = none */
	int64_t member; /* of a population, from 1, that it is; 0 = none */
	int64_t until; /* the step that completes it; 0 = its own end */
	const char *made_by; /* static: the kernels that worked, or "cpu" */
};

struct strategy {
	const char *name; /* as written in study.json */
	const char *about; /* one line, for "hpotune strategies" */
	const char *source; /* the paper or document */
	const struct option *options; /* or NULL */
	bool wants_points; /* it looks at the points of the history */
	bool wants_curves; /* … and at curves */
	bool slow; /* longer than a blink: asked in hpotune-worker */
	bool outside; /* the server asks the user's own program */
	bool several; /* it can do several objectives */
	bool constraints; /* it minds constraints */
	bool repeats; /* it may propose a setting again on purpose */
	bool continues; /* its answers have from, member and until */

	/* Check what one option alone cannot show; NULL = nothing to check. */
	int (*check)(
	    const struct option_value *, const struct space *, struct err *);
	/*
	 * Fill the answer, which comes with an array x, from 0 and made_by
	 * "cpu".  The caller snaps x and marks inactive parameters.
	 * Return 0; 1 when there is nothing left to try (a grid that is
	 * done); 2 when there is nothing until a trial that runs has ended;
	 * -1 with err filled.
	 */
	int (*suggest)(struct suggestion *, const struct strategy_ask *,
	    const struct option_value *, struct err *);
};

/* The random numbers of one question: of its seed, trial and redraw. */
void strategy_rng(struct rng *, const struct strategy_ask *);

/* All of them, in the order of the manual.  Ends with NULL. */
extern const struct strategy *const strategies[];
/*
 * Not in that list, because it suggests nothing: 1 says that there is nothing
 * left to find, which err explains, 0 that there is.
 */
extern const struct strategy strategy_convergence;
/* The one with this name, or NULL. */
const struct strategy *strategy_find(const char *name);

#endif /* HPOTUNE_STRATEGY_H */
