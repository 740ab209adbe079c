/* Reads the output of jobs from CloudWatch. */

#ifndef HPOTUNE_SM_LOG_H
#define HPOTUNE_SM_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct aws;
struct buf;
struct err;
struct launch_event;
struct loop;
struct study_trial;

struct sm_log; /* the output of one attempt's job */
/*
 * The reader for all attempts.  Reports, cursors and notes go through emit,
 * which keeps them until collect.  Reads the streams of JOB/algo-1 in rotation
 * by GetLogEvents, or, with many attempts, all by one FilterLogEvents sweep.
 */
struct sm_logs;
struct sm_logs_env {
	struct loop *loop;
	struct aws *aws;
	const struct study_trial *settings; /* metrics, step_regex */
	const char *metric;
	const char *prefix; /* of job names */
	double pace;
	bool cloudwatch; /* use GetMetricData instead of the logs */
	bool pieces; /* lines may be split into two events (toolkit) */
	void (*emit)(void *arg, const struct launch_event *);
	void *arg;
};
int sm_logs_open(struct sm_logs **, const struct sm_logs_env *, struct err *);
void sm_logs_close(struct sm_logs *);
/*
 * Start to read the output of a job: since is the newest recorded event (ms
 * since 1970; 0 = read all). dir: folder of its file "log".
 */
struct sm_log *sm_log_follow(struct sm_logs *, int64_t trial, int attempt,
    const char *job, const char *dir, int64_t since_ms);
/* The job was interrupted or restarted: expect another stream. */
void sm_log_restarted(struct sm_log *);
/*
 * The job has ended: read until no events arrive, then everything once more;
 * then done is called from the loop, and the log may be freed. orderly: the
 * entry script's last line must come.
 */
void sm_log_finish(
    struct sm_log *, bool orderly, void (*done)(void *arg), void *arg);
void sm_log_free(struct sm_log *);
/*
 * Append what the copy of a log in the folder of an ended attempt shows of a
 * metric that it did not report; false: nothing.
 */
bool sm_logs_unread(
    struct sm_logs *, const char *folder, const char *metric, struct buf *why);

#endif /* HPOTUNE_SM_LOG_H */
