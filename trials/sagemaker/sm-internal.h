/*
 * The sagemaker launcher: what the files of the plug share.
 *
 *   sagemaker.c         the plug itself
 *   sm-events.c   what was heard, until collect
 *   sm-open.c    the launcher comes and goes
 *   sm-code-upload.c    the code folder to S3, once; sm-code-archive.c
 *   sm-create.c  create, adopt, quarantine; the table of what may fail
 *   sm-create-note.c    the note on disk that a Create may be on its way
 *   sm-poll.c    list and describe
 *   sm-job-update.c    what a description changes; stop; end
 *   sm-bill.c    what a job is billed for, and may come to
 *   sm-warm-pool.c    what warm pools come to
 *   sm-job-status.c     what a job and its end were (pure)
 *   sm-owner-errors.c   what the owner of the account has to mend (pure)
 *   sm-quota.c   how many jobs AWS lets us have
 *   sm-checkpoint-watch.c    whether checkpoints still come to S3
 *   sm-gpu-usage.c   what its GPUs did, from CloudWatch
 *   sm-gc.c      jobs that nobody owns; sm-doctor.c
 */

#ifndef HPOTUNE_SM_INTERNAL_H
#define HPOTUNE_SM_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "trials/aws/aws.h"
#include "trials/launcher.h"
#include "trials/sagemaker/logs/sm-log.h"
#include "trials/sagemaker/request/sm-request.h"

struct capture;
struct err;
struct json;
struct loop;
struct loop_timer;
struct sm_watch;

/* All of these are seconds at pace 1. */
enum {
	SM_LIST_S = 15, /* between two sweeps of the list */
	SM_LIST_SOON_S = 2, /* the first one after something happened */
	SM_LOST_S = 60, /* a job must be missing for so long */
	SM_QUARANTINE_S = 900, /* a signed request may act for so long */
	SM_CALL_S = 900, /* the tries of one call take so long at most */
	SM_RETRY_S = 5, /* before another Create, Describe or Stop */
	SM_RETRY_MOST_S = 60,
	SM_PROBE_S = 300, /* a lowered cap rises by one */
	SM_PROBE_NONE_S = 3600, /* a type that may not be used is tried again */
	SM_CHECKPOINT_WATCH_S = 600, /* between two looks at the checkpoints */
	SM_CHECKPOINT_LATE_S = 1800 /* reports, but no checkpoint for so long */
};

enum {
	SM_LANES = 4, /* Creates that the client has at once */
	SM_PAGES = 100, /* of one sweep */
	SM_MISSING_TIMES = 3, /* descriptions that must say "no such job" */
	SM_SLOTS_DEFAULT = 10
};

/* ---- what is billed (sm-bill.c) ----------------------------------- */

enum sm_phase {
	SM_PHASE_WAIT, /* without a machine */
	SM_PHASE_DOWNLOAD,
	SM_PHASE_TRAIN,
	SM_PHASE_STOP,
	SM_PHASE_UPLOAD,
	SM_PHASE_OVER
};
/* Of a secondary status; what it was when the word is not known. */
enum sm_phase sm_bill_phase_read(const char *word, enum sm_phase was);

/* Seconds of one job, as its history shows them; those of its phase may lack. */
struct sm_bill_meter {
	enum sm_phase phase; /* now */
	double span_s; /* of it, as far as they are counted */
	double paid_s; /* with a machine */
	double trained_s;
	double before_s, after_s; /* its longest download and upload */
};
/* It is in this phase after s more seconds in the one before. */
void sm_bill_meter_move(struct sm_bill_meter *, enum sm_phase, double s);
/*
 * From a description.  since_s: when its last phase began, in seconds since
 * 1970, where it is not over; else 0.
 */
void sm_bill_meter_read(
    struct sm_bill_meter *, double *since_s, const struct json *description);
/* Of a job that is over: to what AWS counts. */
void sm_bill_meter_scale(struct sm_bill_meter *, double training_s);

/* What is reckoned with before, and after, the training of any job: seconds. */
double
sm_bill_before_s(const struct sm_settings *, const struct launch_times *);
double sm_bill_after_s(const struct sm_settings *, const struct launch_times *);
/* True: one of them is longer than any before. */
bool
sm_bill_times_learn(struct launch_times *, double before_s, double after_s);

