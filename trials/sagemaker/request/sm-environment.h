/* The environment of a training job. */

#ifndef HPOTUNE_SM_ENVIRONMENT_H
#define HPOTUNE_SM_ENVIRONMENT_H

struct err;
struct json_writer;
struct sm_request;

/* Write the member Environment.  ERR_LAUNCH: a limit is exceeded. */
int sm_environment_put(
    struct json_writer *, const struct sm_request *, struct err *);

#endif /* HPOTUNE_SM_ENVIRONMENT_H */
