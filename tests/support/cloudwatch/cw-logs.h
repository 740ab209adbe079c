/*
 * CloudWatch Logs as a list of lines, each with its time and the time from when
 * on it can be read, served to the real client; and what the reader told.
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

struct heard { /* one report, however often it was told */
	int64_t trial;
	int attempt;
	char name[32];
	bool has_step;
	int64_t step;
	double value;
	int64_t time_us;
	int times;
};

struct log_rig {
	struct rig rig;
	struct sm_logs *logs;
	char dir[64];
	struct line *lines; /* by place */
	size_t n_lines;
	int64_t seq;
	size_t page; /* events of one answer */

	/* What goes wrong, at every so manyth chance; 0 = never. */
	int empty_every, twice_every, expire_every;
	int chances;
	bool no_group, denied, broken;
	const char *metric_data; /* the answer of GetMetricData, or NULL */
	const char *metric_page; /* while two jobs are asked for */
	int gets, filters, finds, metrics; /* requests */
	struct buf answer;

	struct heard *heard;
	size_t n_heard;
	int64_t cursor_ms; /* the last that was told */
	struct buf notes;
	void (*also)(struct log_rig *, const struct launch_event *);
	int done;
	bool (*until)(struct log_rig *);
	int64_t deadline_ms;
	int64_t start_ms; /* of the lines of steps */
	size_t wanted;
};

/* set: changes of the reader's environment before it opens, or NULL. */
void
log_rig_open(struct log_rig *, double pace, void (*set)(struct sm_logs_env *));
void log_rig_close(struct log_rig *);
/* A line of JOB/algo-1-START; text is not escaped. */
void log_rig_say(struct log_rig *, const char *job, int start, int64_t ms,
    int64_t delay_ms, const char *text);
/* Answers of the other side. */
void log_rig_decide(struct rig *, const struct asked *, struct step *);
/* Until it is so; false after some seconds without. */
bool log_rig_run(struct log_rig *, bool (*until)(struct log_rig *));
/* Until so many different reports were told. */
bool log_rig_hears(struct log_rig *, size_t);
/* Whether anything was said for people. */
bool log_rig_noted(struct log_rig *);
/* Open it at PACE, and let steps begin a quarter of an hour ago. */
void log_rig_now(struct log_rig *, void (*set)(struct sm_logs_env *));
/* The report of a step of JOB, a second after the one before. */
void log_rig_step(struct log_rig *, int step, int64_t delay_ms);
/* For sm_log_finish, arg = the rig. */
void log_rig_done(void *);
struct sm_log *log_rig_follow(
    struct log_rig *, int64_t trial, const char *job, int64_t since_ms);
/* Finish them all and run until they are done. */
bool log_rig_finish(struct log_rig *, bool orderly);
/* What is in the copy of a trial, a new text; "" when there is none. */
char *log_rig_copy(struct log_rig *, int64_t trial);

#endif /* HPOTUNE_CW_LOGS_H */
