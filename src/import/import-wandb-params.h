/* The parameters of a sweep of Weights and Biases. */

#ifndef HPOTUNE_IMPORT_WANDB_PARAMS_H
#define HPOTUNE_IMPORT_WANDB_PARAMS_H

struct err;
struct import;
struct json;

/* *x is the number with this key of a block, or other where there is none. */
int import_wandb_number(const struct json *, const char *key, double other,
    double *x, struct err *);
/*
 * Write the parameters of a list, which stands at this depth below above (""
 * and 0: the sweep's own).  Nested parameters have names with dots, as W&B's own
 * flattened ones.
 */
int import_wandb_params_put(struct import *, const char *above,
    const struct json *list, int depth, struct err *);

#endif /* HPOTUNE_IMPORT_WANDB_PARAMS_H */
