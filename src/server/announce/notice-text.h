/*
 * The text of a notice about a study, from the views: lines of text, and a JSON
 * object for programs.
 */

#ifndef HPOTUNE_NOTICE_TEXT_H
#define HPOTUNE_NOTICE_TEXT_H

#include <stdint.h>

#include "src/model/study/study.h"

struct buf;
struct err;
struct store;

struct notice_facts {
	const struct study *study;
	const char *id; /* a UUID */
	enum study_moment moment;
	const char *state; /* of the study */
	const char *why; /* one clause */
	int64_t time_us, elapsed_ms;
};
/* Build the notice from these facts and the database, as text and as JSON. */
int notice_put_text(
    struct buf *, const struct notice_facts *, struct store *, struct err *);
int notice_put_detail(
    struct buf *, const struct notice_facts *, struct store *, struct err *);

#endif /* HPOTUNE_NOTICE_TEXT_H */
