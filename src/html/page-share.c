/* Computes the shares from the trials that the page has read. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/cli/common/trial-points.h"
#include "src/html/page-data.h"
#include "src/html/page-share.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "strategies/importance/importance.h"

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

void
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

void
page_share_fini(struct page_share *s)
{
	free(s->points);
	free(s->losses);
	free(s->share);
	free(s->order);
}
