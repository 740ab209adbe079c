/*
 * One line of a trial's output -> step, names and values.  Trusts nothing:
 * any bytes may come.  The only door to PCRE2.
 */

#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct study_trial;

enum {
	REPORT_LINE_MAX = 65536,	/* bytes; longer lines are skipped */
	REPORT_VALUES_MAX = 256,	/* metrics in one line */
	REPORT_NAME_MAX = 64		/* bytes of a metric's name */
};

struct report_value {
	char name[REPORT_NAME_MAX + 1];
	double value;			/* may be NaN or infinite */
};

struct report {
	bool has_step;
	int64_t step;
	size_t n;
	struct report_value values[REPORT_VALUES_MAX];
};

/* Patterns of one study, compiled. */
struct report_rules;
int report_rules_new(struct report_rules **, const struct study_trial *,
    struct err *);
void report_rules_free(struct report_rules *);

/*
 * A line of the log, without its newline: tagged "hpotune: …" or matched by
 * the patterns.  True when it reports something.
 */
bool report_parse_line(struct report *, const struct report_rules *,
    const char *line, size_t len);
/* A line of $HPOTUNE_METRICS: one JSON object. */
bool report_parse_json(struct report *, const char *line, size_t len);

#endif /* REPORT_H */
