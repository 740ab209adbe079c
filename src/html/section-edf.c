/* The share of trials whose objective is at most a value (ECDF). */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/search.h"
#include "src/html/decimate.h"
#include "src/html/section.h"
#include "src/model/study/study.h"

enum { HEIGHT = 300 };

static void
edf_line_put(struct chart *c, const double *values, size_t n)
{
	struct buf d = { 0 };
	struct decimate_line line = { .d = &d, .column = 0.5 };
	size_t i;

	decimate_line_add(&line, c->x.from, axis_at(&c->y, 0));
	for (i = 0; i < n; i++) {
		decimate_line_add(&line, axis_at(&c->x, values[i]),
		    axis_at(&c->y, (double)i / (double)n));
		decimate_line_add(&line, axis_at(&c->x, values[i]),
		    axis_at(&c->y, (double)(i + 1) / (double)n));
	}
	decimate_line_add(&line, c->x.to, axis_at(&c->y, 1));
	decimate_line_end(&line);
	chart_path(c, "best", &d);
}

static int
edf_put(struct page *r, struct err *e)
{
	struct chart c = { .h = &r->h,
		.width = page_data_width(r),
		.height = page_data_height(r, HEIGHT),
		.x = r->value,
		.y = { .kind = AXIS_LINEAR, .low = 0, .high = 1 } };
	double *values = xcalloc(r->n + 1, sizeof *values);
	struct tick ticks[AXIS_TICKS];
	struct buf name = { 0 };
	size_t i, n = 0;

	(void)e;
	for (i = 0; i < r->n; i++)
		if (r->trials[i].state == TRIAL_COMPLETED &&
		    !isnan(r->trials[i].objective))
			values[n++] = r->trials[i].objective;
	qsort(values, n, sizeof *values, search_by_double);
	if (n > 0) {
		section_begin(&r->h, "Distribution of results");
		chart_frame(&c, 48);
		buf_printf(&name, "share of %zu completed trials by %s", n,
		    r->study->metric);
		chart_open(&c, buf_str(&name));
		buf_clear(&name);
		buf_printf(&name, "%s%s", r->study->metric,
		    c.x.kind == AXIS_LOG ? " (logarithmic)" : "");
		chart_x(&c, ticks,
		    axis_ticks(&c.x, page_data_ticks(r, 10), ticks),
		    buf_str(&name));
		chart_y(&c, ticks, axis_ticks(&c.y, 5, ticks),
		    "share of completed trials");
		edf_line_put(&c, values, n);
		chart_close(&c);
		section_note(&r->h,
		    "Of each value, the share of the %zu completed trials "
		    "that are at most as high.",
		    n);
		section_end(&r->h);
	}
	buf_free(&name);
	free(values);
	return 0;
}

const struct page_section section_edf = { "edf", edf_put };
