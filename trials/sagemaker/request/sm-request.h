/*
 * A training job before it is created: the plan of one attempt (which machine,
 * spot or not, for how long, at which price), its names, and the body of
 * CreateTrainingJob.  Pure: nothing here sends or reads.
 */

#ifndef HPOTUNE_SM_REQUEST_H
#define HPOTUNE_SM_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "trials/launcher.h"
#include "trials/sagemaker/options/sm-settings.h"

struct buf;
struct err;

struct sm_plan {
	const struct sm_type *type; /* NULL with groups */
	int instances; /* of all groups */
	bool spot;
	int64_t max_run_s, max_wait_s; /* 0: no MaxWait */
	double price; /* dollars an hour of the whole cluster; NaN */
};
/* capacity: attempts of the trial that ended for want of a machine. */
void sm_plan_make(struct sm_plan *, const struct sm_settings *, int capacity);
/* Dollars an hour of all groups of a heterogeneous cluster; NaN = no price. */
double sm_groups_price(const struct sm_settings *);
/*
 * The dearest that any attempt may become, by the longest that others have taken
 * beside the training (NULL: none has shown it); NaN = a price is missing.
 */
double
sm_plan_worst_cost(const struct sm_settings *, const struct launch_times *);
/* Dollars of billable seconds; NaN = no price. */
double sm_plan_cost(const struct sm_settings *, const char *instance_type,
    int instances, double billable_s);
/* GPUs of all machines of an attempt; 0 = none, or not known of one of them. */
int sm_plan_gpus(const struct sm_plan *, const struct sm_settings *);
/* Processes that train together: instances x processes per host. */
int sm_plan_replicas(const struct sm_settings *);

#define SM_NAME_MAX 64

/* hpt-STUDY-ID- : what every job of this study begins with. */
void sm_create_job_prefix(
    char out[SM_NAME_MAX], const char *study, const char *study_id);
void sm_create_job_name(char out[SM_NAME_MAX], const char *prefix,
    int64_t trial, int attempt, const char *uuid);
/* s3 key prefix of the study: "hpotune/mnist-1a2b3c" */
char *sm_create_job_study_key(
    const struct sm_settings *, const char *study, const char *study_id);

/* Everything CreateTrainingJob is made of. */
struct sm_request {
	const struct sm_settings *settings;
	const struct sm_plan *plan;
	const struct launch_spec *spec;
	const char *job;
	const char *study_id;
	const char *metric; /* the objective */
	const char *study_key; /* of sm_create_job_study_key */
	const char *code_key; /* of sm_code: prefix of run.sh and code.tar.gz */
	const char *region;
};
/* The body, or -1 when AWS's limits do not let it be sent, or a text is NULL. */
int sm_create_job_put(struct buf *, const struct sm_request *, struct err *);
/* The entry script's text, which is sent in the pieces HPT_SPEC_n. */
void sm_script_vars_put(struct buf *, const struct sm_request *);
/* Processes on each host of a type; 0: the entry script counts the devices. */
int sm_plan_per_host(const struct sm_settings *, const char *type);
/* The hyperparameters the toolkit wants, as members of an object. */
void sm_distribution_put(struct buf *, const struct sm_request *, bool *first);
/* The entry script. */
extern const char sm_run_sh[];

#endif /* HPOTUNE_SM_REQUEST_H */
