/* The log of an attempt, in pieces. */

#ifndef HPOTUNE_WEB_LOG_H
#define HPOTUNE_WEB_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;
struct web_address;
struct web_study;

/*
 * Append the bytes from the parameter from on, at most 64 KiB, control
 * characters escaped; without from the end of the log.  *next: where the next
 * piece begins.  *over: the attempt has ended, so nothing follows.
 */
int web_log_read(struct buf *out, const struct web_study *,
    const struct web_address *, int64_t *next, bool *over, struct err *);

#endif /* HPOTUNE_WEB_LOG_H */
