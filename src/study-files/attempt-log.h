/* Where the log of an attempt is, and what stands before it. */

#ifndef HPOTUNE_ATTEMPT_LOG_H
#define HPOTUNE_ATTEMPT_LOG_H

#include <stdint.h>

/*
 * The path of the log of an attempt; log: as recorded, relative to db_dir.
 * rank 0 writes the log of the trial, other ranks write files beside it.  The
 * caller frees it.
 */
char *attempt_log_path(const char *db, const char *db_dir, int64_t trial,
    int attempt, const char *log, int64_t rank);

/*
 * The path of what its job wrote before this log, when the backend of this name
 * has such a file; NULL: none.  The caller frees it.
 */
char *attempt_log_before(const char *backend, const char *log_path);

#endif /* HPOTUNE_ATTEMPT_LOG_H */
