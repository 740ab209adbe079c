/*
 * What the files of the log reader share.
 *
 *   sm-log.c       who is followed, and how: streams or the sweep
 *   sm-log-events.c   events of a stream -> reports
 *   sm-log-streams.c   the streams of one job
 *   sm-log-drain.c    until nothing new comes, then everything once more
 *   sm-log-filter.c  all jobs at once
 *   sm-log-seen.c   what was heard before
 *   sm-log-file.c   the copy for "hpotune logs"
 *   sm-log-line.c      one line -> a report (pure)
 */

#ifndef HPOTUNE_SM_LOG_INTERNAL_H
#define HPOTUNE_SM_LOG_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "trials/aws/aws.h"
#include "trials/launcher.h"
#include "trials/metric-line/metric-line.h"
#include "trials/sagemaker/logs/sm-log.h"

#define SM_LOG_GROUP "/aws/sagemaker/TrainingJobs"

enum {
	SM_LOG_LIMIT = 10000, /* events of one answer: the most there is */
	SM_LOG_OVERLAP_MS = 300000, /* a restart reads so much again */
	SM_LOG_FILTER_ABOVE = 20, /* jobs; more are swept */
	SM_LOG_FILTER_UNTIL = 16, /* … until they are so few again */
	SM_LOG_FILE_MOST = 64 << 20, /* bytes of the copy, the newest */
	SM_LOG_REASONS = 4 /* reasons told of one job */
};

/* ---- lines (pure) --------------------------------------------------------- */

/*
 * The text of one log event -> a report.  Beside what metric_line_parse takes:
 * the tag "hpotune-json:" of our entry script before a line of the metrics
 * file, and the prefix that mpirun puts before the output of rank 0.
 */
bool sm_log_line_parse(
    struct metric_line *, const struct metric_patterns *, const char *, size_t);
/*
 * Our entry script says that the trial has ended; the last line there is.  What
 * the trial wrote without a newline stands before it, so many bytes.
 */
bool sm_log_line_ends(const char *text, size_t *before);
/*
 * The entry script repeats the metrics file in between: bytes of an unended
 * line of the trial before such a line; 0 = none.
 */
size_t sm_log_line_head(const char *text);
/*
 * Where lines may be cut in two: whether this one may go on in the next event
 * and matters.  The report is scratch.
 */
bool sm_log_line_open(
    struct metric_line *, const struct metric_patterns *, const char *text);
enum sm_log_line_next {
	SM_LOG_LINE_WHOLE, /* next is another line */
	SM_LOG_LINE_GOES_ON, /* next is its other half: *joined is both */
	SM_LOG_LINE_OTHER, /* next is of another rank */
	SM_LOG_LINE_DOUBT /* next may be the other half of a number */
};
enum sm_log_line_next sm_log_line_join(const struct metric_patterns *,
    const char *held, const char *next, char **joined);

/* ---- one job ---------------------------------------------------------------- */

struct sm_log_stream {
	char *name;
	char *token; /* nextForwardToken; NULL = from its start */
};

struct sm_log_seen { /* a set of hashes */
	uint64_t *slots;
	size_t cap, n;
};

/* Equal reports of one millisecond are told apart by their number. */
struct sm_tick {
	int64_t ms;
	struct sm_log_seen said;
};

/* One stream in its order, from somewhere on. */
struct sm_reading {
	struct sm_tick tick;
	uint64_t last; /* the event that was read last, as a hash */
	char *held; /* a line that may go on in the next event, or NULL */
	int64_t held_ms;
};

enum sm_log_phase {
	SM_LOG_FOLLOW,
	SM_LOG_END, /* until nothing new comes */
	SM_LOG_DONE
};

struct sm_log {
	struct sm_logs *logs;
	int64_t trial;
	int attempt;
	char *job;
	char *dir;
	enum sm_log_phase phase;
	struct sm_log_stream *streams; /* by name, that is by their start */
	size_t n_streams, at;
	bool discover; /* there may be another stream */
	void (*then)(struct sm_log *, bool good); /* of discovery */
	int64_t discovered_ms;
	struct aws_call *call;
	struct loop_timer *timer;
	int quick; /* reads in a row without a pause */
	int64_t begun_ms; /* wall time when it was first followed */
	int64_t from_ms; /* nothing older is read */
	int64_t overlap_ms; /* read again when a token is refused */
	int64_t cursor_ms; /* newest event that was delivered */
	int64_t written_ms; /* newest event in the file "log" */
	int64_t skip_ms; /* what is not newer is in the file already */
	struct sm_reading reading;
	struct sm_tick filter_tick;
	const char *whys[SM_LOG_REASONS]; /* told, why lines were passed over */
	struct buf lines; /* of a page, for the file */
	FILE *file; /* of the last pass */

