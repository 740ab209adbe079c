/*
 * Declarations shared by the files of the log reader.
 *
 *	sm-log.c		jobs to follow, by streams or by the sweep
 *	sm-log-streams.c	the streams of one job
 *	sm-log-drain.c		after the end the rest, then everything again
 *	sm-log-file.c		the copy for "hpotune logs"
 *	sm-log-filter.c		the sweep over all jobs
 *	sm-log-events.c		events of a stream, or of the sweep -> reports
 *	sm-log-seen.c		sets of hashes of what has been read
 *	sm-log-line.c		one line -> a report (no I/O)
 */

#ifndef HPOTUNE_SM_LOG_INTERNAL_H
#define HPOTUNE_SM_LOG_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "trials/aws/aws.h"
#include "trials/backend.h"
#include "trials/metric-line/metric-line.h"
#include "trials/sagemaker/logs/sm-log-seen.h"
#include "trials/sagemaker/logs/sm-log.h"

#define SM_LOG_GROUP "/aws/sagemaker/TrainingJobs"

enum {
	SM_LOG_LIMIT = 10000, /* events per answer: the maximum */
	SM_LOG_OVERLAP_MS = 300000, /* overlap that a restart reads again */
	SM_LOG_FILTER_ABOVE = 20, /* with more jobs, use the sweep */
	SM_LOG_FILTER_UNTIL = 16, /* … until there are this few */
	/* maximum bytes of the copy; keeps the end */
	SM_LOG_FILE_MOST = 64 << 20,
	SM_LOG_REASONS = 4 /* reasons noted per job */
};

struct sm_log_stream {
	char *name;
	char *token; /* nextForwardToken; NULL = from the start */
};

/* Counts equal reports of one millisecond. */
struct sm_tick {
	int64_t ms;
	struct sm_log_seen said;
};

/* Reading position in one stream. */
struct sm_reading {
	struct sm_tick tick;
	uint64_t last; /* hash of the last event */
	char *held; /* a line that may continue in the next event, or NULL */
	int64_t held_ms;
};

enum sm_log_phase {
	SM_LOG_FOLLOW,
	SM_LOG_END, /* reading the rest */
	SM_LOG_DONE
};

struct sm_log {
	struct sm_logs *logs;
	struct metric_log *states; /* between its lines */
	int64_t trial;
	int attempt;
	char *job;
	char *dir;
	enum sm_log_phase phase;
	struct sm_log_stream *streams; /* sorted by name, that is by start */
	size_t n_streams, at;
	bool discover; /* a new stream may exist */
	void (*then)(struct sm_log *, bool good); /* after discovery */
	int64_t discovered_ms;
	struct aws_call *call;
	struct loop_timer *timer;
	int quick; /* reads in a row without a pause */
	int64_t begun_ms; /* wall time since when it is followed */
	int64_t from_ms; /* oldest event to be read */
	int64_t overlap_ms; /* overlap when a token is rejected */
	int64_t cursor_ms; /* newest delivered event */
	int64_t written_ms; /* newest event in the file "log" */
	int64_t skip_ms; /* events up to here are in the file already */
	struct sm_reading reading;
	struct sm_tick filter_tick;
	const char *whys[SM_LOG_REASONS]; /* reasons already noted */
	struct buf lines; /* lines of a page, for the file */
	FILE *file; /* of the last pass */

	/* after the end of the job; loop times */
	int64_t end_ms; /* deadline */
	int64_t quiet_ms; /* since when no event arrived */
	int64_t drain_from_ms; /* its cursor at the end: polls start near it */
	bool orderly; /* the entry script's last line must come */
	bool ended; /* the newest stream has the entry script's last line */
	bool whole; /* in the final pass over everything */
	/* events in this poll and the previous one; -1 */
	int64_t n_events, n_before;
	int pages;
	int failures; /* in a row: of reads, later of passes */
	bool barred; /* permanent failure: a retry is useless */
	void (*done)(void *arg);
	void *done_arg;
};

struct sm_log_filter {
	struct loop_timer *timer;
	struct aws_call *call;
	char *token;
	int64_t from_ms; /* start of this sweep */
	int64_t newest_ms; /* newest event read */
	int64_t behind_ms; /* latest start of the next sweep */
	int pages;
	struct sm_log_seen now, before;
	bool on;
};

struct sm_logs {
	struct sm_logs_env env; /* texts are copies */
	struct metric_patterns *rules;
	/* scratch memory, shared because it is large */
	struct metric_line *report;
	struct sm_log **all;
	size_t n;
	struct sm_log_filter sweep;
	struct sm_log_metric_data *metrics; /* sm-log-metric-data.c, or NULL */
	int64_t file_most; /* maximum bytes of a copy */
	int64_t denied_ms; /* since when every answer is a denial; 0 */
	bool said_trouble;
};

/* sm-log.c */
/* Milliseconds of this many seconds at the backend's pace. */
int64_t sm_logs_ms(const struct sm_logs *, double seconds);
void sm_logs_note(
    struct sm_logs *, const struct sm_log *, enum launch_level, const char *);
/*
 * Whether the logs have been denied for so long that metrics are read from
 * CloudWatch from now on: permissions of a new job or role take effect late.
 */
bool sm_logs_denied(struct sm_logs *, const struct aws_answer *);
/* Handle a failed request: whether a retry may help. */
void sm_log_failed(struct sm_log *, const struct aws_answer *);

/* sm-log-events.c */
void sm_log_events_tick_clear(struct sm_tick *);
void sm_log_events_clear(struct sm_reading *);
/* Send the cursor. */
void sm_log_events_advance(struct sm_log *, int64_t ms);
struct sm_page {
	int n; /* number of events */
	size_t bytes;
};
/* Process an event of the sweep; with tell false it is only counted. */
void sm_log_events_from_filter(
    struct sm_log *, struct sm_tick *, int64_t ms, const char *text, bool tell);
/* Pass the events of a GetLogEvents answer to line. */
struct sm_page sm_log_events_page(struct sm_log *, const struct json *answer,
    void (*line)(struct sm_log *, int64_t ms, const char *text));

/* sm-log-metric-data.c */
struct sm_log_metric_data *sm_log_metric_data_new(struct sm_logs *);
void sm_log_metric_data_free(struct sm_log_metric_data *);
/* The job has ended: read its last minutes, then call done. */
void sm_log_metric_data_finish(struct sm_log_metric_data *, struct sm_log *);

#endif /* HPOTUNE_SM_LOG_INTERNAL_H */
