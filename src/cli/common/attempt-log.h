/* Where the log of an attempt is. */

#ifndef HPOTUNE_ATTEMPT_LOG_H
#define HPOTUNE_ATTEMPT_LOG_H

#include <stdint.h>

/*
 * The path of the log of an attempt; log: as recorded, relative to state_dir.
 * rank 0 writes the log of the trial, other ranks write files beside it.  The
 * caller frees it.
 */
char *attempt_log_path(const char *db, const char *state_dir, int64_t trial,
    int attempt, const char *log, int64_t rank);

#endif /* HPOTUNE_ATTEMPT_LOG_H */
