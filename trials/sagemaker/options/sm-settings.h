/*
 * The backend block of a SageMaker launcher: its table of options, and what is
 * read of it.  Also AWS's own algorithms, which the block may name.
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
	/* started by our own entry script, in any image */
	SM_NONE,
	SM_TORCHRUN,
	SM_MPIRUN,
	/* by the toolkit inside AWS's own images, told by hyperparameters */
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
	double price; /* dollars an hour of one instance; NaN = not given */
};

struct sm_group { /* of a heterogeneous cluster */
	char *name;
	struct sm_type type;
	int count;
};

struct sm_input {
	char *channel;
	char *s3; /* URI; NULL: a file system, block says which */
	bool sharded; /* by S3 key, else replicated */
	const struct json *block; /* further members as they are, or NULL */
};

struct sm_pair {
	char *name, *value;
};

enum sm_known { SM_KNOWN_NOT, SM_KNOWN_XGBOOST, SM_KNOWN_LINEAR };

struct sm_algorithm { /* of AWS's own */
	char *value; /* of the parameter that chooses it; NULL = the only one */
	char *image;
	enum sm_known known; /* whose metrics we know, by the image */
	char *metric; /* its name for the objective, or NULL: the same */
	const struct json *hyperparameters; /* of each trial, or NULL */
};

struct sm_settings {
	char *region, *profile; /* or NULL */
	char *role, *image;
	struct sm_type *types; /* in order of preference */
	size_t n_types;
	int count; /* instances of one job */
	struct sm_group *groups; /* instead of types and count */
	size_t n_groups;
	int64_t volume_gb;
	bool spot, force_spot; /* spot without checkpoints */
	int64_t max_run_s, max_wait_s; /* max_wait 0: not spot */
	int on_demand_after; /* 0 = never */
	int64_t keep_alive_s;
	int64_t download_s, upload_s; /* reckoned with, until jobs have shown */
	char *bucket, *prefix; /* of "s3", no slashes at the ends */
	bool packed; /* model and output as archives, as hosting wants them */
	char *kms_key; /* of code and output in S3, or NULL */
	char *code; /* absolute folder, or NULL */
	/*
	 * The command is written from trial.workdir.  When the code lies below
	 * that, code_as is its path from there; when the working folder lies
	 * below the code, cwd is its path in it.  Else NULL.
	 */
	char *code_as, *cwd;
	bool requirements; /* requirements.txt of the code is installed */
	bool checkpoints; /* false: the study says it writes none */
	struct sm_input *inputs;
	size_t n_inputs;
	bool algorithm; /* container: the image has its program, and no code */
	char *algorithm_param; /* or NULL */
	struct sm_algorithm *algorithms; /* at least one, when algorithm */
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
	bool metrics_from_cloudwatch; /* not from the logs */
	bool watch_events; /* EventBridge to SQS */
	bool publish; /* metrics of the study to CloudWatch */
	const struct json *alarm; /* or NULL */
	const struct json *extra; /* members of the request as they are */
};

extern const struct option sm_options[];
/* Also checks what needs no wire.  Errors say where (json_err). */
int sm_settings_read(struct sm_settings **, const struct option_value *,
    const struct study_trial *, struct err *);
void sm_settings_free(struct sm_settings *);

/* The pattern of a metric in an algorithm's log, to be freed; NULL = none. */
char *sm_algorithm_regex(enum sm_known, const char *metric);
/* The one that a trial's parameters choose, or NULL and why not. */
const struct sm_algorithm *sm_algorithm_of(
    const struct sm_settings *, const struct json *params, struct err *);
/* Whether it gets a parameter, and as which hyperparameter. */
bool sm_algorithm_takes(const struct sm_settings *, const struct sm_algorithm *,
    const char *param, const char **name);
/* What a tuning job would call the objective for it; NULL = not known. */
const char *
sm_algorithm_objective(const struct sm_algorithm *, const char *objective);
/* A copy of a study's trial block with the patterns of all its algorithms. */
struct study_trial *sm_algorithm_trial(const struct sm_settings *,
    const struct study_trial *, const char *objective);
/* What trials cannot do under an algorithm of AWS's, one clause. */
void sm_algorithm_misses(const struct sm_settings *, struct buf *);
void sm_algorithm_trial_free(struct study_trial *);
void sm_algorithms_free(struct sm_settings *);

/*
 * Names of the metrics that every job defines for CloudWatch; those of
 * trial.metrics stand beside them under their own names.
 */
#define SM_METRIC_OBJECTIVE "hpotune:objective"
#define SM_METRIC_STEP "hpotune:step"

/* GPUs of one instance of a type by its name; 0 = none, -1 = not known. */
int sm_instance_type_gpus(const char *type);
/* The same with the NeuronCores of Trainium: what a process is started for. */
int sm_instance_type_devices(const char *type);
/* Whether AWS's own toolkit starts the program, and not our entry script. */
bool sm_distribution_is_toolkit(const struct sm_settings *);

#endif /* HPOTUNE_SM_SETTINGS_H */
