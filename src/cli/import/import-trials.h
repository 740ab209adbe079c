/* hpotune import csv, optuna, ray, synetune, trackio: a study with the trials of another tool. */

#ifndef HPOTUNE_IMPORT_TRIALS_H
#define HPOTUNE_IMPORT_TRIALS_H

struct buf;
struct cli;
struct err;

/*
 * Read the operand of the command as its options say, and write the study and
 * its trials; notes: a line each on what was chosen or is lost.
 */
int import_trials_csv(struct cli *, struct buf *notes, struct err *);
int import_trials_optuna(struct cli *, struct buf *notes, struct err *);
int import_trials_ray(struct cli *, struct buf *notes, struct err *);
int import_trials_synetune(struct cli *, struct buf *notes, struct err *);
int import_trials_trackio(struct cli *, struct buf *notes, struct err *);

#endif /* HPOTUNE_IMPORT_TRIALS_H */
