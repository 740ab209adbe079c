/*
 * The sagemaker backend: declarations shared by its files.
 *
 *	sagemaker.c		the interface of the backend
 *	sm-open.c		opening and closing it
 *	sm-checkpoint-watch.c	checkpoints that do not reach S3
 *	sm-events.c		events kept until collect
 *	sm-code-upload.c	the code folder to S3, once
 *	sm-create.c		create and adopt; the note of it; the table of failures
 *	sm-poll.c		list and describe jobs
 *	sm-job-update.c		what a description says; stop; end
 *	sm-bill.c		billing and forecasts of cost
 *	sm-warm-pool.c		billing of warm pools
 *	sm-job-status.c		state and end of a job (no I/O)
 *	sm-owner-errors.c	problems of the account (no I/O)
 *	sm-quota.c		how many jobs may run at once
 *	sm-gpu-usage.c		GPU use, from CloudWatch
 *	sm-gc.c			jobs without an owner; sm-doctor.c
 */

#ifndef HPOTUNE_SM_INTERNAL_H
#define HPOTUNE_SM_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "trials/aws/aws.h"
#include "trials/backend.h"
#include "trials/sagemaker/logs/sm-log.h"
#include "trials/sagemaker/request/sm-request.h"
#include "trials/sagemaker/sm-bill.h"
#include "trials/sagemaker/sm-job-status.h"
#include "trials/sagemaker/sm-quota.h"

struct capture;
struct err;
struct json;
struct loop;
struct loop_timer;
struct sm_watch;

/* Seconds at pace 1. */
enum {
	SM_LIST_S = 15, /* between two lists */
	SM_LIST_SOON_S = 2, /* until the first list after an event */
	SM_LOST_S = 60, /* how long a job must be missing */
	SM_QUARANTINE_S = 900, /* how long a signed request may take effect */
	SM_CALL_S = 900, /* maximum duration of all tries of a call */
	SM_RETRY_S = 5, /* before a retry of Create, Describe or Stop */
	SM_RETRY_MOST_S = 60,
	SM_PROBE_S = 300, /* after which a lowered cap rises by one */
	SM_PROBE_NONE_S = 3600, /* after which an unavailable type is retried */
	SM_CHECKPOINT_WATCH_S = 600, /* between two checks of the checkpoints */
	/* reports without a checkpoint for this long */
	SM_CHECKPOINT_LATE_S = 1800
};

enum {
	SM_LANES = 4, /* concurrent Creates */
	SM_PAGES = 100, /* of one list */
	SM_MISSING_TIMES = 3, /* number of "no such job" answers needed */
	SM_SLOTS_DEFAULT = 10
};

enum sm_state {
	SM_CODE, /* waiting for the code in S3 */
	SM_QUEUED, /* its Create is not sent */
	SM_SENT, /* Create is in flight, or had no clear answer */
	SM_ADOPT, /* from the store: check whether the job exists */
	SM_ABANDON, /* to be stopped, perhaps never created: quarantine */
	SM_CREATED, /* it exists and does not train yet */
	SM_RUNNING,
	SM_DRAIN, /* ended; reading its last output */
	SM_OVER /* LAUNCH_EXIT or LAUNCH_LOST is queued */
};

struct sm_gpu_usage { /* GPU use, from CloudWatch */
	struct aws_call *call;
	struct loop_timer *timer; /* next query */
	char *body, *token; /* of the current request */
	double period; /* seconds per value */
	double busy; /* GPU seconds */
	double points; /* number of values of all machines */
	int hosts; /* machines that have values */
	int pages;
	bool last; /* the attempt ends with this answer */
};

struct sm_attempt {
	struct sm *sm;
	int64_t trial;
	int attempt;
	char uuid[37];
	char job[SM_NAME_MAX];
	char *dir; /* trial_dir/attempt-N */
	struct launch_spec *spec; /* a copy, until the job exists */
	char *body; /* of Create, until the job exists */
	struct sm_plan plan;
	enum sm_state state;

