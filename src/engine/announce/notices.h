/*
 * Notices about a study (notify in study.json).  Which are due is decided and
 * recorded in the transaction of the change they report; they are sent after
 * the commit, and stay due until the channel has accepted them.
 *
 * All functions take NULL for a study without channels.
 */

#ifndef HPOTUNE_NOTICES_H
#define HPOTUNE_NOTICES_H

#include <stdbool.h>
#include <stdint.h>

struct announce_env;
struct announce_facts;
struct notices;

/* NULL when no channel is configured.  Free it with notices_free. */
struct notices *notices_new(const struct announce_env *);
void notices_free(struct notices *);

/* Within a transaction: the study has ended; waits: until its owner acts. */
void notices_end(struct notices *, const struct announce_facts *, bool waits);
/*
 * Within a transaction: no trial can be started; why is a sentence.  Whether a
 * notice was recorded: the transaction must be synced.
 */
bool notices_wait(struct notices *, const struct announce_facts *);
/* Within a transaction of that wall time: record the channels' answers. */
void notices_record(struct notices *, int64_t time_us);
/* After a commit: send what is due. */
void notices_send(struct notices *);
/* Whether an answer waits to be recorded. */
bool notices_answered(const struct notices *);
/* Whether an answer is awaited or waits to be recorded. */
bool notices_busy(const struct notices *);
/* Log which notices stay due for the next start. */
void notices_leave(struct notices *);

#endif /* HPOTUNE_NOTICES_H */
