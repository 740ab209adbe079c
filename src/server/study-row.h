/*
 * The study in the store: made once, compared at every later start.
 */

#ifndef SERVER_STUDY_ROW_H
#define SERVER_STUDY_ROW_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct study;

/*
 * Create path for this study, or check that it holds the same one and note
 * what changed.  Marks the study as running since now_us.
 */
int study_row_open(const char *path, const struct study *, bool network_fs,
    int64_t now_us, struct err *);
/* The same without a server: it stays as it is, or interrupted when new. */
int study_row_visit(const char *path, const struct study *, bool network_fs,
    int64_t now_us, struct err *);

#endif /* SERVER_STUDY_ROW_H */
