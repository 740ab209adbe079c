/* The experiment and the runs that an MLflow server has. */

#ifndef HPOTUNE_MLFLOW_RUNS_H
#define HPOTUNE_MLFLOW_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct mlflow_call;
struct store;

/* The run of one trial. */
struct mlflow_run {
	int64_t trial;
	char *id; /* there */
	char *state; /* ours, when it was last sent; "" = none */
	int64_t sent; /* seq of the last metric that was sent; -1 = none */
	bool params; /* they were sent */
};

/* A study and its experiment on the server. */
struct mlflow {
	struct store *store;
	struct mlflow_call *call;
	char *experiment; /* id; NULL = not looked up yet */
	char *study; /* NAME-ID, the value of a tag */
	char *name;
	struct mlflow_run *runs; /* ascending by trial */
	size_t n_runs, cap_runs;
	int64_t changed;
};

/* Find the experiment of the study by its name, or make it: ERR_REMOTE. */
int mlflow_runs_experiment(struct mlflow *, struct err *);
/* Read the runs of this study, by pages: ERR_REMOTE. */
int mlflow_runs_read(struct mlflow *, struct err *);
/* The run of a trial, or NULL; valid until the next one is added. */
struct mlflow_run *mlflow_runs_find(struct mlflow *, int64_t trial);
/* A new one, in its place: mostly the last. */
struct mlflow_run *
mlflow_runs_add(struct mlflow *, int64_t trial, const char *id);

#endif /* HPOTUNE_MLFLOW_RUNS_H */
