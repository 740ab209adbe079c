/*
 * What stopping rules compare.  Without replicates: all trials.  With them only
 * the first replicates of settings, among each other: all have the same seed or
 * fold, and each setting has one, so that neither a hard fold nor the choice of
 * the settings that got further replicates decides a stop.  Of other replicates
 * rules judge what needs no comparison.
 */

#ifndef HPOTUNE_JUDGED_H
#define HPOTUNE_JUDGED_H

#include <stdbool.h>
#include <stdint.h>

#include "src/model/trial.h"

struct history;
struct replicates;
struct stop_rule_set;
struct study;
struct study_trial;

struct judged {
	struct history *trials; /* all of them; borrowed */
	struct history
	    *firsts; /* what is compared; without replicates trials */
	struct stop_rule_set *rules; /* over firsts */
	/* Over trials, for other replicates; NULL: there are none. */
	struct stop_rule_set *others;
	const struct replicates *replicates;
	/*
	 * Where trials have numbers of steps of their own, the steps of firsts
	 * are those of the longest trial (study_axis_step).
	 */
	const struct study_trial *axis; /* NULL: the steps of trials */
	int64_t *own; /* steps of each trial; 0 = unknown */
	size_t n_own, cap_own;
};

/*
 * The history and the study are borrowed, both until judged_close; the rules are taken over: others is
 * NULL without replicates.  Call before the first trial.
 */
void judged_open(struct judged *, struct history *trials,
    const struct replicates *, const struct study *,
    struct stop_rule_set *rules, struct stop_rule_set *others);
void judged_close(struct judged *);

/* Whether a trial is compared with others. */
bool judged_compares(const struct judged *, int64_t trial);
/* The rules that judge a trial, and the history that they read. */
struct stop_rule_set *judged_rules(const struct judged *, int64_t trial);
struct history *judged_history(const struct judged *, int64_t trial);

/*
 * As the functions of history.h and stopper.h, for both histories.  A trial is
 * added before replicates_add: replicate is its number, at most 1 for the first.
 */
void
judged_add(struct judged *, int64_t trial, int replicate, const double *point);
bool judged_report(struct judged *, int64_t trial, int64_t step, double value);
/*
 * Where a step of the trial is in judged_history; -1: the trial has not said yet
 * how many steps it has, and is not there.
 */
int64_t judged_at(const struct judged *, int64_t trial, int64_t step);
/*
 * The trial has this number of steps, by its setting before its first report, or
 * as it has reported later: its reports so far are added, each is called for
 * each of them.  Without effect where it is 0 or one is known.
 */
void judged_set_own(struct judged *, int64_t trial, int64_t steps,
    void (*each)(void *, int64_t trial, int64_t at), void *arg);
void judged_results(struct judged *, int64_t trial, const double *objectives,
    const double *violations);
void
judged_end(struct judged *, int64_t trial, enum trial_state, double objective);
void judged_retry(struct judged *, int64_t trial);
/* To the rules, after judged_end or judged_retry. */
void judged_ended(struct judged *, int64_t trial);

#endif /* HPOTUNE_JUDGED_H */
