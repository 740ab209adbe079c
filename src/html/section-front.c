/* Several objectives: trials by each pair of them, and the front. */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/html/decimate.h"
#include "src/html/section.h"
#include "src/model/goal.h"
#include "src/view/objectives.h"

enum { HEIGHT = 320, SQUARE = 5, PAIRS = 3 };

/* The range of one objective. */
static void
aim_fit(const struct page *r, size_t k, struct axis *a)
{
	double *values = xcalloc(r->n + 1, sizeof *values);
	size_t i;

	for (i = 0; i < r->n; i++)
		values[i] = r->outcomes[i * r->aims.n + k];
	axis_fit(a, values, r->n);
	free(values);
}

static bool
section_front_place(const struct page *r, const struct chart *c, size_t trial,
    size_t k, double *x, double *y)
{
	const double *values = r->outcomes + trial * r->aims.n;

	if (isnan(values[0]) || isnan(values[k]))
		return false;
	*x = axis_at(&c->x, values[0]);
	*y = axis_at(&c->y, values[k]);
	return true;
}

static void
section_front_marks_put(struct page *r, struct chart *c, size_t k)
{
	struct buf d[MARKS] = { { 0 } };
	struct decimate thin;
	double x, y;
	size_t m, i;

	for (m = MARKS; m-- > 0;) {
		decimate_init(&thin, c->width, c->height, SQUARE);
		for (i = 0; i < r->n; i++)
			if (page_data_mark(&r->trials[i]) == m &&
			    section_front_place(r, c, i, k, &x, &y) &&
			    decimate_take(&thin, x, y))
				chart_mark_put(&d[m], m, x, y);
		decimate_fini(&thin);
		chart_path(c, chart_mark_class(m), &d[m]);
	}
}

/* Trials of the front have tooltips, as long as they are few. */
static int
rings_put(struct page *r, struct chart *c, size_t k, struct err *e)
{
	struct buf d = { 0 }, text = { 0 };
	struct store_rows *rows;
	struct decimate thin;
	size_t i, n = 0;
	double x, y;
	int rc;

	if (store_rows_open(
		&rows, r->store, "SELECT trial FROM front", NULL, e) != 0)
		return -1;
	decimate_init(&thin, c->width, c->height, SQUARE);
	while ((rc = store_rows_next(rows, e)) == 1) {
		i = (size_t)store_rows_int(rows, 0) - 1;
		if (i >= r->n || !section_front_place(r, c, i, k, &x, &y) ||
		    !decimate_take(&thin, x, y) || n++ >= PAGE_TITLED_MARKS)
			continue;
		chart_mark_put(&d, MARK_RING, x, y);
		buf_clear(&text);
		buf_printf(&text, "trial %lld, on the front: %s %.6g, %s %.6g",
		    (long long)i + 1, r->aims.objectives[0].metric,
		    r->outcomes[i * r->aims.n], r->aims.objectives[k].metric,
		    r->outcomes[i * r->aims.n + k]);
		chart_path_titled(c, "pick", &d, buf_str(&text));
	}
	decimate_fini(&thin);
	store_rows_close(rows);
	buf_free(&text);
	return rc;
}

static void
section_front_name_put(
    struct buf *b, const struct objective *aim, const struct axis *a)
{
	buf_clear(b);
	buf_printf(b, "%s (%s%s)", aim->metric, goal_name(aim->maximize),
	    a->kind == AXIS_LOG ? ", logarithmic" : "");
}

static int
section_front_drawing_put(struct page *r, size_t k, struct err *e)
{
	struct chart c = { .h = &r->h,
		.width = page_data_width(r),
		.height = page_data_height(r, HEIGHT) };
	const struct objective *aims = r->aims.objectives;
	struct tick ticks[AXIS_TICKS];
	struct buf name = { 0 };
	int rc;

	aim_fit(r, 0, &c.x);
	aim_fit(r, k, &c.y);
	chart_frame(&c, 64);
	buf_printf(&name, "%s against %s", aims[k].metric, aims[0].metric);
	chart_open(&c, buf_str(&name));
	section_front_name_put(&name, &aims[0], &c.x);
	chart_x(&c, ticks, axis_ticks(&c.x, page_data_ticks(r, 8), ticks),
	    buf_str(&name));
	section_front_name_put(&name, &aims[k], &c.y);
	chart_y(&c, ticks, axis_ticks(&c.y, 7, ticks), buf_str(&name));
	section_front_marks_put(r, &c, k);
	rc = rings_put(r, &c, k, e);
	chart_close(&c);
	buf_free(&name);
	return rc;
}

static int
section_front_table_put(struct page *r, struct err *e)
{
	size_t n = r->aims.n + 2, i, shown;
	struct section_column *columns = xcalloc(n, sizeof *columns);
	char *all = objectives_front_sql(&r->aims), *sql;
	int64_t count;
	int rc;

	columns[0] = (struct section_column){ "trial", COLUMN_NUMBER };
	for (i = 0; i < r->aims.n; i++)
		columns[i + 1] =
		    (struct section_column){ r->aims.objectives[i].metric,
			    COLUMN_NUMBER };
	columns[n - 1] = (struct section_column){ "parameters", COLUMN_PARAMS };
	sql = xasprintf("%s LIMIT %d", all, PAGE_ROWS);
	rc = section_table(r, sql, columns, n, &shown, e);
	if (rc == 0)
		rc =
		    page_data_count(r, "SELECT count(*) FROM front", &count, e);
	if (rc == 0 && (size_t)count > shown)
		section_note(&r->h, "%zu of the %lld trials on the front.",
		    shown, (long long)count);
	free(columns);
	free(all);
	free(sql);
	return rc;
}

static int
section_front_put(struct page *r, struct err *e)
{
	size_t k;
	int rc = 0;

	if (!r->aims.several || r->with_value == 0)
		return 0;
	section_begin(&r->h, "Front");
	for (k = 1; k < r->aims.n && k <= PAIRS && rc == 0; k++)
		rc = section_front_drawing_put(r, k, e);
	if (rc == 0)
		section_note(&r->h,
		    "Rings are the front: no other trial is as good in all "
		    "objectives and better in one.");
	if (rc == 0)
		rc = section_front_table_put(r, e);
	section_end(&r->h);
	return rc;
}

const struct page_section section_front = { "front", section_front_put };
