/* The sections of the page, and what they are made of. */

#ifndef HPOTUNE_SECTION_H
#define HPOTUNE_SECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "src/html/page-data.h"

struct err;
struct param;
struct sparkline;
struct store_rows;

/* Open a section with a heading, and close it. */
void section_begin(struct html *, const char *title);
void section_end(struct html *);
/* A sentence below a chart or a table. */
void section_note(struct html *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* What the verdicts of the view stops mean; as SQL, and by section_verdict. */
#define SECTION_VERDICTS(VERDICT)                              \
	VERDICT("stop", "it was stopped")                      \
	VERDICT("suspended", "a guard or a veto let it go on") \
	VERDICT("pause", "it was paused")                      \
	VERDICT("resume", "it was resumed")                    \
	VERDICT("late", "it ended before it could be stopped") \
	VERDICT("keep", "it goes on")
#define SECTION_VERDICT_WHEN(verdict, meaning) \
	"WHEN '" verdict "' THEN '" meaning "' "
#define SECTION_VERDICT_SQL \
	"CASE verdict " SECTION_VERDICTS(SECTION_VERDICT_WHEN) "END"
/* NULL: not one of these. */
const char *section_verdict(const char *verdict);

/* A column of a table; "trial" is a trial's number, which names the row. */
struct section_column {
	const char *head;
	/* a word is not wrapped; params have a column each, when few */
	enum { COLUMN_TEXT, COLUMN_WORD, COLUMN_NUMBER, COLUMN_PARAMS } kind;
};
/*
 * The rows of a SELECT as a table, one column for each result column; nothing
 * when there are none. *count: the number of rows.
 */
int section_table(struct page *, const char *sql, const struct section_column *,
    size_t n, size_t *count, struct err *);
/*
 * The same turned by 90 degrees, with most rows of the SELECT at most, each of
 * which is a column; the last of the columns is of COLUMN_PARAMS and has a line
 * for each parameter.  For studies with many parameters.
 */
int section_table_turned(struct page *, const char *sql,
    const struct section_column *, size_t n, size_t most, size_t *count,
    struct err *);
/* The same with rows that the caller writes: their heads, and the end. */
void section_rows_open(struct page *, const struct section_column *, size_t n);
void section_rows_close(struct page *);
/*
 * The cells of such a row, from the columns first to n - 1 of the current row
 * of rows, without its <tr>.
 */
void section_cells(struct page *, const struct store_rows *,
    const struct section_column *, size_t first, size_t n);
/*
 * What a chart shows as a table, closed until it is wanted: for readers who do
 * not see the chart.  Open it, add rows of n cells, close it.
 */
void section_values_open(
    struct html *, const char *const *heads, size_t n, const char *title);
void section_values_row(struct html *, const char *const *cells, size_t n);
void section_values_close(struct html *);
/* Classes of lines that stand beside each other, which come again. */
enum { SECTION_LINE_CLASSES = 8 };
extern const char *const section_line_classes[SECTION_LINE_CLASSES];
/*
 * The heads of a table of curves, and a row of it; t NULL: no trial, named
 * name.
 */
enum { SECTION_LINE_COLUMNS = 6 };
extern const char *const section_line_heads[SECTION_LINE_COLUMNS];
void section_line_row(struct html *, const struct page_trial *t,
    const char *name, const struct sparkline *);
/* Text that leads to the page of a trial, where there is one. */
void section_trial_link(struct page *, const char *number, const char *text);
/* Whether each parameter has a column of its own. */
bool section_params_part(const struct page *);
/* Whether values of the parameter are numbers, set to the right. */
bool section_param_is_number(const struct page *, size_t i);
/*
 * How far the mark of a trial stands beside its value, in the unit interval: fixed,
 * and 0 for a parameter with many values.
 */
double section_param_jitter(const struct param *, int64_t trial);
/* The values of trials by step, with the medians; several ones by colours. */
int section_trial_curves(
    struct page *, const size_t *trials, size_t n, struct err *);
/* The same for each other metric that one of the trials has reported. */
int section_trial_metrics(
    struct page *, const size_t *trials, size_t n, struct err *);
/*
 * A map of the objective over two parameters, by their index in the space; most:
 * they are those that matter most.
 */
void section_contour(struct page *, size_t x, size_t y, bool most);

/* A section writes itself, or nothing when it has no data. */
struct page_section {
	const char *name; /* one word */
	int (*put)(struct page *, struct err *);
};
extern const struct page_section section_head, section_about, section_history,
    section_front, section_curves, section_metrics, section_parallel,
    section_importance, section_best, section_stops, section_timeline,
    section_failures, section_notes, section_events, section_study;
/* For figures: the shares of the parameters, a chart of each, and the map. */
extern const struct page_section section_shares, section_slice, section_map,
    section_edf;

#endif /* HPOTUNE_SECTION_H */
