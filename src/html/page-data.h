/*
 * The data of a study that the page shows, read once; its sections only read
 * it.
 */

#ifndef HPOTUNE_PAGE_DATA_H
#define HPOTUNE_PAGE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/html/axis.h"
#include "src/html/chart.h"
#include "src/html/html.h"
#include "src/model/trial.h"
#include "src/store/store.h"
#include "src/view/objectives.h"

struct buf;
struct err;
struct study;

enum {
	PAGE_DIGITS = 6, /* of measured values */
	PAGE_WIDTH = 900, /* of a chart */
	PAGE_TITLED_MARKS = 600, /* marks with a tooltip */
	PAGE_ROWS = 25 /* of a table */
};

struct page_trial {
	int64_t number;
	enum trial_state state;
	bool broken; /* a constraint is violated */
	bool other; /* a replicate that is not the first one */
	double objective; /* NaN = no finite one */
	int64_t reports;
};

/* A range of an axis that was asked for. */
struct page_zoom {
	const char *name; /* "curves.x" */
	double range[2]; /* from < to, finite */
};

/* What the learning curves show, when it is asked for. */
struct page_curves {
	const char *metric; /* NULL = the objective */
	bool seconds; /* over the time since the trial began, not steps */
	bool logarithmic; /* upwards */
	double smooth; /* weight of what came before, from 0 to below 1 */
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
	/* NULL, or called with turn_arg in the middle of long calculations. */
	void (*turn)(void *arg);
	void *turn_arg;
	/*
	 * Of its charts: 0 is PAGE_WIDTH.  Another one is that of a figure,
	 * whose charts are as wide as it.
	 */
	double width;
	bool coarse; /* drawn in letters: few lines */
	bool zoomable; /* ranges of charts can be asked for */
	struct page_zoom *zooms; /* of the caller, who frees them */
	size_t n_zooms;
	char *links; /* address that pages of trials begin with, or NULL */
	struct page_curves curves;
	const char *map[2]; /* parameters across and up that were asked for */
	struct page_share *shares; /* of page_share_of; aims.n, or NULL */
};

/*
 * Read the study into an empty r (now and turn may be set); call page_data_fini also
 * after an error. store is borrowed.
 */
int page_data_read(struct page *, struct store *, struct err *);
void page_data_fini(struct page *);
/* Whether a is a better value of the objective than b. */
bool page_data_better(const struct page *, double a, double b);
/* Whether a trial may be the best: completed, no constraint violated. */
bool page_data_is_candidate(const struct page_trial *);
/*
 * Sort n trials, by their index, by their ranks, then the better objective first,
 * then by number; rank is asked once for each.
 */
void page_data_sort(const struct page *, size_t *trials, size_t n,
    int (*rank)(const struct page *, size_t trial));
/* The shape of a trial's mark. */
enum chart_mark page_data_mark(const struct page_trial *);
/* The class of a trial's line; best: it is drawn as the best one. */
const char *page_data_class(const struct page_trial *, bool best);
/* "trial 12, completed: accuracy 0.93". */
void page_data_describe(
    struct buf *, const struct page *, const struct page_trial *);

/* The width of a chart; and its height, which is at most high. */
double page_data_width(const struct page *);
double page_data_height(const struct page *, double high);
/* How many ticks of n at PAGE_WIDTH fit beside each other. */
size_t page_data_ticks(const struct page *, size_t n);
/* The range that was asked for under this name, or NULL. */
const double *page_data_zoom(const struct page *, const char *name);
/* The number that a SELECT returns; 0 without a row. */
int page_data_count(struct page *, const char *sql, int64_t *n, struct err *);

enum { PAGE_SHARE_LEAST = 10 /* completed trials; below them no share */ };
#define PAGE_SHARE_GOOD 0.1 /* the share of the trials that are good */

struct page_share {
	double *points; /* n x parameters, in the unit cube */
	double *losses; /* n; smaller is better */
	size_t n; /* completed trials with a value */
	double *share; /* of each parameter; all 0 = not known */
	size_t *order; /* parameters, the greatest share first */
};

/*
 * PED-ANOVA of objective aim (an index of the page's objectives), as the command
 * importance computes it; once for all sections.  The page owns it.
 */
const struct page_share *page_share_of(struct page *, size_t aim);

#endif /* HPOTUNE_PAGE_DATA_H */
