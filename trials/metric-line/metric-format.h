/*
 * A format: lines that a library prints, which trial.reads names.  Each is one file,
 * format-NAME.c with a metric_format_NAME, from whose name its bit, its word and its
 * row of metric-formats.c are made.  Private to this folder.
 */

#ifndef HPOTUNE_METRIC_FORMAT_H
#define HPOTUNE_METRIC_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trials/metric-line/metric-line.h"

#define METRIC_STEP_MAX (INT64_C(1) << 53)

struct metric_number;

/* A part of a line. */
struct metric_span {
	const char *p, *end;
};

/* What a format is given beside the line. */
struct metric_reading {
	void *state; /* its own, of this log */
	const struct metric_json_names *names; /* of JSON */
	/* The line is a state of a progress bar, which another one follows. */
	bool overwritten;
};

enum metric_read {
	METRIC_READ_OTHER, /* no line of this format */
	METRIC_READ_QUIET, /* a line of it that reports nothing */
	METRIC_READ_REPORT
};

struct metric_format {
	size_t state; /* bytes that it keeps between the lines of a log */
	bool
	    raw; /* it reads the bytes of the line, not what a terminal shows */
	bool logger; /* it reads what a logger writes before the text, too */
	bool bars; /* it reads states of a progress bar, too */
	bool loose; /* lines of others look like its own: it is tried last */
	/* Fills an empty line, which is cleared when it returns no report. */
	enum metric_read (*read)(struct metric_line *, struct metric_span,
	    const struct metric_reading *);
};

/* Bytes of the states of these formats (bits of study_lines). */
size_t metric_formats_state(unsigned lines);
/*
 * Read a line of the formats; states: metric_formats_state bytes, zero at the start
 * of a log.  names: of JSON.
 */
enum metric_read metric_formats_read(struct metric_line *, unsigned lines,
    const struct metric_json_names *names, void *states, const char *line,
    size_t len);

bool metric_span_is_blank(char);
bool metric_span_is_digit(char);
/* Without blanks at both ends. */
struct metric_span metric_span_trim(struct metric_span);
/* Skip a word that stands at the beginning. */
bool metric_span_take(struct metric_span *, const char *word);
/* Skip a whole number without a sign that stands at the beginning. */
bool metric_span_take_count(struct metric_span *, int64_t *);
/* Skip blanks and the word behind them; empty at the end. */
struct metric_span metric_span_take_word(struct metric_span *);
/* Where a word stands, or NULL. */
const char *metric_span_find(struct metric_span, const char *word);
/* Up to the word, which is skipped; the whole rest without one. */
struct metric_span
metric_span_take_until(struct metric_span *, const char *word);
/*
 * A number, also as people write it, but with no unit of letters.  room: of
 * METRIC_NUMBER_TEXT bytes, which the number may borrow.
 */
bool metric_span_number(struct metric_number *, struct metric_span, char *room);
/*
 * Add such a number that is the whole text but for blanks.  False: it is none, or the
 * name cannot be made, is "step", or is there already.
 */
bool metric_span_add(
    struct metric_line *, struct metric_span name, struct metric_span value);
/* Set the step of a line; false: it has no values, or the step is too great. */
bool metric_span_step(struct metric_line *, int64_t);
/*
 * Skip what a logger writes before its text: time, level, rank 0.  The
 * same text when there is none; false: it is a line of another rank.
 */
bool metric_prefix_skip(struct metric_span *);
/*
 * Whether a text that stands before a tag is what some logger or launcher writes, by
 * how it ends: "] ", ": ", a level, a tab.  False, too: it names another rank, or is
 * a command that a shell traces.  quoted: it ends with a quote, which stands behind
 * the text of the logger again.
 */
bool metric_prefix_before(struct metric_span, bool *quoted);
/* Cut at " [" and " {", with which loggers write more behind their text. */
void metric_prefix_behind(struct metric_span *);
/* Cut what a logger writes behind its text: blanks, and "train.py:12". */
void metric_prefix_place(struct metric_span *);
/* Skip the name of a logger behind such a text; false: there is none. */
bool metric_prefix_name(struct metric_span *);

#endif /* HPOTUNE_METRIC_FORMAT_H */
