/*
 * What the files of the sagemaker launcher share.
 *
 *   sm-options.c  the table of the backend block
 *   sm-settings.c its reading and checks (pure), with -machines.c
 *                        -inputs.c -extra.c -dist-read.c
 *   sm-instance-types.c    how many devices an instance type has
 *   sm-plan.c     which machine, spot or not, how long, what it may cost
 *   sm-distribution.c     the table of distributed launchers
 *   sm-script-vars.c     what the entry script is told (pure)
 *   sm-create-job.c  the body of CreateTrainingJob (pure)
 *   sm-run.sh     the entry script, embedded at build
 *   sagemaker.c          the plug: slots, start, stop, look, collect
 *   sm-code-upload.c     the code folder to S3, once
 *   sm-internal.h    an attempt, and what the files of the plug share
 *   sm-create.c   create, adopt, quarantine
 *   sm-poll.c     list and describe
 *   sm-job-status.c      what an ended job was
 *   sm-log.c …   the trial's output; sm-log-metric-data.c instead of it
 */

#ifndef HPOTUNE_SM_SETTINGS_H
#define HPOTUNE_SM_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/plugin-options.h"
#include "trials/launcher.h"

struct aws;
struct aws_call;
struct aws_answer;
struct buf;
struct err;
struct json;
struct loop;
struct report_rules;
struct sm_log; /* sm-log.c */
struct study_trial;

/* ---- the backend block ------------------------------------------------- */

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

/* ---- AWS's own algorithms ----------------------------------------------- */

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

/* ---- the plan of one attempt ------------------------------------------- */

struct sm_plan {
	const struct sm_type *type; /* NULL with groups */
	int instances; /* of all groups */
	bool spot;
	int64_t max_run_s, max_wait_s; /* 0: no MaxWait */
	double price; /* dollars an hour of the whole cluster; NaN */
};
/* capacity: attempts of the trial that ended for want of a machine. */
void sm_plan_make(struct sm_plan *, const struct sm_settings *, int capacity);
/*
 * The dearest that any attempt may become, by the longest that others have taken
 * beside the training (NULL: none has shown it); NaN = a price is missing.
 */
double sm_worst_cost(const struct sm_settings *, const struct launch_times *);
/* Dollars of billable seconds; NaN = no price. */
double sm_cost(const struct sm_settings *, const char *instance_type,
    int instances, double billable_s);
/* GPUs of one instance of a type by its name; 0 = none, -1 = not known. */
int sm_type_gpus(const char *type);
/* The same with the NeuronCores of Trainium: what a process is started for. */
int sm_type_devices(const char *type);
/* GPUs of all machines of an attempt; 0 = none, or not known of one of them. */
int sm_plan_gpus(const struct sm_plan *, const struct sm_settings *);
/* Processes that train together: instances x processes per host. */
int sm_replicas(const struct sm_settings *);

/* ---- names and request -------------------------------------------------- */

#define SM_NAME_MAX 64

/* hpt-STUDY-ID- : what every job of this study begins with. */
void sm_prefix(char out[SM_NAME_MAX], const char *study, const char *study_id);
void sm_job_name(char out[SM_NAME_MAX], const char *prefix, int64_t trial,
    int attempt, const char *uuid);
/* s3 key prefix of the study: "hpotune/mnist-1a2b3c" */
char *sm_study_key(
    const struct sm_settings *, const char *study, const char *study_id);

/*
 * Names of the metrics that every job defines for CloudWatch; those of
 * trial.metrics stand beside them under their own names.
 */
#define SM_METRIC_OBJECTIVE "hpotune:objective"
#define SM_METRIC_STEP "hpotune:step"

/* Everything CreateTrainingJob is made of. */
struct sm_request {
	const struct sm_settings *settings;
	const struct sm_plan *plan;
	const struct launch_spec *spec;
	const char *job;
	const char *study_id;
	const char *metric; /* the objective */
	const char *study_key; /* of sm_study_key */
	const char *code_key; /* of sm_code: prefix of run.sh and code.tar.gz */
	const char *region;
};
/* The body, or -1 when AWS's limits do not let it be sent, or a text is NULL. */
int sm_request_put(struct buf *, const struct sm_request *, struct err *);
/* The entry script's text, which is sent in the pieces HPT_SPEC_n. */
void sm_spec_put(struct buf *, const struct sm_request *);
/* Whether AWS's own toolkit starts the program, and not our entry script. */
bool sm_is_toolkit(const struct sm_settings *);
/* Processes on each host of a type; 0: the entry script counts the devices. */
int sm_per_host(const struct sm_settings *, const char *type);
/* The hyperparameters the toolkit wants, as members of an object. */
void sm_dist_put(struct buf *, const struct sm_request *, bool *first);
/* The entry script. */
extern const char sm_run_sh[];

/* ---- output -------------------------------------------------------------- */

/*
 * The reader of all attempts' output.  Reports, cursors and notes go through
 * emit, which keeps them until collect.  GetLogEvents on the streams of
 * JOB/algo-1 in rotation; with many attempts one FilterLogEvents sweep.
 */
struct sm_logs;
struct sm_logs_env {
	struct loop *loop;
	struct aws *aws;
	const struct study_trial *settings; /* metrics, step_regex */
	const char *metric;
	const char *prefix; /* of job names */
	double pace;
	bool cloudwatch; /* GetMetricData instead of the logs */
	bool pieces; /* the toolkit prints: a line may come as two events */
	void (*emit)(void *arg, const struct launch_event *);
	void *arg;
};
int sm_logs_open(struct sm_logs **, const struct sm_logs_env *, struct err *);
void sm_logs_close(struct sm_logs *);
/*
 * Begin to read the output of a job: since is the newest event that is
 * recorded (ms since 1970; 0 = read all).  dir: where its file "log" is kept.
 */
struct sm_log *sm_log_follow(struct sm_logs *, int64_t trial, int attempt,
    const char *job, const char *dir, int64_t since_ms);
/* It was interrupted or restarted: there will be another stream. */
void sm_log_restarted(struct sm_log *);
/*
 * The job is over: read until nothing new comes, then everything once more from
 * its start; then done is called, from the loop, and the log may be freed.
 * orderly: our entry script had the time to say its last line, so it will come.
 */
void sm_log_finish(
    struct sm_log *, bool orderly, void (*done)(void *arg), void *arg);
void sm_log_free(struct sm_log *);

#endif /* HPOTUNE_SM_SETTINGS_H */