struct sm_estimate {
	double most_s; /* when nobody ends it */
	double least_s; /* when it is told to end now */
	bool trains; /* or will */
};
/*
 * Of a job that has been in its phase for since_s seconds, when news of it may
 * be late_s old.
 */
void sm_bill_estimate(struct sm_estimate *, const struct sm_bill_meter *,
    const struct sm_settings *, const struct launch_times *, bool spot,
    double since_s, double late_s);

/* ---- a job as DescribeTrainingJob tells it (sm-job-status.c, pure) ------- */

enum sm_status {
	SM_IN_PROGRESS, /* and every word that is not known */
	SM_STOPPING,
	SM_COMPLETED,
	SM_FAILED,
	SM_STOPPED,
	SM_DELETING
};

struct sm_job {
	enum sm_status status;
	char secondary[32];
	const char *uuid; /* of our environment variable or, of an
			   * algorithm, of its output path; NULL = none */
	const char *type; /* NULL with groups */
	int instances; /* 0 = not told */
	bool spot;
	bool trained; /* its container has been there */
	int interruptions;
	double interrupted_s; /* the last one, 0 = none */
	double created_s, started_s, ended_s; /* since 1970; 0 = not told */
	double training_s, billable_s; /* NaN = not told */
	struct sm_bill_meter meter;
	double since_s; /* when its last phase began; 0 = not told */
	double idle_s; /* billed of its warm pool; NaN = not told */
	const char *reason; /* FailureReason, "" = none */
	const char *model; /* URI of what it leaves; NULL = not told */
};

/*
 * Seconds of a member, or since 1970; otherwise when it is no number from 0 to
 * the year 10000.
 */
double
sm_job_status_seconds(const struct json *, const char *key, double otherwise);
/* Texts are borrowed from the JSON. */
void sm_job_status_read(struct sm_job *, const struct json *);
enum sm_status sm_job_status_parse(const char *);
bool sm_job_status_over(enum sm_status);
/* How far a job in this secondary status has come: only greater is news. */
int sm_job_status_rank(const char *);
/* Where a job's output is, from where its model is; "" = not known; owned. */
char *sm_job_status_output_uri(const char *model);
/*
 * What its end was.  stop: we had asked for it.  The cost is left to the
 * caller.  False: it is over and nobody knows how (it is being deleted).
 */
bool sm_job_status_end(struct launch_exit *, const struct sm_job *, bool stop);
/* The N of "exit code: N" in a reason; -1 when it does not say. */
int sm_job_status_exit_code(const char *reason);

/* ---- quota ---------------------------------------------------------------- */

struct sm_limit { /* what ResourceLimitExceeded says */
	char type[32]; /* "ml.g5.xlarge", "" = it does not say */
	bool spot;
	bool warm; /* of warm pools, not of jobs */
	int limit, in_use, delta; /* instances; -1 = it does not say */
};
/* False: the text says nothing of limits that we understand. */
bool sm_quota_limit_read(struct sm_limit *, const char *text);

struct sm_cap { /* jobs of one kind of machine that we may have */
	char type[32];
	bool spot;
	int jobs;
	int64_t since_ms; /* loop time of its last change */
};

/* ---- an attempt ------------------------------------------------------------ */

enum sm_state {
	SM_CODE, /* waits for the code to be in S3 */
	SM_QUEUED, /* its Create is not with the client */
	SM_SENT, /* Create is on its way, or its answer was not clear */
	SM_ADOPT, /* found in the store: is there a job? */
	SM_ABANDON, /* unwanted, and perhaps never created: quarantine */
	SM_CREATED, /* it exists and does not train yet */
	SM_RUNNING,
	SM_DRAIN, /* over; its last output is read */
	SM_OVER /* LAUNCH_EXIT or LAUNCH_LOST is in the queue */
};

