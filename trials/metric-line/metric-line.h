/*
 * Parser of one line of a trial's output into step, names and values.  Input is
 * untrusted: any bytes.
 *
 * Pass complete lines only: an incomplete line may end within a number.
 */

#ifndef HPOTUNE_METRIC_LINE_H
#define HPOTUNE_METRIC_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct study_trial;

enum {
	METRIC_LINE_MAX = 65536, /* bytes; longer lines are skipped */
	METRIC_LINE_VALUES_MAX = 256, /* metrics in one line */
	METRIC_LINE_NAME_MAX = 64, /* bytes of a metric's name */
	METRIC_PART_MAX = 4096 /* bytes of a line that are matched at once */
};

struct metric_value {
	char name[METRIC_LINE_NAME_MAX + 1];
	double value; /* may be NaN or infinite */
};

struct metric_line {
	bool has_step;
	int64_t step;
	/*
	 * NULL, or why a line that was meant as a report was rejected; one
	 * clause in static memory, so that equal reasons have equal pointers.
	 */
	const char *why;
	/*
	 * For an accepted line: NULL, or why a member of it was skipped; static
	 * memory, too.
	 */
	const char *left_out;
	/*
	 * State between the lines of one log, kept by metric_line_parse; whoever
	 * reads several logs saves and restores it.  Above 0: the epoch of Keras
	 * whose metrics follow; below 0: that epoch is over.
	 */
	int64_t epoch;
	size_t n;
	struct metric_value values[METRIC_LINE_VALUES_MAX];
};

/* The compiled patterns of one study.  An error names the key of study.json. */
struct metric_patterns;
int metric_patterns_new(
    struct metric_patterns **, const struct study_trial *, struct err *);
void metric_patterns_free(struct metric_patterns *);

/*
 * Parse a line of the log, without its newline: tagged, or matched by the
 * patterns (NULL = none).  True if it reports something.
 *
 * The tag is at the start of the line or after a bare CR (a progress bar), with
 * optional blanks before it; after a time stamp or a rank it is not
 * recognised.  Pairs NAME=NUMBER follow, separated by blanks, with an optional
 * comma before the blank; any other word rejects the whole line.
 *
 * Lines of trial.reads are read after the tag; a pattern of the same line adds
 * names that it lacks.  Patterns are matched against what a terminal would show:
 * the text after the last bare CR without escape sequences, up to 4 KiB, and
 * where none matches, the text before that CR.  The step is searched in the same
 * text.
 */
bool metric_line_parse(struct metric_line *, const struct metric_patterns *,
    const char *line, size_t len);
/* A text that patterns are matched against. */
struct metric_part {
	const char *p; /* in the line, or in room */
	size_t len;
	char room[METRIC_PART_MAX];
};
/*
 * The part of a line after its last bare CR as a terminal shows it: without
 * escape sequences and backspaces, at most METRIC_PART_MAX bytes; one that is
 * cut ends before a blank, never within a number.  Returns how many bytes of the
 * line are before it, of which it is called again; 0 = no more parts.
 */
size_t metric_line_part(struct metric_part *, const char *line, size_t len);
/*
 * A pattern that reads a metric of a line that nothing has read, where its name
 * or the last word of it stands before a number.  part is the text it reads.
 * False: the line has none, or the pattern does not fit.
 */
bool metric_guess(const char *metric, const char *line, size_t len, char *out,
    size_t size, struct metric_part *part);
/*
 * Parse a line of $HPOTUNE_METRICS: one JSON object; NaN and Infinity are
 * allowed as Python writes them.  Members that are not numbers are skipped, and
 * numbers with an invalid metric name too; the latter sets left_out.
 */
bool metric_json_parse(struct metric_line *, const char *line, size_t len);
/* The same with another member than "step" as the step. */
bool metric_json_parse_step(
    struct metric_line *, const char *line, size_t len, const char *step);
/*
 * A metric's name made of other text: each byte that no name contains becomes
 * '_'.  False when it is empty or too long.
 */
bool metric_line_name_make(
    char out[METRIC_LINE_NAME_MAX + 1], const char *text, size_t len);

#endif /* HPOTUNE_METRIC_LINE_H */
