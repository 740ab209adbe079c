/*
 * Why a metric is in no report: what the lines of an output show of it that
 * nothing was read of.  Each finding is a fact about one line, so that a reason
 * is never false; the most telling one is kept.
 */

#ifndef HPOTUNE_METRIC_UNREAD_H
#define HPOTUNE_METRIC_UNREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "trials/metric-line/metric-line.h"

struct buf;

enum { METRIC_UNREAD_SEEN = 96 }; /* bytes of a text that is quoted */

/* From the least telling to the most. */
enum metric_unread_kind {
	METRIC_UNREAD_NOTHING, /* its name is in no line */
	METRIC_UNREAD_WORDS, /* … in a line, and no number follows it */
	METRIC_UNREAD_GUESS, /* … before a number, where nothing reads it */
	METRIC_UNREAD_LONG, /* … in a line that is too long */
	METRIC_UNREAD_BINARY, /* … in a line with a zero byte */
	METRIC_UNREAD_CUT, /* … behind what is matched of a line */
	METRIC_UNREAD_PREFIX, /* in a report that does not begin its line */
	METRIC_UNREAD_JSON, /* in JSON, which is not read */
	METRIC_UNREAD_BROKEN, /* … which is read, and is no whole object */
	METRIC_UNREAD_NESTED, /* in an object inside of one */
	METRIC_UNREAD_TEXT, /* in JSON, before what is no number */
	METRIC_UNREAD_REFUSED, /* in a line that was refused */
	METRIC_UNREAD_SLOW, /* its pattern took too long */
	METRIC_UNREAD_NO_GROUP, /* it matched, without its group */
	METRIC_UNREAD_PART, /* it matched a part of a number */
	METRIC_UNREAD_MATCHED /* it matched, and its group has no number */
};

struct metric_unread {
	const char *metric; /* borrowed */
	const struct metric_patterns *patterns; /* borrowed, or NULL */
	bool has_pattern; /* one of them is for the metric */
	bool part; /* some lines were not looked at */
	enum metric_unread_kind kind;
	char seen[METRIC_UNREAD_SEEN]; /* harmless; the line, or a part of it */
	char why[METRIC_UNREAD_SEEN]; /* METRIC_UNREAD_REFUSED */
	struct metric_part scratch;
};

/* patterns: those of the study, borrowed; NULL: it has none. */
void metric_unread_begin(struct metric_unread *, const char *metric,
    const struct metric_patterns *patterns);
/*
 * Look at a line of the log, or with json at one of $HPOTUNE_METRICS, and at
 * what was read of it.
 */
void metric_unread_line(struct metric_unread *, bool json,
    const struct metric_line *read, const char *line, size_t len);
/* The beginning of a line of more than METRIC_LINE_MAX bytes. */
void metric_unread_long(struct metric_unread *, const char *head, size_t len);
/*
 * Append one clause, in which the metric has its name, or is "it"; false: there is
 * none, since nothing was found.
 */
bool metric_unread_put(const struct metric_unread *, bool named, struct buf *);

#endif /* HPOTUNE_METRIC_UNREAD_H */
