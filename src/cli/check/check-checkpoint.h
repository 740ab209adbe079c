/*
 * hpotune check --checkpoint: whether a trial that is stopped goes on from its
 * checkpoint to the curve that it has without the stop.
 */

#ifndef HPOTUNE_CHECK_CHECKPOINT_H
#define HPOTUNE_CHECK_CHECKPOINT_H

struct cli;
struct err;
struct study;

/*
 * Run one trial to its end, then the same setting again, stopped after half of
 * the reports and resumed, and print how the curves compare.  Returns an exit
 * status: CLI_DONE when it resumes to the same curve; -1 with an error.  The
 * study is changed (one_trial_prepare).
 */
int check_checkpoint(struct cli *, struct study *, struct err *);

#endif /* HPOTUNE_CHECK_CHECKPOINT_H */
