/* Sums over studies that were run again. */

#ifndef HPOTUNE_REPLAY_SUMS_H
#define HPOTUNE_REPLAY_SUMS_H

struct replay_rerun;
struct replay_sum;

/* Add the results of one study, after replay_rerun_look, to the sum. */
void replay_sums_add(struct replay_sum *sum, const struct replay_rerun *);

#endif /* HPOTUNE_REPLAY_SUMS_H */
