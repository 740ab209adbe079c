/* Lines of the logs of jobs.  No input, no output. */

#ifndef HPOTUNE_SM_LOG_LINE_H
#define HPOTUNE_SM_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>

struct metric_line;
struct metric_patterns;

/*
 * Parse one log event.  Accepts, beside what metric_line_parse does, the tag
 * "hpotune-json:" of our entry script before a line of the metrics file, and
 * mpirun's prefix before the output of rank 0.
 */
bool sm_log_line_parse(
    struct metric_line *, const struct metric_patterns *, const char *, size_t);
/*
 * Whether this is the entry script's last line, which says that the trial has
 * ended. *before: bytes of an unterminated line of the trial that precede it.
 */
bool sm_log_line_ends(const char *text, size_t *before);
/*
 * The entry script repeats lines of the metrics file: bytes of an unterminated
 * line of the trial before such a line; 0 = none.
 */
size_t sm_log_line_head(const char *text);
/*
 * Where lines may be split: whether this one may continue in the next event and
 * may contain a report.  The struct is scratch memory.
 */
bool sm_log_line_open(
    struct metric_line *, const struct metric_patterns *, const char *text);
enum sm_log_line_next {
	SM_LOG_LINE_WHOLE, /* next is another line */
	SM_LOG_LINE_GOES_ON, /* next is its second half: *joined is both */
	SM_LOG_LINE_OTHER, /* next is of another rank */
	SM_LOG_LINE_DOUBT /* next may be the second half of a number */
};
enum sm_log_line_next sm_log_line_join(const struct metric_patterns *,
    const char *held, const char *next, char **joined);

#endif /* HPOTUNE_SM_LOG_LINE_H */
