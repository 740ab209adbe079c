/* Parameter importance: shares of PED-ANOVA as bars. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/cli/common/trial-points.h"
#include "src/html/section.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "strategies/importance/importance.h"

enum {
	LEAST = 10, /* trials below which no result is shown */
	HINTS = 50, /* … below which the result is marked as uncertain */
	BAR = 100
};

#define GOOD 0.1 /* the share of good trials */

/* The completed trials as the command importance selects them; their number. */
static size_t
trials_take(const struct page *r, double *points, double *losses)
{
	size_t dims = r->study->space->n, i, n = 0;
	const struct page_trial *t;

	for (i = 0; i < r->n; i++) {
		t = &r->trials[i];
		if (t->state != TRIAL_COMPLETED || t->objective != t->objective)
			continue;
		memcpy(points + n * dims, r->points + i * dims,
		    dims * sizeof *points);
		losses[n++] = r->study->maximize ? -t->objective : t->objective;
	}
	return n;
}

/* most: the greatest share, which has the longest bar. */
static void
row_put(struct html *h, const char *name, double share, double most)
{
	html_open(h, "tr");
	html_leaf(h, "td", NULL, name);
	html_open(h, "td");
	html_attr(h, "class", "n");
	html_textf(h, "%.1f %%", 100 * share);
	html_close(h, "td");
	html_open(h, "td");
	html_attr(h, "class", "share");
	html_open(h, "svg");
	html_attr(h, "xmlns", "http://www.w3.org/2000/svg");
	html_attrf(h, "viewBox", "0 0 %d 4", BAR);
	html_attr(h, "preserveAspectRatio", "none");
	html_attr(h, "aria-hidden", "true");
	html_open(h, "rect");
	html_attr(h, "class", "bar");
	html_attrf(h, "width", "%.1f", BAR * share / most);
	html_attr(h, "height", "4");
	html_close(h, "rect");
	html_close(h, "svg");
	html_close(h, "td");
	html_close(h, "tr");
}

/* The greatest shares first, limited to the first ones. */
static void
shares_put(struct page *r, const size_t *order, const double *share)
{
	const struct param *params = r->study->space->params;
	struct html *h = &r->h;
	size_t i, rows = 0, rest = 0;
	double sum = 0;

	html_open(h, "table");
	html_open(h, "tbody");
	for (i = 0; i < r->study->space->n; i++) {
		if (params[order[i]].type == PARAM_FIXED)
			continue;
		if (rows++ < PAGE_ROWS)
			row_put(h, params[order[i]].name, share[order[i]],
			    share[order[0]]);
		else {
			rest++;
			sum += share[order[i]];
		}
	}
	html_close(h, "tbody");
	html_close(h, "table");
	if (rest > 0)
		section_note(
		    h, "%zu others: together %.1f %%.", rest, 100 * sum);
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
importance_put(
    struct page *r, const size_t *order, const double *share, size_t n)
{
	section_begin(&r->h, "Parameters that mattered");
	shares_put(r, order, share);
	section_note(&r->h,
	    "PED-ANOVA of %zu completed trials: how much each parameter alone "
	    "brings a trial among the best %.0f %% by %s.%s",
	    n, 100 * GOOD, r->study->metric,
	    n < HINTS ? " With so few of them the numbers are hints." : "");
	section_end(&r->h);
}

int
section_importance(struct page *r, struct err *e)
{
	size_t dims = r->study->space->n, i;
	double *points = xcalloc(r->n * dims + 1, sizeof *points);
	double *losses = xcalloc(r->n + 1, sizeof *losses);
	double *share = xcalloc(dims + 1, sizeof *share);
	size_t *order = xcalloc(dims + 1, sizeof *order);
	struct importance_data data = {
		.space = r->study->space, .points = points, .losses = losses
	};
	int rc;

	for (i = 0; i < dims; i++)
		order[i] = i;
	data.n = trials_take(r, points, losses);
	if (data.n >= LEAST) {
		importance_ped_anova(share, &data, GOOD, 1);
		if (trial_points_shares(share, dims) > 0) {
			qsort_r(
			    order, dims, sizeof *order, share_compare, share);
			importance_put(r, order, share, data.n);
		}
	}
	rc = section_params(r, order, e);
	free(points);
	free(losses);
	free(share);
	free(order);
	return rc;
}
