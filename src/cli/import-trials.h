/* hpotune import csv, optuna and ray: a study with the trials of another tool. */

#ifndef HPOTUNE_IMPORT_TRIALS_H
#define HPOTUNE_IMPORT_TRIALS_H

struct buf;
struct cli;
struct err;

int import_trials_csv(struct cli *, struct buf *notes, struct err *);
int import_trials_optuna(struct cli *, struct buf *notes, struct err *);
int import_trials_ray(struct cli *, struct buf *notes, struct err *);

#endif /* HPOTUNE_IMPORT_TRIALS_H */
