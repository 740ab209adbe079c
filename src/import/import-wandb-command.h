/* The command of a sweep of Weights and Biases. */

#ifndef HPOTUNE_IMPORT_WANDB_COMMAND_H
#define HPOTUNE_IMPORT_WANDB_COMMAND_H

#include <stdbool.h>

struct err;
struct import;
struct json;

/*
 * Whether the command of a sweep gives parameters as arguments; hydra: in a form
 * whose values Hydra reads.
 */
bool import_wandb_command_has_args(const struct json *sweep, bool *hydra);
/* Write the trial with its command; the root of im is the sweep. */
int import_wandb_command_put(struct import *, struct err *);

#endif /* HPOTUNE_IMPORT_WANDB_COMMAND_H */
