/*
 * Settings of the rule median, some hundreds of them, all scored on recorded
 * curves: which one would have saved most without stopping the best trial.
 */

#ifndef HPOTUNE_POLICY_SEARCH_H
#define HPOTUNE_POLICY_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/server/replay/replay.h"

struct bank;
struct buf;
struct err;
struct store;

struct tune_policy {
	const char *value, *reference;
	bool completed; /* the pool */
	bool guard;
	bool as_is; /* median as it is without options */
	int percentile, min_trials;
	int interval; /* judges every so many reports */
	int warmup; /* per cent of the steps of a trial */
	struct replay_sum sum;
	bool best; /* nobody saves more and kills no more */
};

struct tune {
	struct tune_policy *policies; /* the first one is median as it is */
	size_t n;
};

void tune_open(struct tune *);
void tune_close(struct tune *);
/*
 * Add plan.seeds studies drawn from the bank to the sum of each policy; the
 * same studies that replay_bank draws.
 */
void tune_bank(struct tune *, const struct bank *, const struct replay_plan *);
/*
 * The curves of a study's completed trials, as a bank of as many steps as the
 * study's trials have; goal and what counts go to the plan.
 */
int
tune_store(struct bank *, struct replay_plan *, struct store *, struct err *);
/* Which are best, and of those the one to use. */
const struct tune_policy *tune_choose(struct tune *);
/* Shares of all studies. */
double tune_saved(const struct tune_policy *);
double tune_killed(const struct tune_policy *);
double tune_regret(const struct tune_policy *);
/* What stands behind "stopping" in study.json. */
void tune_put_rule(struct buf *, const struct tune_policy *);

#endif /* HPOTUNE_POLICY_SEARCH_H */
