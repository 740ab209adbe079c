/*
 * The lines of packed trials, hpotune-trial(7): one JSON object each.
 */

#ifndef MLP_LINES_H
#define MLP_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "examples/fashion-mnist/pack/job.h"

enum line_kind {
	LINE_NONE, /* nothing for us */
	LINE_HELLO,
	LINE_START,
	LINE_STOP,
};

/* One line that came. */
struct line {
	enum line_kind kind;
	long places;
	long trial, attempt;
	long until; /* epochs; 0: to the end */
	char *checkpoint_dir; /* NULL: not given */
	size_t n; /* params, as --NAME=VALUE */
	char **param;
};

/* -1: it is none of the protocol. */
int line_read(struct line *, const char *text, struct fail *);
void line_free(struct line *);

/* Each is written at once. -1: the reader has closed. */
int line_report(long trial, long attempt, const struct job_report *);
/* why may be NULL: it has ended well. */
int line_end(long trial, long attempt, const char *why);
int line_log(const char *text);

/* Bytes that came, cut into lines. */
struct lines {
	char *text;
	size_t length, room;
	bool over;
};

/* Reads what is there; waits for it for so many ms (-1: for ever). */
void lines_hear(struct lines *, int fd, int timeout);
/* The next whole line, to be freed; NULL: there is none yet. */
char *lines_next(struct lines *);
void lines_free(struct lines *);

#endif
