/* Reads what the page shows: trials, points, outcomes. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/html/page-data.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/view/rows.h"
#include "src/view/trial-points.h"
#include "strategies/importance/importance.h"

/* Reserve room for one more. */
static void
page_data_grow(struct page *r, size_t *cap)
{
	size_t dims = r->study->space->n;

	if (r->n < *cap)
		return;
	*cap = 2 * *cap + 64;
	r->trials = xreallocarray(r->trials, *cap, sizeof *r->trials);
	r->points =
	    xreallocarray(r->points, *cap, (dims + 1) * sizeof *r->points);
}

/*
 * Columns: trial, state, objective, reports, params, outside, and whether it is a
 * further replicate.  One outside of the space has no point.
 */
static int
page_data_trial_read(
    struct page *r, const struct store_rows *rows, struct err *e)
{
	struct page_trial *t = &r->trials[r->n];
	size_t i;

	*t = (struct page_trial){ .number = store_rows_int(rows, 0),
		.objective = rows_real(rows, 2),
		.reports = store_rows_int(rows, 3),
		.other = store_rows_int(rows, 6) != 0 };
	if (!trial_state_parse(store_rows_text(rows, 1), &t->state))
		return err_set(
		    e, ERR_STORE, "trial %" PRId64 ": no state", t->number);
	if (!isfinite(t->objective))
		t->objective = NAN;
	else
		r->with_value++;
	r->counts[t->state]++;
	r->n++;
	if (!store_rows_null(rows, 5)) {
		for (i = 0; i < r->study->space->n; i++)
			r->points[(r->n - 1) * r->study->space->n + i] = NAN;
		return 0;
	}
	return trial_points_read(r->points + (r->n - 1) * r->study->space->n,
	    r->study->space, store_rows_text(rows, 4), e);
}

