/* Hyperparameters for AWS's toolkit. */

#ifndef HPOTUNE_SM_TOOLKIT_HYPERPARAMETERS_H
#define HPOTUNE_SM_TOOLKIT_HYPERPARAMETERS_H

#include <stdbool.h>

struct buf;
struct sm_request;

/* Append the hyperparameters for the toolkit, as members of an object. */
void sm_toolkit_hyperparameters_put(
    struct buf *, const struct sm_request *, bool *first);

#endif /* HPOTUNE_SM_TOOLKIT_HYPERPARAMETERS_H */
