/* A study as an experiment of an MLflow tracking server, over its REST API. */

#ifndef HPOTUNE_EXPORT_MLFLOW_H
#define HPOTUNE_EXPORT_MLFLOW_H

#include <stdint.h>

struct err;
struct mlflow;
struct store;

/*
 * Connect to url, such as http://127.0.0.1:5000; token: for the header
 * Authorization, or NULL.  The store is borrowed, and in no transaction.
 */
int export_mlflow_open(struct mlflow **, struct store *, const char *url,
    const char *token, struct err *);
/*
 * Bring the server up to date: an experiment with the name of the study, a run
 * for each trial that has begun, found again by its tags, with parameters,
 * metrics and state.  What was sent before changes nothing.  ERR_REMOTE when the
 * server does not answer, or refuses.
 */
int export_mlflow_pass(struct mlflow *, struct err *);
/* Let time pass. */
void export_mlflow_wait(struct mlflow *, int64_t ms);
/* The number of runs that passes have changed. */
int64_t export_mlflow_changed(const struct mlflow *);
void export_mlflow_close(struct mlflow *); /* NULL: nothing */

#endif /* HPOTUNE_EXPORT_MLFLOW_H */
