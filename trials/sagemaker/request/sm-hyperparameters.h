/*
 * The texts of a CreateTrainingJob request: hyperparameters, environment and
 * metrics, within AWS's limits.
 */

#ifndef HPOTUNE_SM_HYPERPARAMETERS_H
#define HPOTUNE_SM_HYPERPARAMETERS_H

struct err;
struct json_writer;
struct sm_request;

/* Write the member HyperParameters.  ERR_LAUNCH: a limit is exceeded. */
int sm_hyperparameters_put(
    struct json_writer *, const struct sm_request *, struct err *);
/* Write the member Environment.  ERR_LAUNCH: a limit is exceeded. */
int sm_hyperparameters_put_env(
    struct json_writer *, const struct sm_request *, struct err *);
/* Write the member MetricDefinitions, without what exceeds a limit. */
void
sm_hyperparameters_put_metrics(struct json_writer *, const struct sm_request *);

#endif /* HPOTUNE_SM_HYPERPARAMETERS_H */