static int
page_data_trials_read(struct page *r, struct err *e)
{
	struct store_rows *rows;
	size_t cap = 0;
	int rc;

	if (store_rows_open(&rows, r->store,
		"SELECT trial, iif(forgotten, 'cancelled', state), "
		"iif(forgotten, NULL, objective), "
		"iif(forgotten, 0, reports), params, outside, "
		"coalesce(replicate, 1) > 1 FROM trials "
		"ORDER BY trial",
		NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		page_data_grow(r, &cap);
		if (page_data_trial_read(r, rows, e) == -1) {
			rc = -1;
			break;
		}
	}
	store_rows_close(rows);
	return rc;
}

/* Trial numbers have no gaps. */
static struct page_trial *
trial_find(struct page *r, int64_t number)
{
	if (number < 1 || (uint64_t)number > r->n)
		return NULL;
	return &r->trials[number - 1];
}

static int
broken_read(struct page *r, struct err *e)
{
	struct page_trial *t;
	struct store_rows *rows;
	int rc;

	if (store_rows_open(&rows, r->store,
		"SELECT trial FROM outcomes WHERE violation > 0", NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1)
		if ((t = trial_find(r, store_rows_int(rows, 0))) != NULL)
			t->broken = true;
	store_rows_close(rows);
	return rc;
}

static int
outcome_take(void *arg, int64_t trial, size_t i, double value)
{
	struct page *r = arg;
	const struct page_trial *t = trial_find(r, trial);

	if (t != NULL && i < r->aims.n && isfinite(value))
		r->outcomes[(size_t)(t - r->trials) * r->aims.n + i] = value;
	return 0;
}

static int
page_data_outcomes_read(struct page *r, struct err *e)
{
	size_t i, n = r->n * r->aims.n;

	r->outcomes = xcalloc(n + 1, sizeof *r->outcomes);
	for (i = 0; i < n; i++)
		r->outcomes[i] = NAN;
	return store_walk_outcomes(r->store, outcome_take, r, e);
}

/* The range of the objective's axis; it includes the best value. */
static void
value_fit(struct page *r)
{
	double *values = xcalloc(r->n + 1, sizeof *values);
	size_t i;

	for (i = 0; i < r->n; i++)
		values[i] = r->trials[i].objective;
	axis_fit(&r->value, values, r->n);
	if (r->best < r->n)
		axis_include(&r->value, r->trials[r->best].objective);
	for (i = 0; i < r->n; i++)
		if (!isnan(r->trials[i].objective) &&
		    !axis_holds(&r->value, r->trials[i].objective))
			r->beyond++;
	free(values);
}

static int
best_read(struct page *r, struct err *e)
{
	const struct page_trial *t = NULL;
	int64_t number;

	if (page_data_count(r, "SELECT trial FROM best", &number, e) != 0)
		return -1;
	t = trial_find(r, number);
	r->best = t == NULL ? r->n : (size_t)(t - r->trials);
	return 0;
}

int
page_data_read(struct page *r, struct store *store, struct err *e)
{
	r->store = store;
	if (store_study_get(store, &r->row, e) != 0 ||
	    trial_points_study(&r->study, store, e) != 0 ||
	    objectives_read(&r->aims, store, e) != 0 ||
	    page_data_trials_read(r, e) == -1 || broken_read(r, e) != 0 ||
	    best_read(r, e) != 0)
		return -1;
	if (r->aims.several && page_data_outcomes_read(r, e) == -1)
		return -1;
	value_fit(r);
	return 0;
}

static void
page_shares_free(struct page *r)
{
	size_t i;

	for (i = 0; r->shares != NULL && i < r->aims.n; i++) {
		free(r->shares[i].points);
		free(r->shares[i].losses);
		free(r->shares[i].share);
		free(r->shares[i].order);
	}
	free(r->shares);
	r->shares = NULL;
}

void
page_data_fini(struct page *r)
{
	page_shares_free(r);
	store_study_fini(&r->row);
	study_free(r->study);
	objectives_fini(&r->aims);
	free(r->trials);
	free(r->points);
	free(r->outcomes);
	buf_free(&r->h.out);
}

bool
page_data_better(const struct page *r, double a, double b)
{
	return r->study->maximize ? a > b : a < b;
}

bool
page_data_is_candidate(const struct page_trial *t)
{
	return t->state == TRIAL_COMPLETED && !t->broken &&
	       !isnan(t->objective);
}

/* What a trial is sorted by. */
struct sorted_trial {
	int rank;
	double loss;
	size_t at;
};

static int
sorted_trial_compare(const void *a, const void *b)
{
	const struct sorted_trial *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->loss != y->loss)
		return x->loss < y->loss ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

void
page_data_sort(const struct page *r, size_t *trials, size_t n,
    int (*rank)(const struct page *, size_t trial))
{
	struct sorted_trial *sorted = xcalloc(n + 1, sizeof *sorted);
	double x;
	size_t i;

	for (i = 0; i < n; i++) {
		x = r->trials[trials[i]].objective;
		sorted[i] = (struct sorted_trial){ .rank = rank(r, trials[i]),
			.loss = isnan(x)	     ? 0
				: r->study->maximize ? -x
						     : x,
			.at = trials[i] };
	}
	qsort(sorted, n, sizeof *sorted, sorted_trial_compare);
	for (i = 0; i < n; i++)
		trials[i] = sorted[i].at;
	free(sorted);
}

enum chart_mark
page_data_mark(const struct page_trial *t)
{
	switch (t->state) {
	case TRIAL_COMPLETED:
		return t->broken ? MARK_RING : MARK_DOT;
	case TRIAL_STOPPED:
		return MARK_DIAMOND;
	case TRIAL_FAILED:
	case TRIAL_CANCELLED:
		return MARK_CROSS;
	case TRIAL_WAITING:
	case TRIAL_STARTING:
	case TRIAL_RUNNING:
	case TRIAL_STOPPING:
	case TRIAL_STATES:
		break;
	}
	return MARK_RING;
}

const char *
page_data_class(const struct page_trial *t, bool best)
{
	if (best)
		return "top";
	if (t->state == TRIAL_COMPLETED)
		return "curve";
	return t->state == TRIAL_STOPPED ? "cut" : "bad";
}

void
page_data_describe(
    struct buf *out, const struct page *r, const struct page_trial *t)
{
	buf_printf(out, "trial %" PRId64 ", %s: %s ", t->number,
	    trial_state_name(t->state), r->study->metric);
	rows_put_number(out, t->objective, PAGE_DIGITS);
	if (t->broken)
		buf_puts(out, ", breaks a constraint");
}

const double *
page_data_zoom(const struct page *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->n_zooms; i++)
		if (strcmp(r->zooms[i].name, name) == 0)
			return r->zooms[i].range;
	return NULL;
}

int
page_data_count(struct page *r, const char *sql, int64_t *n, struct err *e)
{
	double x;
	int rc = rows_numbers(&x, 1, r->store, sql, e);

	*n = x > 0 ? (int64_t)x : 0;
	return rc < 0 ? -1 : 0;
}

/* The completed trials as the command importance selects them. */
static void
trials_take(struct page_share *s, const struct page *r, size_t aim)
{
	size_t dims = r->study->space->n, i;
	bool maximize = r->aims.objectives[aim].maximize;
	double value;

	for (i = 0; i < r->n; i++) {
		value = r->aims.several ? r->outcomes[i * r->aims.n + aim]
					: r->trials[i].objective;
		if (r->trials[i].state != TRIAL_COMPLETED || isnan(value) ||
		    r->trials[i].other)
			continue;
		memcpy(s->points + s->n * dims, r->points + i * dims,
		    dims * sizeof *s->points);
		s->losses[s->n++] = maximize ? -value : value;
	}
}

static int
share_compare(const void *a, const void *b, void *arg)
{
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	const double *share = arg;

	if (share[i] != share[j])
		return share[i] > share[j] ? -1 : 1;
	return (i > j) - (i < j);
}

static void
page_share_read(struct page_share *s, const struct page *r, size_t aim)
{
	size_t dims = r->study->space->n, i;
	struct importance_data data = { .space = r->study->space };

	*s = (struct page_share){ 0 };
	s->points = xcalloc(r->n * dims + 1, sizeof *s->points);
	s->losses = xcalloc(r->n + 1, sizeof *s->losses);
	s->share = xcalloc(dims + 1, sizeof *s->share);
	s->order = xcalloc(dims + 1, sizeof *s->order);
	for (i = 0; i < dims; i++)
		s->order[i] = i;
	trials_take(s, r, aim);
	if (s->n < PAGE_SHARE_LEAST)
		return;
	data.points = s->points;
	data.losses = s->losses;
	data.n = s->n;
	importance_ped_anova(s->share, &data, PAGE_SHARE_GOOD, 1);
	if (trial_points_shares(s->share, dims) > 0)
		qsort_r(
		    s->order, dims, sizeof *s->order, share_compare, s->share);
	else
		memset(s->share, 0, dims * sizeof *s->share);
}

const struct page_share *
page_share_of(struct page *r, size_t aim)
{
	if (r->shares == NULL)
		r->shares = xcalloc(r->aims.n + 1, sizeof *r->shares);
	if (r->shares[aim].order == NULL)
		page_share_read(&r->shares[aim], r, aim);
	return &r->shares[aim];
}

double
page_data_width(const struct page *r)
{
	return r->width > 0 ? r->width : PAGE_WIDTH;
}

double
page_data_height(const struct page *r, double high)
{
	return r->width > 0 ? fmin(high, fmax(0.62 * r->width, 160)) : high;
}

size_t
page_data_ticks(const struct page *r, size_t n)
{
	double fit = (double)n * page_data_width(r) / PAGE_WIDTH;

	return fit < 4 ? 4 : (size_t)fit < n ? (size_t)fit : n;
}