struct sm_gpu_usage { /* of its GPUs, as CloudWatch tells it */
	struct aws_call *call;
	struct loop_timer *timer; /* the next look */
	char *body, *token; /* of the request that is under way */
	double period; /* seconds of one value */
	double busy; /* GPU seconds */
	double points; /* values of all machines */
	int hosts; /* machines that have any */
	int pages;
	bool last; /* the attempt is over when this one is answered */
};

struct sm_attempt {
	struct sm *sm;
	int64_t trial;
	int attempt;
	char uuid[37];
	char job[SM_NAME_MAX];
	char *dir; /* trial_dir/attempt-N */
	struct launch_spec *spec; /* a copy, until the job exists */
	char *body; /* of Create, the same */
	struct sm_plan plan;
	enum sm_state state;

	bool found; /* an earlier server may have sent its Create */
	bool up; /* LAUNCH_UP was told, now or by an earlier server */
	bool placed; /* LAUNCH_PLACE was told, or LAUNCH_UP */
	bool checked; /* described once since it came to be */
	bool trained;
	bool watched; /* from outside, too */
	bool stop; /* its end is wanted */
	bool stop_sent; /* and AWS has said yes */
	bool late; /* the last sweep has not seen it */
	bool said_trouble, noted_stop;
	bool noted_overdue[2]; /* [1] its upload, [0] its download */
	enum sm_status status;
	char secondary[32]; /* as last heard */
	double created_s; /* the other side's clock; 0 = not told */
	struct sm_bill_meter meter; /* as last heard */
	bool metered; /* it was described */
	int64_t phase_ms; /* loop time when its phase was seen first */
	double phase_s; /* its start by the other side's clock; 0 = not told */
	int64_t
	    may_act_until_ms; /* loop time until which a Create may still act */
	int64_t stop_ms; /* loop time when AWS said yes to the stop */
	int64_t missing_ms; /* loop time of the first miss; -1 = it is there */
	int misses;
	int tries; /* of what timer waits for */

	struct aws_call *call; /* create or describe */
	struct aws_call *stop_call, *checkpoint_call;
	struct loop_timer *timer; /* the next create or describe */
	struct loop_timer *stop_timer;

	struct launch_exit exit;
	double idle_rate; /* dollars of a second of its warm pool; 0 = none */
	bool lost;
	char lost_why[160];
	/*
	 * Recorded: log is the time of the newest event that was read,
	 * metrics the interruptions that were told, metrics_skip that spot
	 * was not given.
	 */
	struct launch_cursor cursor;
	struct sm_log *log;

	struct sm_gpu_usage usage;
	int64_t reports; /* heard since its newest checkpoint came */
	int64_t sync_ms; /* loop time when that was */
	int64_t sync_s; /* its own time */
	bool noted_checkpoint;
};

/* ---- the launcher ----------------------------------------------------------- */

struct sm_event { /* with the texts it borrows, copied */
	struct launch_event ev;
	char *text;
};

enum sm_code_step {
	SM_CODE_NONE,
	SM_CODE_PACK,
	SM_CODE_HEAD,
	SM_CODE_PUT,
	SM_CODE_PUT_RUN,
	SM_CODE_WAIT, /* it failed in passing: tried again later */
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
	int pages; /* of this sweep */
	char *token; /* of the page before */
	int64_t due_ms; /* loop time of the next sweep; INT64_MAX = none */
	double oldest_s; /* nothing older is asked for; 0 = no bound */
	bool again; /* something happened during the sweep */
	bool said_trouble;
};

struct sm_warm_pool { /* of a job that has ended */
	int64_t trial;
	int attempt;
	char job[SM_NAME_MAX];
	double cost, rate; /* dollars without it; and of each second of it */
	int64_t since_ms; /* loop time */
};

struct sm_warm_pools {
	struct sm_warm_pool *rows; /* the next to be asked for first */
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
	bool watched; /* a job was, from outside */
	bool hold; /* create nothing */
	bool usage_denied; /* so was said */
	const struct study_trial *trial;
	struct study_trial *algorithm_trial; /* with its patterns; or NULL */
	struct sm_settings *set;
	struct aws *aws;
	struct sm_logs *logs;
	struct sm_watch *watch;
	char prefix[SM_NAME_MAX];
	char place[64]; /* where its jobs are: REGION/ACCOUNT of the role */
	char *study_key;
	struct launch_times times;
	int parallel;
	int slots; /* as last told */

