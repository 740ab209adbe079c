/*
 * Notices about a study (notify in study.json).  Which are due is decided and
 * recorded in the transaction of the change they report; they are sent after
 * the commit, and stay due until the channel has accepted them.
 */

#ifndef HPOTUNE_NOTICES_H
#define HPOTUNE_NOTICES_H

#include <stdbool.h>

struct tuner;

struct notices;

/* NULL when no channel is configured, or in a command without a server. */
struct notices *notices_new(struct tuner *);
void notices_free(struct notices *);

/* Within a transaction: the study has ended; waits: until its owner acts. */
void notices_end(struct tuner *, bool waits);
/* Within a transaction: no trial can be started; why is a sentence. */
void notices_wait(struct tuner *, const char *why);
/* Within a transaction: record the channels' answers. */
void notices_record(struct tuner *);
/* After a commit: send what is due. */
void notices_send(struct tuner *);
/* Whether an answer waits to be recorded. */
bool notices_answered(const struct tuner *);
/* Whether an answer is awaited or waits to be recorded. */
bool notices_busy(const struct tuner *);
/* Log which notices stay due for the next start. */
void notices_leave(struct tuner *);

#endif /* HPOTUNE_NOTICES_H */