	bool found; /* an earlier server may have sent its Create */
	bool up; /* LAUNCH_UP was sent, now or by an earlier server */
	bool placed; /* LAUNCH_PLACE or LAUNCH_UP was sent */
	bool checked; /* described at least once */
	bool trained;
	bool watched; /* it has an alarm */
	bool stop; /* a stop was requested */
	bool stop_sent; /* … and accepted by AWS */
	bool late; /* missing in the last list */
	bool said_trouble, noted_stop;
	bool noted_overdue[2]; /* noted: long upload [1], long download [0] */
	enum sm_status status;
	char secondary[32]; /* last known */
	double created_s; /* AWS's clock; 0 = unknown */
	struct sm_bill_meter meter; /* last known */
	bool metered; /* it was described */
	int64_t phase_ms; /* loop time when its phase was first seen */
	double phase_s; /* start of its phase by AWS's clock; 0 = unknown */
	int64_t
	    /* loop time until which a Create may take effect */
	    may_act_until_ms;
	int64_t stop_ms; /* loop time when the stop was accepted */
	/* loop time of the first "no such job"; -1 = none */
	int64_t missing_ms;
	int misses;
	int tries; /* tries of what timer waits for */

	struct aws_call *call; /* create or describe */
	struct aws_call *stop_call, *checkpoint_call;
	struct loop_timer *timer; /* the next create or describe */
	struct loop_timer *stop_timer;

	struct launch_exit exit;
	double idle_rate; /* dollars per second of its warm pool; 0 = none */
	bool lost;
	char lost_why[160];
	/*
	 * As recorded: log is the time of the newest event read, metrics the
	 * number of interruptions sent, metrics_skip that spot was not
	 * available.
	 */
	struct launch_cursor cursor;
	struct sm_log *log;

	struct sm_gpu_usage usage;
	int64_t reports; /* since its newest checkpoint */
	int64_t sync_ms; /* loop time when that was found */
	int64_t sync_s; /* its own time */
	bool noted_checkpoint;
};

struct sm_event { /* with copies of its texts */
	struct launch_event ev;
	char *text;
};

enum sm_code_step {
	SM_CODE_NONE,
	SM_CODE_PACK,
	SM_CODE_HEAD,
	SM_CODE_PUT,
	SM_CODE_PUT_RUN,
	SM_CODE_WAIT, /* temporary failure: retry later */
	SM_CODE_READY
};

struct sm_code {
	enum sm_code_step step;
	char *path; /* of the archive in NAME.d */
	char *key; /* prefix of run.sh and code.tar.gz, "…/code/HASH" */
	struct capture *tar;
	struct aws_call *call;
	struct loop_timer *timer;
	int tries;
	bool said_trouble;
};

struct sm_poll {
	struct loop_timer *timer;
	struct aws_call *call; /* a page */
	int pages; /* of this list */
	char *token; /* of the previous page */
	int64_t due_ms; /* loop time of the next list; INT64_MAX = none */
	double oldest_s; /* lower bound of creation times; 0 = none */
	bool again; /* repeat: an event came during the list */
	bool said_trouble;
};

struct sm_warm_pool { /* of an ended job */
	int64_t trial;
	int attempt;
	char job[SM_NAME_MAX];
	double cost, rate; /* dollars without it; dollars per second of it */
	int64_t since_ms; /* loop time */
};

struct sm_warm_pools {
	struct sm_warm_pool *rows; /* the first is queried next */
	size_t n;
	struct aws_call *call;
	struct loop_timer *timer;
};

struct sm {
	struct loop *loop;
	launch_cb *event;
	void *arg;
	char *study, *study_id, *metric, *state_dir;
	bool maximize;
	bool watched; /* some job had an alarm or event rule */
	bool hold; /* create nothing */
	bool usage_denied; /* the denial was noted */
	const struct study_trial *trial;
	struct study_trial *algorithm_trial; /* with its patterns; or NULL */
	struct sm_settings *set;
	struct aws *aws;
	struct sm_logs *logs;
	struct sm_watch *watch;
	char prefix[SM_NAME_MAX];
	char place[64]; /* REGION/ACCOUNT of the role */
	char *study_key;
	struct launch_times times;
	int parallel;
	int slots; /* last value sent */

	struct sm_attempt **attempts; /* in the order of arrival */
	size_t n, cap;
	struct sm_event *queue;
	size_t n_queue, cap_queue;

	int creating; /* Creates in flight */
	struct sm_code code;
	struct sm_poll poll;
	struct sm_cap *caps;
	size_t n_caps;
	struct sm_warm_pools pools;
	struct loop_timer *cap_timer;
	struct loop_timer *checkpoint_timer;
};

