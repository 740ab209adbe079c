/* The output of jobs, read from CloudWatch. */

#ifndef HPOTUNE_SM_LOG_H
#define HPOTUNE_SM_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct aws;
struct err;
struct launch_event;
struct loop;
struct study_trial;

struct sm_log; /* the output of one attempt's job */
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

#endif /* HPOTUNE_SM_LOG_H */
