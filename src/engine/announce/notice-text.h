/* The text of a notice, from the views of the database. */

#ifndef HPOTUNE_NOTICE_TEXT_H
#define HPOTUNE_NOTICE_TEXT_H

#include <stdint.h>

#include "src/model/study/study.h"

struct buf;
struct err;
struct store;
struct study;

struct notice_facts {
	const struct study *study;
	const char *id; /* a UUID */
	enum study_moment moment;
	const char *state; /* of the study */
	const char *why; /* one clause */
	int64_t time_us, elapsed_ms;
};

/* Append the notice, made from these facts and the database, as text. */
int notice_text_put(
    struct buf *, const struct notice_facts *, struct store *, struct err *);
/* The same as JSON. */
int notice_text_put_detail(
    struct buf *, const struct notice_facts *, struct store *, struct err *);

#endif /* HPOTUNE_NOTICE_TEXT_H */
