/* The log of a place, of bounded size. */

#ifndef HPOTUNE_PACK_LOG_H
#define HPOTUNE_PACK_LOG_H

#include <stddef.h>

#include "trials/pack/pack.h"

void pack_log_open(struct pack_log *, int dir_fd);
void pack_log_raw(struct pack_log *, const char *text, size_t n);
/* A line with the time. */
void pack_log_note(struct pack *, const char *, ...)
    __attribute__((format(printf, 2, 3)));

#endif /* HPOTUNE_PACK_LOG_H */
