/*
 * Inside hpotune report: the data of a study, and the sections of the page.
 * Each section writes itself, or nothing when it has no data.
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
	PAGE_DIGITS = 6, /* of measured values */
	PAGE_WIDTH = 900, /* of a chart */
	PAGE_TITLED_MARKS = 600, /* marks with a tooltip */
	PAGE_ROWS = 25 /* of a table */
};

/* In the first lines of each report; identifies a file as one. */
#define PAGE_ABOUT "report of hpotune"

struct page_trial {
	int64_t number;
	enum trial_state state;
	bool broken; /* a constraint is violated */
	double objective; /* NaN = no finite one */
	int64_t reports;
};

struct page {
	struct store *store;
	struct store_study row;
	struct study *study; /* of the last run, as recorded in the database */
	struct objectives aims;
	struct html h;
	struct page_trial *trials; /* all of them, by number */
	size_t n;
	double *points; /* n x parameters, in the unit cube; NaN = inactive */
	double *outcomes; /* n x objectives, if several; or NULL */
	int64_t counts[TRIAL_STATES];
	size_t with_value;
	size_t best; /* index; n = none, or several objectives */
	struct axis value; /* the range of the objective, without positions */
	size_t beyond; /* trials with a value outside it */
	double now; /* seconds since 1970; 0 = no server runs it */
};

/*
 * Read the study into an empty r (now may be set); call page_data_fini also
 * after an error. store is borrowed.
 */
int page_data_read(struct page *, struct store *, struct err *);
void page_data_fini(struct page *);
/* Whether a is a better value of the objective than b. */
bool page_data_better(const struct page *, double a, double b);
/* Whether a trial may be the best: completed, no constraint violated. */
bool page_data_is_candidate(const struct page_trial *);
/* The shape of a trial's mark. */
enum chart_mark page_data_mark(const struct page_trial *);
/* "trial 12, completed: accuracy 0.93". */
void page_data_describe(
    struct buf *, const struct page *, const struct page_trial *);

/* The whole page. */
int page_build(struct page *, struct err *);
/* Sections of the page. */
int section_head(struct page *, struct err *);
int section_history(struct page *, struct err *);
int section_curves(struct page *, struct err *);
int section_importance(struct page *, struct err *);
int section_params(struct page *, const size_t *order, struct err *);
int section_front(struct page *, struct err *);
int section_timeline(struct page *, struct err *);
int section_best(struct page *, struct err *);
int section_stops(struct page *, struct err *);
int section_failures(struct page *, struct err *);
int section_events(struct page *, struct err *);

/* Open a section with a heading, and close it. */
void page_section(struct html *, const char *title);
void page_section_end(struct html *);
/* A sentence below a chart or a table. */
void page_note(struct html *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A column of a table. */
struct page_column {
	const char *head;
	/* a word is not wrapped; params have a column each, when few */
	enum { PAGE_TEXT, PAGE_WORD, PAGE_NUMBER, PAGE_PARAMS } kind;
};
/*
 * The rows of a SELECT as a table, one column for each result column; nothing
 * when there are none. *count: the number of rows.
 */
int page_table(struct page *, const char *sql, const struct page_column *,
    size_t n, size_t *count, struct err *);
/* The number that a SELECT returns; 0 without a row. */
int page_data_count(struct page *, const char *sql, int64_t *n, struct err *);

/*
 * Write the file atomically.  An existing file that is not a report is not
 * replaced: ERR_FILE.
 */
int page_file_write(const char *path, const struct buf *, struct err *);

#endif /* HPOTUNE_PAGE_H */