	struct sm_attempt **attempts; /* in the order they came */
	size_t n, cap;
	struct sm_event *queue;
	size_t n_queue, cap_queue;

	int creating; /* Creates with the client */
	struct sm_code code;
	struct sm_poll poll;
	struct sm_cap *caps;
	size_t n_caps;
	struct sm_warm_pools pools;
	struct loop_timer *cap_timer;
	struct loop_timer *checkpoint_timer;
};

/* sm-events.c */
/* Milliseconds of so many seconds at this launcher's pace. */
int64_t sm_ms(const struct sm *, int seconds);
/* … of the pause before try n + 1 of something that failed. */
int64_t sm_pause_ms(const struct sm *, int n);

struct sm_attempt *sm_find(struct sm *, int64_t trial, int attempt);
/* Keep an event until collect; what it borrows is copied. */
void sm_events_emit(struct sm *, const struct launch_event *);
/* A note of one attempt, or (NULL) of the study. */
void sm_events_note(struct sm *, const struct sm_attempt *, enum launch_level,
    const char *, ...) __attribute__((format(printf, 4, 5)));
/* Its machine, and its job: "ml.g5.xlarge spot JOB"; buf of n bytes. */
void sm_events_place_text(const struct sm_attempt *, char *buf, size_t n);
/* Say so once, for attempts that never train. */
void sm_events_place(struct sm_attempt *);
/* It is over: a->exit or, when lost, a->lost_why is told next. */
void sm_events_over(struct sm_attempt *);
/* The same with an end that is no job's. */
void sm_events_over_unrun(
    struct sm_attempt *, enum end_class, bool stopped, const char *why);
/*
 * … of one that nothing was made of, for a reason that is not its own: it is
 * taken back until somebody has mended that.
 */
void sm_events_over_unmade(struct sm_attempt *, const char *why);
/* Its job is there. */
void sm_events_accepted(struct sm_attempt *);

/* sm-owner-errors.c (pure) */
/*
 * Whether this refusal is the account's, and not the trial's: a right, a role
 * or a bucket that is missing.  Then why is one clause: what is wrong, and
 * what mends it.  code: of AWS, "" = there is none.
 */
bool sm_owner_errors_why(char *why, size_t n, const struct sm_settings *,
    const char *code, const char *message);

/* sagemaker.c */
extern const struct launcher launcher_sagemaker;

/* sm-bill.c */
/* A description, and a word of the list, say how far it is. */
void sm_bill_described(struct sm_attempt *, const struct sm_job *);
void sm_bill_listed(struct sm_attempt *, const char *word);
bool sm_bill(void *sm, int64_t trial, int attempt, struct launch_bill *);

/* sm-warm-pool.c */
/* Its end is told: ask what its warm pool comes to. */
void sm_warm_pool_add(struct sm_attempt *);
void sm_warm_pool_on_timer(void *sm);
void sm_warm_pool_close(struct sm *);

/* sm-open.c */
int sm_open(void **, const struct launch_env *, struct err *);
void sm_close(void *);
/* The client and the settings without the rest, for gc and doctor. */
int sm_open_client(struct sm *, const struct launch_env *, struct err *);
/* The account number in an ARN, a new text, or NULL. */
char *sm_open_arn_account(const char *arn);
void sm_attempt_free(struct sm_attempt *);
/* Events of the output: LAUNCH_UP goes before the first report. */
void sm_open_on_log(void *sm, const struct launch_event *);

/* sm-spec-copy.c: a copy that outlives start */
struct launch_spec *sm_spec_copy(const struct launch_spec *);
void sm_spec_copy_free(struct launch_spec *);

/* sm-code-upload.c */
/* Have the code in S3; attempts in SM_CODE go on when it is there. */
void sm_code_upload_start(struct sm *);
void sm_code_upload_on_timer(void *sm);
void sm_code_upload_close(struct sm *);

/* sm-code-archive.c */
/* The words of the command that packs the code; for sm_code_archive_free. */
char **sm_code_archive_argv(
    const char *code, const char *state_dir, const char *archive);
