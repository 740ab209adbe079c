/* What is billed: phases of a job, estimates, the bill of an attempt. */

#ifndef HPOTUNE_SM_BILL_H
#define HPOTUNE_SM_BILL_H

#include <stdbool.h>
#include <stdint.h>

struct json;
struct launch_bill;
struct launch_times;
struct sm_attempt;
struct sm_job;
struct sm_settings;

enum sm_phase {
	SM_PHASE_WAIT, /* without a machine */
	SM_PHASE_DOWNLOAD,
	SM_PHASE_TRAIN,
	SM_PHASE_STOP,
	SM_PHASE_UPLOAD,
	SM_PHASE_OVER
};

/* Seconds of one job from its history; the current phase may be incomplete. */
struct sm_bill_meter {
	enum sm_phase phase; /* current */
	double span_s; /* seconds in this phase counted so far */
	double paid_s; /* seconds with a machine */
	double trained_s;
	double before_s, after_s; /* longest download and upload */
};
/*
 * Read a description. since_s: start of the current phase, in seconds since
 * 1970; 0 = the job has ended.
 */
void sm_bill_meter_read(
    struct sm_bill_meter *, double *since_s, const struct json *description);

/* True: one of them is a new maximum. */
bool
sm_bill_times_learn(struct launch_times *, double before_s, double after_s);

struct sm_estimate {
	double most_s; /* if it is not stopped */
	double least_s; /* if it is stopped now */
	bool trains; /* it trains, or will */
};
/*
 * Estimate a job that has been in its phase for since_s seconds, when its
 * status may be late_s old.
 */
void sm_bill_estimate(struct sm_estimate *, const struct sm_bill_meter *,
    const struct sm_settings *, const struct launch_times *, bool spot,
    double since_s, double late_s);

/* A description, or a status in the list, shows its phase. */
void sm_bill_described(struct sm_attempt *, const struct sm_job *);
void sm_bill_listed(struct sm_attempt *, const char *word);
bool sm_bill(void *sm, int64_t trial, int attempt, struct launch_bill *);

#endif /* HPOTUNE_SM_BILL_H */
