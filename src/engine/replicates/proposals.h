/*
 * Proposals: contests of a setting that somebody proposes with the standing
 * baseline, which it replaces when it is kept.  Several may be open: what is kept
 * becomes the baseline of the others, whose evidence is then that of the same runs
 * beside those of the new baseline.
 */

#ifndef HPOTUNE_PROPOSALS_H
#define HPOTUNE_PROPOSALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct contest;
struct contests;
struct store;
struct value;

/* The setting that was kept last, or that of study.json; 0 = none yet. */
int64_t proposals_baseline(const struct contests *);
/*
 * commit is the hash of what the setting runs, or NULL without trial.source.
 * Why this full setting, as JSON without the parameter of replicates, cannot be
 * proposed now: a clause; true: it can, and challenger is its setting, 0: a new
 * one.
 */
bool proposals_allowed(const struct contests *, const char *params,
    const char *commit, int64_t *challenger, char *why, size_t n);

/* What is proposed; all is borrowed. */
struct proposal {
	int64_t challenger; /* of proposals_allowed */
	const char *params;
	const char *commit; /* hash of what it runs, or NULL */
	const char *diff; /* from the baseline's commit to it, or NULL */
	const char *caller; /* or NULL */
};
/* Propose it, in a transaction. */
const struct contest *proposals_begin(
    struct contests *, struct store *, const struct proposal *, int64_t now_us);
/*
 * The hash of the commit that the trials of a setting run, or NULL; a setting
 * beyond the last one is the new one that contests_due has named.
 */
const char *proposals_commit(const struct contests *, int64_t setting);
/* The first new setting that contests_due gave has this number now. */
void proposals_begun(struct contests *, struct store *, int64_t setting);
/*
 * Whether a run of an open proposal is so far behind the baseline at this step of
 * the second half, and not the last one, that the rest of it is not needed: its
 * value, that of the run that it is paired with there, in the user's sign, and a
 * clause.
 */
bool proposals_behind(const struct contests *, int64_t trial, int64_t step,
    double *value, double *threshold, char *why, size_t n);
/* How many trials the open ones may still begin. */
int64_t proposals_runs(const struct contests *);

#endif /* HPOTUNE_PROPOSALS_H */