/* sm-events.c */
/* Milliseconds of this many seconds at the backend's pace. */
int64_t sm_ms(const struct sm *, int seconds);
/* Milliseconds of the pause before try n + 1. */
int64_t sm_pause_ms(const struct sm *, int n);

struct sm_attempt *sm_find(struct sm *, int64_t trial, int attempt);
/* Queue an event until collect; texts are copied. */
void sm_events_emit(struct sm *, const struct launch_event *);
/* A note about one attempt, or (NULL) the study. */
void sm_events_note(struct sm *, const struct sm_attempt *, enum launch_level,
    const char *, ...) __attribute__((format(printf, 4, 5)));
/*
 * Write the attempt's machine and job: "ml.g5.xlarge spot JOB"; buf of n bytes.
 */
void sm_events_place_text(const struct sm_attempt *, char *buf, size_t n);
/* Send LAUNCH_PLACE once, for attempts that never train. */
void sm_events_place(struct sm_attempt *);
/* End the attempt: queue a->exit or, if lost, a->lost_why. */
void sm_events_over(struct sm_attempt *);
/*
 * End it as not created, for a reason that is not its own: the tuner retries it
 * until the user has fixed the cause.
 */
void sm_events_over_unmade(struct sm_attempt *, const char *why);
/* Send that the attempt's job exists. */
void sm_events_accepted(struct sm_attempt *);

/* sm-owner-errors.c (pure) */
/*
 * Whether this refusal is a problem of the account instead of the trial: a
 * missing permission, role or bucket.  Then why is one clause with the problem
 * and its remedy. code: from AWS, "" = none.
 */
bool sm_owner_errors_why(char *why, size_t n, const struct sm_settings *,
    const char *code, const char *message);

/* sm-warm-pool.c */
/* The attempt's end was sent: query the billed time of its warm pool. */
void sm_warm_pool_add(struct sm_attempt *);
void sm_warm_pool_close(struct sm *);

/* sagemaker.c */
extern const struct backend_type backend_sagemaker;

/* sm-code-upload.c */
/* Upload the code; attempts in SM_CODE continue afterwards. */
void sm_code_upload_start(struct sm *);
void sm_code_upload_close(struct sm *);

/* sm-create.c */
/* Make the attempt's folder, and send its Create when a lane is free. */
int sm_create_queue(struct sm_attempt *, struct err *);
/* Send queued Creates while lanes are free. */
void sm_create_pump(struct sm *);
/* Describe reports "no such job", and it was never seen. */
void sm_create_absent(struct sm_attempt *);
/* Another job has this name. */
void sm_create_collision(struct sm_attempt *);
/*
 * Adopt an attempt: the note on disk shows what an earlier server may have
 * sent. -1: its job is in another region or account.
 */
int sm_create_adopt(struct sm_attempt *, int64_t wall_s, struct err *);
/* A stop is requested while it is unknown whether the job exists. */
void sm_create_cancel(struct sm_attempt *);

/* sm-job-update.c */
void sm_job_update_started(struct sm_attempt *, int64_t started_us);
void sm_job_update_follow(struct sm_attempt *);
/* Request the stop of a job until AWS accepts it. */
void sm_job_update_stop(struct sm_attempt *);
/* Whether its stop was accepted long ago. */
bool sm_job_update_stop_overdue(const struct sm_attempt *);
/* A description of its job came, or AWS knows no such job. */
void sm_job_update_seen(struct sm_attempt *, const struct sm_job *);
void sm_job_update_missing(struct sm_attempt *);

/* sm-gpu-usage.c */
/* The attempt trains: query its GPU use at intervals. */
void sm_gpu_usage_follow(struct sm_attempt *);
/*
 * The attempt has ended, its output is read: query once more, then
 * sm_events_over.
 */
void sm_gpu_usage_last(struct sm_attempt *);
void sm_gpu_usage_free(struct sm_attempt *);

/* sm-gc.c, sm-doctor.c, sm-tuning-job.c, sm-download.c */
int sm_gc_strays(
    const struct launch_env *, launch_stray_cb *, void *, struct err *);
int
sm_doctor(const struct launch_env *, launch_doctor_cb *, void *, struct err *);
int sm_tuning(
    struct loop *, const struct launch_tuning *, struct buf *, struct err *);
int sm_download(
    const struct launch_env *, const char *uri, const char *dir, struct err *);

#endif /* HPOTUNE_SM_INTERNAL_H */
