/* Requests to an MLflow server, one at a time. */

#ifndef HPOTUNE_MLFLOW_CALL_H
#define HPOTUNE_MLFLOW_CALL_H

#include <stdint.h>

struct buf;
struct err;
struct json_doc;
struct mlflow_call;

/*
 * Connect to url; token: for the header Authorization, or NULL.  Close it with
 * mlflow_call_close, which takes NULL.
 */
int mlflow_call_open(
    struct mlflow_call **, const char *url, const char *token, struct err *);
void mlflow_call_close(struct mlflow_call *);
/* The URL as messages show it; borrowed. */
const char *mlflow_call_url(const struct mlflow_call *);
/* Let time pass. */
void mlflow_call_wait(struct mlflow_call *, int64_t ms);

/*
 * Call METHOD api/2.0/mlflow/PATH, with a JSON body or NULL.  0 with *answer,
 * which the caller frees (NULL: it is not wanted); 1: RESOURCE_DOES_NOT_EXIST;
 * -1: ERR_REMOTE.
 */
int mlflow_call(struct mlflow_call *, const char *method, const char *path,
    const struct buf *body, struct json_doc **answer, struct err *);

#endif /* HPOTUNE_MLFLOW_CALL_H */