void sm_code_archive_free(char **);

/* sm-create.c */
void sm_create_queue(struct sm_attempt *);
/* Hand Creates to the client while it has lanes free. */
void sm_create_pump(struct sm *);
/* Describe says that there is no such job, and it was never seen. */
void sm_create_absent(struct sm_attempt *);
/* The name is somebody else's. */
void sm_create_collision(struct sm_attempt *);
/*
 * Adopt it: what an earlier server may have done is on disk.  -1: its job is
 * in another place than those of this server.
 */
int sm_create_adopt(struct sm_attempt *, int64_t wall_s, struct err *);
void sm_create_on_timer(void *attempt);
/* A stop is wanted while nobody knows whether it exists. */
void sm_create_cancel(struct sm_attempt *);

/* sm-create-note.c */
/* Note, synced, that a Create goes out now. */
int sm_create_note_set(const struct sm_attempt *, int64_t wall_s, struct err *);
struct sm_create_note {
	/*
	 * Wall time of the last such note, seconds since 1970; 0 = there is
	 * none, INT64_MAX = it cannot be read.
	 */
	int64_t sent_s;
	char place[64]; /* of sm.place then; "" = not known */
};
void sm_create_note_get(struct sm_create_note *, const struct sm_attempt *);
/* All requests that were sent are refused for good: the note goes. */
void sm_create_note_drop(const struct sm_attempt *);
/* The folder of the attempt, with those above it. */
int sm_create_note_dir(const struct sm_attempt *, struct err *);

/* sm-poll.c */
/* A sweep of the list in at most so many milliseconds. */
void sm_poll_soon(struct sm *, int64_t ms);
/* Somebody says that a job has changed. */
void sm_poll_hint(struct sm *, const char *job);
void sm_poll_describe(struct sm_attempt *);
void sm_poll_describe_in(struct sm_attempt *, int64_t ms);
void sm_poll_on_timer(void *sm);
void sm_poll_close(struct sm *);

/* sm-job-update.c */
void sm_job_update_seen(struct sm_attempt *, const struct sm_job *);
void sm_job_update_started(struct sm_attempt *, int64_t started_us);
void sm_job_update_follow(struct sm_attempt *);
void sm_job_update_missing(struct sm_attempt *);
/* Ask for its end until somebody says yes. */
void sm_job_update_stop(struct sm_attempt *);
/* AWS has said yes long ago: it should not be in progress any more. */
bool sm_job_update_stop_overdue(const struct sm_attempt *);
void sm_job_update_on_stop_timer(void *attempt);

/* sm-quota.c */
/* Create said no: lower what is ours. */
void sm_quota_hit(struct sm_attempt *, const char *text);
/* One of ours has ended. */
void sm_quota_ended(struct sm_attempt *);
/* The plan of an attempt: kinds that may not be used at all are passed over. */
void sm_quota_plan(struct sm *, struct sm_plan *, int capacity);
int sm_quota_slots(const struct sm *);
void sm_quota_probe(void *sm);

/* sm-checkpoint-watch.c */
void sm_checkpoint_watch_poll(void *sm);
void sm_checkpoint_watch_report(struct sm_attempt *);

/* sm-gpu-usage.c */
/* It trains: look at its GPUs now and then. */
void sm_gpu_usage_follow(struct sm_attempt *);
/* It has ended and its output is read: once more, and then sm_events_over. */
void sm_gpu_usage_last(struct sm_attempt *);
void sm_gpu_usage_on_timer(void *attempt);
void sm_gpu_usage_free(struct sm_attempt *);

/* sm-gc.c, -doctor.c, -tuning.c, -fetch.c */
int sm_gc_strays(
    const struct launch_env *, launch_stray_cb *, void *, struct err *);
int
sm_doctor(const struct launch_env *, launch_doctor_cb *, void *, struct err *);
int sm_tuning(
    struct loop *, const struct launch_tuning *, struct buf *, struct err *);
int sm_download(
    const struct launch_env *, const char *uri, const char *dir, struct err *);

#endif /* HPOTUNE_SM_INTERNAL_H */
