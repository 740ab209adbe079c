/*
 * One line of a trial's output -> step, names and values.  Trusts nothing:
 * any bytes may come.  The only door to PCRE2.
 *
 * Only whole lines may be handed over: half a line may end within a number.
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
	METRIC_LINE_NAME_MAX = 64 /* bytes of a metric's name */
};

struct metric_value {
	char name[METRIC_LINE_NAME_MAX + 1];
	double value; /* may be NaN or infinite */
};

struct metric_line {
	bool has_step;
	int64_t step;
	/*
	 * NULL, or why something that was meant as a report was left out; one
	 * clause in static memory, so that equal pointers are equal reasons.
	 */
	const char *why;
	/*
	 * Of a line that was taken: NULL, or why a member of it was left out; in
	 * static memory, too.
	 */
	const char *left_out;
	size_t n;
	struct metric_value values[METRIC_LINE_VALUES_MAX];
};

/* Patterns of one study, compiled.  An error names the key of study.json. */
struct metric_patterns;
int metric_patterns_new(
    struct metric_patterns **, const struct study_trial *, struct err *);
void metric_patterns_free(struct metric_patterns *);

/*
 * A line of the log, without its newline: tagged or matched by the patterns
 * (NULL = none).  True when it reports something.
 *
 * The tag stands at the start of the line or after a bare CR (a progress bar),
 * after blanks at most: behind a time stamp or a rank it is no tag.  Pairs
 * NAME=NUMBER follow, parted by blanks, a comma before the blank is allowed;
 * one word that is no such pair and the whole line is refused.
 *
 * Patterns see what a terminal would show: the text after the last bare CR,
 * up to 4 KiB.  The step is looked for in the same line.
 */
bool metric_line_parse(struct metric_line *, const struct metric_patterns *,
    const char *line, size_t len);
/*
 * A line of $HPOTUNE_METRICS: one JSON object, NaN and Infinity allowed as
 * Python writes them.  Members that are no numbers are passed over, and so is a
 * number whose name no metric may have, which left_out says.
 */
bool metric_json_parse(struct metric_line *, const char *line, size_t len);

#endif /* HPOTUNE_METRIC_LINE_H */
