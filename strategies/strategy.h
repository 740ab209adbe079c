/*
 * The interface of a strategy, which chooses the next point to try.
 *
 * It is a pure function of the history: same space, same history, same seed,
 * same trial number, same result.  It sees points in the unit cube and losses,
 * and has no file, clock, socket or store.  Trials of other studies
 * (warm_start) are in the history before its own: start at history_first().
 */

#ifndef HPOTUNE_STRATEGY_H
#define HPOTUNE_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct history;
struct kernels;
struct memory_model;
struct option;
struct option_value;
struct rng;
struct space;

struct strategy_ask {
	const struct space *space;
	const struct history *history;
	uint64_t seed;
	int64_t trial; /* number of the new trial, from 1 */
	int64_t n_enqueued; /* earlier trials that were not suggested */
	/*
	 * Trials 1 to n_known were suggested by other strategies: cmaes starts
	 * from the best of them.  0, unless choose set it.
	 */
	int64_t n_known;
	int64_t max_steps; /* of a trial; 0 = unknown */
	/* Mean duration of the latest trials that ended; 0 = unknown. */
	double trial_seconds;
	bool time_limited; /* limits.wall_time or limits.gpu_hours is given */
	double time_used; /* the share of it that ended trials used, 0 to 1 */
	bool no_worker; /* a slow strategy cannot be asked */
	/*
	 * How many earlier results for this trial were rejected because the
	 * setting had been tried.
	 */
	unsigned redraw;
	const struct kernels *kernels; /* NULL: only the plain ones */
	/* Set by strategy_suggest, for strategies; NULL = all settings fit. */
	const struct memory_model *memory;
};

/* The result. */
struct suggestion {
	double *x; /* one number in [0, 1] per parameter; the caller's array */
	int64_t from; /* trial whose checkpoint it continues; 0 = none */
	int64_t member; /* member of the population, from 1; 0 = none */
	int64_t until; /* the step that completes it; 0 = unlimited */
	const char *made_by; /* static: the kernels used, or "cpu" */
	/*
	 * Set by strategy_suggest where a model of memory was asked: with which
	 * probability the trial fits, and bytes of its peak; otherwise 0.
	 */
	double fits, memory;
};

struct strategy {
	const char *name; /* as in study.json */
	const char *about; /* one line, for "hpotune strategies" */
	const char *source; /* paper or document */
	const struct option *options; /* or NULL */
	bool wants_points; /* needs the points of the history */
	bool wants_curves; /* … and the curves */
	bool wants_last; /* of them only the last report of each trial */
	bool wants_seconds; /* needs the durations of trials */
	bool slow; /* takes long: runs in hpotune-worker */
	/*
	 * The answer stays good when one more trial ends without being the
	 * best: it is computed while trials run.
	 */
	bool ahead;
	bool outside; /* the server runs the user's own program */
	bool several; /* supports several objectives */
	bool constraints; /* supports constraints */
	bool repeats; /* may suggest a setting again on purpose */
	bool continues; /* sets from, member and until */

	/*
	 * Check combinations of options beyond single ones; NULL = no checks.
	 */
	int (*check)(
	    const struct option_value *, const struct space *, struct err *);
	/*
	 * Fill in the suggestion, which comes with an array x, from 0 and
	 * made_by "cpu".  The caller snaps x and marks inactive parameters.
	 * Returns 0; 1 when nothing is left to try (a finished grid); 2 when a
	 * running trial must end first; -1 with err set.
	 */
	int (*suggest)(struct suggestion *, const struct strategy_ask *,
	    const struct option_value *, struct err *);
	/*
	 * The strategy to ask instead, with its default options, and why
	 * (static); n_known is set for it.  NULL = this one.
	 */
	const struct strategy *(*choose)(
	    struct strategy_ask *, const char **why);
};

/*
 * Ask a strategy, as suggest does, for a setting that satisfies the conditions
 * of the space (where.h): of 30 answers, as of so many redraws, the first that
 * does.  When none does, the first one is moved on a straight line to a setting
 * that does, the parent's or the nearest of eight random ones; a strategy that
 * does not learn gets a random one.
 *
 * After a trial has run out of memory, the answers of a strategy that learns are
 * also to fit into it (memory-model.h): the first of 30 that does, otherwise the
 * one that is most likely to.
 */
int strategy_suggest(const struct strategy *, struct suggestion *,
    const struct strategy_ask *, const struct option_value *, struct err *);

/* Random numbers for one suggestion, from its seed, trial and redraw. */
void strategy_rng(struct rng *, const struct strategy_ask *);

/* All strategies in the order of the manual, ending with NULL. */
extern const struct strategy *const strategies[];
/*
 * Not in the table, because it suggests nothing: returns 1 when the study has
 * converged, which err explains, else 0.
 */
extern const struct strategy strategy_convergence;
/* Find a strategy by name, or NULL. */
const struct strategy *strategy_find(const char *name);

#endif /* HPOTUNE_STRATEGY_H */
