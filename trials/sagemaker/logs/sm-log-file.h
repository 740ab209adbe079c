/* The copy of a job's output for "hpotune logs". */

#ifndef HPOTUNE_SM_LOG_FILE_H
#define HPOTUNE_SM_LOG_FILE_H

#include <stdbool.h>

struct buf;
struct sm_log;

/* A line of the job, with its newline; none for one of the entry script. */
void sm_log_file_line(struct buf *, const char *text);
/* Append lines; a copy that is too long loses its beginning. */
void sm_log_file_append(struct sm_log *, const struct buf *);
/* Create the file, so that it can be followed. */
void sm_log_file_touch(struct sm_log *);
/* A line of the final pass: to its new file or, without one, to the old. */
void sm_log_file_put(struct sm_log *, const char *text);
/* The end of the final pass: its file replaces the old one, or is dropped. */
void sm_log_file_end(struct sm_log *, bool keep);
/* The final pass writes a new file, which replaces the old. */
void sm_log_file_begin(struct sm_log *);

#endif /* HPOTUNE_SM_LOG_FILE_H */
