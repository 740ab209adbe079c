/* The hyperparameters of a CreateTrainingJob request, within AWS's limits. */

#ifndef HPOTUNE_SM_HYPERPARAMETERS_H
#define HPOTUNE_SM_HYPERPARAMETERS_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct json_writer;
struct sm_request;

/* Write the member HyperParameters.  ERR_LAUNCH: a limit is exceeded. */
int sm_hyperparameters_put(
    struct json_writer *, const struct sm_request *, struct err *);
/* Characters of a text, not bytes. */
size_t sm_hyperparameters_length(const char *);
/* AWS's pattern for a value is that of one line. */
bool sm_hyperparameters_one_line(const char *);

#endif /* HPOTUNE_SM_HYPERPARAMETERS_H */
