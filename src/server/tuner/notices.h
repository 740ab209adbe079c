/*
 * Notices: what somebody elsewhere hears of a study (notify in study.json).
 * Which are due is decided and recorded with the change that they tell of;
 * they are sent after the commit, and stay due until a channel has taken them.
 */

#ifndef HPOTUNE_NOTICES_H
#define HPOTUNE_NOTICES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/model/study/study.h"

struct buf;
struct err;
struct store;
struct tuner;

struct notices;

/* NULL, where nobody is to be told or a command without a server asks. */
struct notices *notices_new(struct tuner *);
void notices_free(struct notices *);

/* Within a transaction: the study has ended so; waits: for its owner. */
void notices_end(struct tuner *, bool waits);
/* The same: no trial can be started; why is the whole sentence. */
void notices_wait(struct tuner *, const char *why);
/* The same: what the channels have answered. */
void notices_record(struct tuner *);
/* After a commit: send what is due. */
void notices_send(struct tuner *);
/* Whether an answer is there that is to be recorded. */
bool notices_answered(const struct tuner *);
/* Whether an answer is awaited, or is not recorded yet. */
bool notices_busy(const struct tuner *);
/* Say what stays due for the next start. */
void notices_leave(struct tuner *);

/* notice-text.c */
struct notice_facts {
	const struct study *study;
	const char *id; /* a UUID */
	enum study_moment moment;
	const char *state; /* of the study */
	const char *why; /* one clause */
	int64_t time_us, elapsed_ms;
};
/* The same facts and what the store knows, for people and as JSON. */
int notice_put_text(
    struct buf *, const struct notice_facts *, struct store *, struct err *);
int notice_put_detail(
    struct buf *, const struct notice_facts *, struct store *, struct err *);

#endif /* HPOTUNE_NOTICES_H */
