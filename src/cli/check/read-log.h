/*
 * The output of a trial, line by line as the server reads it, with what each
 * line reports; and the sum of all reports.  For people who fit a program to a
 * study: nothing is recorded.
 */

#ifndef HPOTUNE_READ_LOG_H
#define HPOTUNE_READ_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct buf;
struct err;
struct json_writer;
struct study;

struct read_log;

/* The study is borrowed.  An error names the key of study.json. */
int read_log_new(struct read_log **, const struct study *, struct err *);
void read_log_free(struct read_log *);
/*
 * Append the next bytes of the log, escaped and as a terminal shows them, and
 * below each line that reports something what was read of it.  An incomplete
 * line waits for its end.
 */
void
read_log_feed(struct read_log *, struct buf *out, const char *data, size_t len);
/* The same for the next bytes of the file of $HPOTUNE_METRICS. */
void read_log_feed_metrics(
    struct read_log *, struct buf *out, const char *data, size_t len);
/* What files of the trial report is known: read_log_add_recorded counts it. */
void read_log_has_recorded(struct read_log *);
/*
 * Count a report that was recorded, and may have come from a line or from a file
 * of the trial: one of a metric that no line has reported comes from a file, and
 * is appended to out, those of one step in one line.  Call it for lines first.
 */
void read_log_add_recorded(struct read_log *, struct buf *out, const char *name,
    int64_t step, double value);
/* End the line that read_log_add_recorded has begun. */
void read_log_end_recorded(struct read_log *, struct buf *out);
/* The end of both files is the end of their last lines. */
void read_log_end(struct read_log *, struct buf *out);
/*
 * Read all of the log of this path, - is standard input, and write to the
 * stream (NULL: nothing) what read_log_feed and read_log_end append.  ERR_FILE.
 */
int read_log_file(struct read_log *, const char *path, FILE *to, struct err *);
/* Whether every objective has a report with a number. */
bool read_log_is_whole(const struct read_log *);
/*
 * Append a table of the metrics that were read, and what is missing: metrics
 * that the study needs, patterns that matched no line.
 */
void read_log_put_sum(
    const struct read_log *, struct buf *out, int width, bool colour);
/* The same as the members "metrics" and "missing" of an open object. */
void read_log_put_json(const struct read_log *, struct json_writer *);

#endif /* HPOTUNE_READ_LOG_H */
