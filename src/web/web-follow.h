/*
 * Follows a study for the pages, in a reader that stays: draws the sections of
 * its page again when it has changed.  The cost is bounded: after a round that
 * took c ms of the processor the next one starts 50 c ms later at the earliest,
 * and a section that took c ms is drawn again after 100 c ms.
 */

#ifndef HPOTUNE_WEB_FOLLOW_H
#define HPOTUNE_WEB_FOLLOW_H

#include <stdbool.h>

struct web_sink;
struct web_studies;

enum web_follow_frame {
	WEB_FOLLOW_NONE = 'n', /* there is no such study */
	WEB_FOLLOW_FOUND = 'f', /* the first one otherwise */
	WEB_FOLLOW_TICK = 't', /* something has changed */
	/* A section, as the data of an event: another one, or the same again */
	WEB_FOLLOW_PART = 'p',
	WEB_FOLLOW_SAME = 's',
	/* All sections are as the database was at a question: its number */
	WEB_FOLLOW_ROUND = 'r'
};

/*
 * Follow the study of this id until we are killed.  parts: the sections are
 * drawn; otherwise there are ticks alone.  A question (web_reader_ask) asks for
 * all sections.
 */
void
web_follow(struct web_studies *, const char *id, bool parts, struct web_sink *);

#endif /* HPOTUNE_WEB_FOLLOW_H */
