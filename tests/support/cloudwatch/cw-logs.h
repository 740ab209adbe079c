/*
 * CloudWatch Logs as a list of lines, each with its time and the time when it
 * becomes readable, served to the real client; and the events of the reader.
 */

#ifndef HPOTUNE_CW_LOGS_H
#define HPOTUNE_CW_LOGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/support/aws/aws-client.h"
#include "trials/sagemaker/logs/sm-log-internal.h"

#define PACE 100.0 /* a second of the reader is 10 ms */
#define JOB "hpt-x-1-00001-01-abcdef"

struct line {
	char stream[96];
	int64_t ms, seq; /* its place */
	int64_t due_ms; /* loop time when it can be read */
	char *text; /* as it stands between quotes */
};

struct heard { /* one report, and how often it was delivered */
	int64_t trial;
	int attempt;
	char name[32];
	bool has_step;
	int64_t step;
	double value;
	int64_t time_us;
	int times;
};

struct cw_logs {
	struct aws_client rig;
	struct sm_logs *logs;
	char dir[64];
	struct line *lines; /* by place */
	size_t n_lines;
	int64_t seq;
	size_t page; /* events of one answer */

	/* Faults: at every nth chance; 0 = never. */
	int empty_every, twice_every, expire_every;
	int chances;
	bool no_group, denied, broken;
	const char *metric_data; /* the answer of GetMetricData, or NULL */
	const char *metric_page; /* while two jobs are asked for */
	int gets, filters, finds, metrics; /* requests */
	struct buf answer;

	struct heard *heard;
	size_t n_heard;
	int64_t cursor_ms; /* last cursor delivered */
	struct buf notes;
	void (*also)(struct cw_logs *, const struct launch_event *);
	int done;
	bool (*until)(struct cw_logs *);
	int64_t deadline_ms;
	int64_t start_ms; /* of the lines of steps */
	size_t wanted;
};

/* set: changes of the reader's environment before it opens, or NULL. */
void
cw_logs_open(struct cw_logs *, double pace, void (*set)(struct sm_logs_env *));
void cw_logs_close(struct cw_logs *);
/* A line of JOB/algo-1-START; text is not escaped. */
void cw_logs_add(struct cw_logs *, const char *job, int start, int64_t ms,
    int64_t delay_ms, const char *text);
/* Answers of the other side. */
void cw_server_decide(struct aws_client *, const struct asked *, struct step *);
/* Run until the condition holds; false after some seconds. */
bool cw_logs_run(struct cw_logs *, bool (*until)(struct cw_logs *));
/* Run until this many different reports were delivered. */
bool cw_logs_reports(struct cw_logs *, size_t);
/* Whether a note was sent. */
bool cw_logs_noted(struct cw_logs *);
/* Open it at PACE, and let steps begin a quarter of an hour ago. */
void cw_logs_now(struct cw_logs *, void (*set)(struct sm_logs_env *));
/* The report of a step of JOB, a second after the one before. */
void cw_logs_step(struct cw_logs *, int step, int64_t delay_ms);
/* For sm_log_finish, arg = the rig. */
void cw_logs_done(void *);
struct sm_log *cw_logs_follow(
    struct cw_logs *, int64_t trial, const char *job, int64_t since_ms);
/* Finish them all and run until they are done. */
bool cw_logs_finish(struct cw_logs *, bool orderly);
/* What is in the copy of a trial, a new text; "" when there is none. */
char *cw_logs_copy(struct cw_logs *, int64_t trial);

#endif /* HPOTUNE_CW_LOGS_H */
