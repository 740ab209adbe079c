/* For commands that need study.json, not only the recorded rows. */

#ifndef HPOTUNE_LOAD_STUDY_H
#define HPOTUNE_LOAD_STUDY_H

#include <stdbool.h>
#include <time.h>

struct cli;
struct study_files;
struct err;

/*
 * Find the study (db_dir as for cli_find_study) and read found->study: from
 * study.json, or as recorded in its database.
 */
int load_study_find(
    struct cli *, struct study_files *, const char *db_dir, struct err *);
/* The second half of it, for a study that was found; freed on -1. */
int load_study_read(struct study_files *, struct err *);
/* NAME.d of a found study; the caller frees it. */
char *load_study_dir(const struct study_files *);

struct load_study_retry {
	time_t until; /* 0 = no wait yet */
};

/*
 * Whether to repeat, after a short pause, an operation that failed for this
 * reason: the study's lock was held by a process that may release it or become
 * a server.  True for some seconds in all; the error is cleared then.
 */
bool load_study_retry(struct load_study_retry *, struct err *);

#endif /* HPOTUNE_LOAD_STUDY_H */