	/* when the job is over; loop times */
	int64_t end_ms; /* when it is waited for no more */
	int64_t quiet_ms; /* since then nothing new came */
	int64_t
	    drain_from_ms; /* its cursor at the end: looks read from about there */
	bool orderly; /* that last line is sure to come */
	bool ended; /* the newest stream has the entry script's last line */
	bool whole; /* the last pass, of everything */
	int64_t n_events, n_before; /* of this look, and the one before; -1 */
	int pages;
	int failures; /* in a row: of reads, later of passes */
	bool barred; /* by the last: asking again is no use */
	void (*done)(void *arg);
	void *done_arg;
};

struct sm_log_filter {
	struct loop_timer *timer;
	struct aws_call *call;
	char *token;
	int64_t from_ms; /* of this sweep */
	int64_t newest_ms; /* event heard of */
	int64_t behind_ms; /* where the next one has to begin at the latest */
	int pages;
	struct sm_log_seen now, before;
	bool on;
};

struct sm_logs {
	struct sm_logs_env env; /* texts are copies */
	struct metric_patterns *rules;
	struct metric_line *report; /* large: one for all */
	struct sm_log **all;
	size_t n;
	struct sm_log_filter sweep;
	struct sm_log_metric_data *metrics; /* sm-log-metric-data.c, or NULL */
	int64_t file_most; /* bytes of a copy */
	int64_t denied_ms; /* since then every answer was a denial; 0 */
	bool said_trouble;
};

/* sm-log.c */
/* Milliseconds at this pace. */
int64_t sm_logs_ms(const struct sm_logs *, double seconds);
/* How often one job's stream is read. */
int64_t sm_logs_period_ms(const struct sm_logs *);
void sm_logs_note(
    struct sm_logs *, const struct sm_log *, enum launch_level, const char *);
/* An answer that is none: whether asking again may help. */
void sm_log_failed(struct sm_log *, const struct aws_answer *);
/*
 * Whether the logs are denied, and have been for so long that metrics come
 * from CloudWatch from now on: rights of a new job, or role, come late.
 */
bool sm_logs_denied(struct sm_logs *, const struct aws_answer *);
void sm_logs_mode(struct sm_logs *);

/* sm-log-events.c */
void sm_log_events_tick_clear(struct sm_tick *);
void sm_log_events_clear(struct sm_reading *);
/* The next event of a stream. */
void sm_log_events_next(
    struct sm_log *, struct sm_reading *, int64_t ms, const char *text);
/* An event of the sweep; without tell it is only counted. */
void sm_log_events_from_filter(
    struct sm_log *, struct sm_tick *, int64_t ms, const char *text, bool tell);
/* Tell how far it was read. */
void sm_log_events_advance(struct sm_log *, int64_t ms);
struct sm_page {
	int n; /* events */
	size_t bytes;
};
/* The events of an answer to GetLogEvents, each to line, too. */
struct sm_page sm_log_events_page(struct sm_log *, const struct json *answer,
    void (*line)(struct sm_log *, int64_t ms, const char *text));

/* sm-log-seen.c */
#define SM_LOG_SEEN_HASH UINT64_C(14695981039346656037) /* to begin with */
uint64_t sm_log_seen_hash(uint64_t, const void *, size_t);
void sm_log_seen_free(struct sm_log_seen *);
/* True: it was in the set already. */
bool sm_log_seen_add(struct sm_log_seen *, uint64_t);
bool sm_log_seen_has(const struct sm_log_seen *, uint64_t);
/* All of another set. */
void sm_log_seen_join(struct sm_log_seen *, const struct sm_log_seen *);

/* sm-log-streams.c */
void sm_log_streams_on_timer(void *log);
/* DescribeLogStreams, then then(log, good). */
void sm_log_streams_discover(
    struct sm_log *, void (*then)(struct sm_log *, bool good));
void sm_log_streams_free(struct sm_log *);
/* The body of GetLogEvents. */
void sm_log_streams_get(
    struct sm_log *, struct sm_log_stream *, int64_t from_ms, aws_cb *);

/* sm-log-drain.c */
void sm_log_drain(struct sm_log *);
void sm_log_drain_pass(struct sm_log *);

/* sm-log-filter.c */
void sm_log_filter_start(struct sm_logs *);
void sm_log_filter_stop(struct sm_logs *);
void sm_log_filter_join(struct sm_logs *, const struct sm_log *);

/* sm-log-file.c */
/* Lines as they are read; each ends with a newline. */
void sm_log_file_line(struct buf *, const char *text);
void sm_log_file_append(struct sm_log *, const struct buf *lines);
/* So that it is there to be followed. */
void sm_log_file_touch(struct sm_log *);
/* A full pass writes a new file, which takes the place of the old. */
void sm_log_file_begin(struct sm_log *);
void sm_log_file_put(struct sm_log *, const char *text);
void sm_log_file_end(struct sm_log *, bool keep);

/* sm-log-metric-data.c */
struct sm_log_metric_data *sm_log_metric_data_new(struct sm_logs *);
void sm_log_metric_data_free(struct sm_log_metric_data *);
/* The job is over: its last minutes, then done. */
void sm_log_metric_data_finish(struct sm_log_metric_data *, struct sm_log *);

#endif /* HPOTUNE_SM_LOG_INTERNAL_H */
