/*
 * A training job before its creation: the plan of one attempt (machine, spot,
 * time limits, price), its names, and the body of CreateTrainingJob.  No I/O.
 */

#ifndef HPOTUNE_SM_REQUEST_H
#define HPOTUNE_SM_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "trials/backend.h"
#include "trials/sagemaker/options/sm-settings.h"

struct buf;
struct err;

struct sm_plan {
	const struct sm_type *type; /* NULL with groups */
	int instances; /* sum of all groups */
	bool spot;
	int64_t max_run_s, max_wait_s; /* 0: no MaxWait */
	double price; /* dollars per hour of the whole cluster; NaN */
};
/*
 * capacity: earlier attempts of the trial that ended because no machine was
 * available.
 */
void sm_plan_make(struct sm_plan *, const struct sm_settings *, int capacity);
/* Dollars per hour of all groups of a heterogeneous cluster; NaN = no price. */
double sm_groups_price(const struct sm_settings *);
/*
 * Upper bound of the cost of any attempt in dollars, with the longest measured
 * times beside the training (NULL: none measured); NaN = a price is missing.
 */
double
sm_plan_worst_cost(const struct sm_settings *, const struct launch_times *);
/* Dollars of billable seconds; NaN = no price. */
double sm_plan_cost(const struct sm_settings *, const char *instance_type,
    int instances, double billable_s);
/* GPUs of all machines of an attempt; 0 = none, or unknown for one of them. */
int sm_plan_gpus(const struct sm_plan *, const struct sm_settings *);
/* Number of processes that train together: instances x processes per host. */
int sm_plan_replicas(const struct sm_settings *);

#define SM_NAME_MAX 64

/* hpt-STUDY-ID- : prefix of all job names of this study. */
void sm_job_request_prefix(
    char out[SM_NAME_MAX], const char *study, const char *study_id);
void sm_job_request_name(char out[SM_NAME_MAX], const char *prefix,
    int64_t trial, int attempt, const char *uuid);
/* s3 key prefix of the study: "hpotune/mnist-1a2b3c" */
char *sm_job_request_study_key(
    const struct sm_settings *, const char *study, const char *study_id);

/* The inputs of CreateTrainingJob. */
struct sm_request {
	const struct sm_settings *settings;
	const struct sm_plan *plan;
	const struct launch_spec *spec;
	const char *job;
	const char *study_id;
	const char *metric; /* the objective */
	const char *study_key; /* from sm_job_request_study_key */
	/* from sm-code-upload.c: prefix of run.sh and code.tar.gz */
	const char *code_key;
	const char *region;
};
/* Append the body; -1: it exceeds AWS's limits, or a text is NULL. */
int sm_job_request_put(struct buf *, const struct sm_request *, struct err *);
/*
 * Append the settings of the entry script, which are sent in the pieces
 * HPT_SPEC_n.
 */
void sm_script_vars_put(struct buf *, const struct sm_request *);
/* Processes per host of a type; 0: the entry script counts the devices. */
int sm_plan_per_host(const struct sm_settings *, const char *type);
/* The entry script. */
extern const char sm_run_sh[];

#endif /* HPOTUNE_SM_REQUEST_H */
