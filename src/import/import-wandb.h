/* A sweep of Weights & Biases -> the text of a study.json. */

#ifndef HPOTUNE_IMPORT_WANDB_H
#define HPOTUNE_IMPORT_WANDB_H

struct buf;
struct err;
struct json;

/*
 * root: the configuration of a sweep (sweep.yaml).  notes: one line each on what
 * has no equivalent in study.json, or was chosen by the import.
 */
int import_wandb(
    struct buf *out, struct buf *notes, const struct json *root, struct err *);

#endif /* HPOTUNE_IMPORT_WANDB_H */
