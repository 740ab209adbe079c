/* Polls the state of our jobs. */

#ifndef HPOTUNE_SM_POLL_H
#define HPOTUNE_SM_POLL_H

#include <stdint.h>

struct sm;
struct sm_attempt;

void sm_poll_describe(struct sm_attempt *);
/* A hint that a job has changed. */
void sm_poll_hint(struct sm *, const char *job);
/* List within this many milliseconds. */
void sm_poll_soon(struct sm *, int64_t ms);
void sm_poll_close(struct sm *);

#endif /* HPOTUNE_SM_POLL_H */
