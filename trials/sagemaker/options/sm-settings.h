/*
 * Settings of the SageMaker launcher, from the options of the backend block;
 * and the built-in algorithms it may name.
 */

#ifndef HPOTUNE_SM_SETTINGS_H
#define HPOTUNE_SM_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/plugin-options.h"

struct buf;
struct err;
struct json;
struct study_trial;

enum sm_launcher {
	/* started by our entry script, in any image */
	SM_NONE,
	SM_TORCHRUN,
	SM_MPIRUN,
	/*
	 * started by the toolkit in AWS's images, configured by hyperparameters
	 */
	SM_TOOLKIT, /* script mode, one process per host */
	SM_SMDDP,
	SM_MODELPARALLEL, /* with parameters: v1 over MPI, v2 over torchrun */
	SM_PARAMETER_SERVER,
	SM_MPI,
	SM_TORCH_DISTRIBUTED,
	SM_PYTORCH_DDP,
	SM_MIRRORED,
	SM_LAUNCHERS
};

struct sm_type {
	char *name; /* "ml.g5.xlarge" */
	double price; /* dollars per hour and instance; NaN = not given */
};

struct sm_group { /* of a heterogeneous cluster */
	char *name;
	struct sm_type type;
	int count;
};

struct sm_input {
	char *channel;
	char *s3; /* URI; NULL: a file system, see block */
	bool sharded; /* sharded by S3 key, else replicated */
	const struct json *block; /* further members unchanged, or NULL */
};

struct sm_pair {
	char *name, *value;
};

enum sm_known { SM_KNOWN_NOT, SM_KNOWN_XGBOOST, SM_KNOWN_LINEAR };

struct sm_algorithm { /* a built-in algorithm */
	char *value; /* parameter value that selects it; NULL = the only one */
	char *image;
	enum sm_known known; /* by the image: whose metrics are known */
	char *metric; /* its name of the objective, or NULL: the same */
	const struct json *hyperparameters; /* for each trial, or NULL */
};

struct sm_settings {
	char *region, *profile; /* or NULL */
	char *role, *image;
	struct sm_type *types; /* in order of preference */
	size_t n_types;
	int count; /* instances per job */
	struct sm_group *groups; /* instead of types and count */
	size_t n_groups;
	int64_t volume_gb;
	bool spot, force_spot; /* force_spot: spot without checkpoints */
	int64_t max_run_s, max_wait_s; /* max_wait 0: not spot */
	int on_demand_after; /* 0 = never */
	int64_t keep_alive_s;
	/* assumed until jobs have been measured */
	int64_t download_s, upload_s;
	char *bucket, *prefix; /* of "s3", without slashes at the ends */
	bool packed; /* model and output as archives, as hosting expects */
	char *kms_key; /* of code and output in S3, or NULL */
	char *code; /* absolute folder, or NULL */
	/*
	 * The command is relative to trial.workdir.  If the code is below that,
	 * code_as is its path from there; if the working folder is below the
	 * code, cwd is its path in the code.  Else NULL.
	 */
	char *code_as, *cwd;
	bool requirements; /* install requirements.txt of the code */
	bool checkpoints; /* false: the study declares that it writes none */
	bool declared; /* it declares that it writes them; else a default */
	struct sm_input *inputs;
	size_t n_inputs;
	bool algorithm; /* container: the image has its program; no code */
	char *algorithm_param; /* or NULL */
	struct sm_algorithm *algorithms; /* at least one, if algorithm */
	size_t n_algorithms;
	char *input_mode; /* File, FastFile, Pipe */
	enum sm_launcher launcher;
	int per_host; /* processes_per_host; 0 = one per device of the host */
	const struct json *dist; /* the distribution block, or NULL */
	struct sm_pair *tags;
	size_t n_tags;
	char **subnets, **security_groups; /* end with NULL; or NULL */
	int parallel; /* of this backend; 0 = limits.parallel */
	double pace;
	bool metrics_from_cloudwatch; /* instead of from the logs */
	bool watch_events; /* EventBridge to SQS */
	bool publish; /* metrics of the study to CloudWatch */
	const struct json *alarm; /* or NULL */
	const struct json *extra; /* further members of the request */
};

extern const struct option sm_options[];
/*
 * Read and check the options; makes no request.  Errors have a position
 * (json_err).  Free with sm_settings_free.
 */
int sm_settings_read(struct sm_settings **, const struct option_value *,
    const struct study_trial *, struct err *);
void sm_settings_free(struct sm_settings *);

/* The algorithm that a trial's parameters select, or NULL with the reason. */
const struct sm_algorithm *sm_algorithm_of(
    const struct sm_settings *, const struct json *params, struct err *);
/* Whether an algorithm gets a parameter, and as which hyperparameter. */
bool sm_algorithm_takes(const struct sm_settings *, const struct sm_algorithm *,
    const char *param, const char **name);
/* The name of the objective in a tuning job; NULL = unknown. */
const char *
sm_algorithm_objective(const struct sm_algorithm *, const char *objective);
/* A copy of the trial block with the patterns of all its algorithms. */
struct study_trial *sm_algorithm_trial(const struct sm_settings *,
    const struct study_trial *, const char *objective);
/* Append what trials cannot do with a built-in algorithm, one clause. */
void sm_algorithm_misses(const struct sm_settings *, struct buf *);
void sm_algorithm_trial_free(struct study_trial *);
void sm_algorithms_free(struct sm_settings *);

/*
 * Metric names that every job defines for CloudWatch, beside those of
 * trial.metrics under their own names.
 */
#define SM_METRIC_OBJECTIVE "hpotune:objective"
#define SM_METRIC_STEP "hpotune:step"

/* Number of GPUs of an instance type, by its name; 0 = none, -1 = unknown. */
int sm_instance_type_gpus(const char *type);
/* The same including NeuronCores of Trainium: devices that get a process. */
int sm_instance_type_devices(const char *type);
/* Whether AWS's toolkit starts the program instead of our entry script. */
bool sm_distribution_is_toolkit(const struct sm_settings *);

#endif /* HPOTUNE_SM_SETTINGS_H */
