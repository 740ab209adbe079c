/* hpotune import wandb, nni, katib: a study from the definition of another. */

#ifndef HPOTUNE_IMPORT_DEFINITIONS_H
#define HPOTUNE_IMPORT_DEFINITIONS_H

struct buf;
struct cli;
struct err;

/* Write to a new file, or (NULL) print. */
int import_definitions_write(struct buf *, const char *to, struct err *);
/*
 * Read the operand of the command, YAML or JSON, and write the study; notes: a
 * line each on what was chosen or is lost.
 */
int import_definitions_wandb(struct cli *, struct buf *notes, struct err *);
int import_definitions_nni(struct cli *, struct buf *notes, struct err *);
int import_definitions_katib(struct cli *, struct buf *notes, struct err *);

#endif /* HPOTUNE_IMPORT_DEFINITIONS_H */
