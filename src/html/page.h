/*
 * Inside hpotune report: what was read of a study, and the sections of the
 * page.  Each section writes itself, or nothing when there is nothing to show.
 */

#ifndef HPOTUNE_PAGE_H
#define HPOTUNE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/html/axis.h"
#include "src/html/chart.h"
#include "src/html/html.h"
#include "src/model/trial.h"
#include "src/server/status/objectives.h"
#include "src/store/store.h"

struct err;
struct store_rows;
struct study;

enum {
	REPORT_DIGITS = 6, /* of what was measured */
	REPORT_WIDTH = 900, /* of a drawing */
	REPORT_TOLD = 600, /* marks that each say what they are */
	REPORT_ROWS = 25 /* of a table */
};

/* Stands in the first lines of a report: by it one is known. */
#define REPORT_ABOUT "report of hpotune"

struct report_trial {
	int64_t number;
	enum trial_state state;
	bool broken; /* a constraint */
	double objective; /* NaN = no finite one */
	int64_t reports;
};

struct report {
	struct store *store;
	struct store_study row;
	struct study *study; /* of the last run, as the database kept it */
	struct aims aims;
	struct html h;
	struct report_trial *trials; /* all of them, by number */
	size_t n;
	double *points; /* n x parameters, in the cube; NaN = inactive */
	double *outcomes; /* n x objectives, of several; else NULL */
	int64_t counts[TRIAL_STATES];
	size_t with_value;
	size_t best; /* index; n = none, or several objectives */
	struct axis value; /* the frame of the objective, without places */
	size_t beyond; /* trials whose value is not within it */
	double now; /* seconds since 1970 when a server runs it; else 0 */
};

/* Read the study into an empty r (now may be set); report_fini in any case.
 * store is borrowed. */
int report_read(struct report *, struct store *, struct err *);
void report_fini(struct report *);
/* Whether one value of the objective is better. */
bool report_better(const struct report *, double a, double b);
/* Whether a trial may be the best: completed, no constraint broken. */
bool report_counts(const struct report_trial *);
/* The form of a trial's mark. */
enum chart_mark report_mark(const struct report_trial *);
/* "trial 12, completed: accuracy 0.93". */
void
report_tell(struct buf *, const struct report *, const struct report_trial *);

/* The whole page. */
int report_page(struct report *, struct err *);
/* Its sections. */
int report_head(struct report *, struct err *);
int report_history(struct report *, struct err *);
int report_curves(struct report *, struct err *);
int report_importance(struct report *, struct err *);
int report_params(struct report *, const size_t *order, struct err *);
int report_front(struct report *, struct err *);
int report_places(struct report *, struct err *);
int report_best(struct report *, struct err *);
int report_stops(struct report *, struct err *);
int report_failures(struct report *, struct err *);
int report_events(struct report *, struct err *);

/* A section with a heading, and its end. */
void report_section(struct html *, const char *title);
void report_section_end(struct html *);
/* A sentence below a drawing or a table. */
void report_note(struct html *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A column of a table that shows rows. */
struct report_column {
	const char *head;
	/* a word does not break; params are a column each, when few */
	enum { REPORT_TEXT, REPORT_WORD, REPORT_NUMBER, REPORT_PARAMS } kind;
};
/*
 * The rows of a SELECT as a table, one column for each; nothing when there is
 * none.  *n: how many there were.
 */
int report_table(struct report *, const char *sql, const struct report_column *,
    size_t columns, size_t *n, struct err *);
/* One number of a SELECT; 0 for none. */
int report_count(struct report *, const char *sql, int64_t *n, struct err *);

/*
 * Write the file; it has its name only when it is whole.  What is there already
 * and is no report is left alone: an error.
 */
int report_write(const char *path, const struct buf *, struct err *);

#endif /* HPOTUNE_PAGE_H */
