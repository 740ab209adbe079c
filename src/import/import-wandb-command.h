/* The command of a sweep of Weights and Biases. */

#ifndef HPOTUNE_IMPORT_WANDB_COMMAND_H
#define HPOTUNE_IMPORT_WANDB_COMMAND_H

struct err;
struct import;

/* Write the trial with its command; the root of im is the sweep. */
int import_wandb_command_put(struct import *, struct err *);

#endif /* HPOTUNE_IMPORT_WANDB_COMMAND_H */
