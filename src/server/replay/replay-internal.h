/* What the two replays share: a study run again under a rule. */

#ifndef HPOTUNE_REPLAY_INTERNAL_H
#define HPOTUNE_REPLAY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/server/replay/replay.h"

struct history;

/* One trial: what was recorded, and what the rule let happen. */
struct replay_rerun_trial {
	int64_t reports, skipped;
	int64_t known; /* step at which it was stopped when recorded; -1 */
	bool late; /* … in vain: it had run to its end */
	int64_t last; /* greatest step so far */
	double full, found; /* results, smaller is better; NaN = none */
	bool judged; /* stopped, or too late: it is judged no more */
	bool stopped;
	bool really; /* as it was stopped when recorded: the rest happened */
};

struct replay_rerun {
	struct history *history;
	struct stop_rule_set *set;
	struct replay_rerun_trial *trials; /* [number - 1] */
	size_t n, cap;
	int64_t max_steps, last_step; /* of the rules */
	int64_t greatest; /* step of all */
	bool value_last;
};

int replay_rerun_open(struct replay_rerun *, const struct replay_rule *,
    const struct stopper_env *, bool value_last, struct err *);
void replay_rerun_close(struct replay_rerun *);
/*
 * Trials are numbered from 1; all up to the number given are there from then on,
 * so it is the caller's to know that it can be one.
 */
/* The trial is there, even when it never reports. */
void replay_rerun_begin(struct replay_rerun *, int64_t trial);
/*
 * When the study was recorded, the trial was stopped at this step; late: the
 * verdict came when it had run to its end.
 */
void replay_rerun_set_stop(
    struct replay_rerun *, int64_t trial, int64_t step, bool late);
/* The next report of a trial, in the user's sign; true when it is stopped. */
bool replay_rerun_report(
    struct replay_rerun *, int64_t trial, int64_t step, double value);
/* The trial's recorded end (nothing happens if the rule stopped it before). */
void replay_rerun_end(struct replay_rerun *, int64_t trial, bool completed);
/*
 * Constraints decide who is best, and a rule's guard looks at the best: make
 * the history know them, and before a trial ends what it broke.
 */
struct store;
struct study;
void replay_set_objectives(struct history *, const struct study *);
int replay_results(struct history *, const struct study *, struct store *,
    int64_t trial, struct err *);
/*
 * The curves of a study: the first n of order (which holds all) become a random
 * sample (Fisher and Yates).
 */
void
replay_draw(size_t *order, size_t all, size_t n, uint64_t seed, uint64_t study);
/* The middle one of n numbers, which are sorted; NaN when there is none. */
double replay_median(double *v, size_t n);
/* The study that a database is of. */
int replay_recorded_study(struct study **, struct store *, struct err *);
/* Add what it came to. */
void replay_rerun_sum(struct replay_sum *, const struct replay_rerun *);

#endif /* HPOTUNE_REPLAY_INTERNAL_H */
