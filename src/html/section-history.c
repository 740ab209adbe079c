/* Each trial's objective by its number, and the best so far. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/html/decimate.h"
#include "src/html/section.h"
#include "src/model/study/study.h"

enum { HEIGHT = 300, SQUARE = 5 };

/* The ranges of both axes: all trials, or those that were asked for. */
static void
section_history_frame_fit(struct page *r, struct chart *c)
{
	const double *trials = page_data_zoom(r, "history.x");
	const double *range = page_data_zoom(r, "history.y");
	double *values;
	size_t i, n = 0;

	c->x = (struct axis){
		.kind = AXIS_COUNT, .low = 0, .high = (double)r->n + 1
	};
	if (trials != NULL) {
		axis_zoom(&c->x, trials);
		values = xcalloc(r->n + 1, sizeof *values);
		for (i = 0; i < r->n; i++)
			if (axis_holds(&c->x, (double)r->trials[i].number))
				values[n++] = r->trials[i].objective;
		c->y = (struct axis){ .kind = AXIS_LINEAR };
		axis_fit(&c->y, values, n);
		c->y.open = true;
		free(values);
	}
	if (range != NULL)
		axis_zoom(&c->y, range);
}

/* Whether it is drawn; without a zoom its value may be beyond the edge. */
static bool
section_history_is_shown(const struct page_trial *t, const struct chart *c)
{
	return !isnan(t->objective) && axis_holds(&c->x, (double)t->number) &&
	       (!c->y.open || axis_holds(&c->y, t->objective));
}

static void
section_history_marks_told(struct page *r, struct chart *c)
{
	const struct page_trial *t;
	struct buf d = { 0 }, text = { 0 };
	size_t i;

	for (i = 0; i < r->n; i++) {
		t = &r->trials[i];
		if (!section_history_is_shown(t, c))
			continue;
		chart_mark_put(&d, page_data_mark(t),
		    axis_at(&c->x, (double)t->number),
		    axis_at(&c->y, t->objective));
		buf_clear(&text);
		page_data_describe(&text, r, t);
		chart_path_titled(
		    c, chart_mark_class(page_data_mark(t)), &d, buf_str(&text));
	}
	buf_free(&text);
}

/* One of the marks that overlap; completed trials on top. */
static void
section_history_marks_thinned(struct page *r, struct chart *c)
{
	struct buf d[MARKS] = { { 0 } }, trials = { 0 };
	const struct page_trial *t;
	struct decimate thin;
	double x, y;
	size_t i, k;

	for (k = MARKS; k-- > 0;) {
		decimate_init(&thin, c->width, c->height, SQUARE);
		for (i = 0; i < r->n; i++) {
			t = &r->trials[i];
			if (page_data_mark(t) != k ||
			    !section_history_is_shown(t, c))
				continue;
			x = axis_at(&c->x, (double)t->number);
			y = axis_at(&c->y, t->objective);
			if (!decimate_take(&thin, x, y))
				continue;
			chart_mark_put(&d[k], k, x, y);
			buf_printf(&trials, "%" PRId64 " ", t->number);
		}
		decimate_fini(&thin);
		chart_path_trials(c, chart_mark_class(k), &d[k], &trials);
	}
}

/* Steps: the best value changes only at trials. */
static bool
best_line(struct page *r, struct chart *c)
{
	struct buf d = { 0 };
	struct decimate_line line = { .d = &d, .column = 0.5 };
	double best = NAN, x;
	size_t i;

	for (i = 0; i < r->n; i++) {
		if (!page_data_is_candidate(&r->trials[i]) ||
		    (!isnan(best) &&
			!page_data_better(r, r->trials[i].objective, best)))
			continue;
		x = axis_at(&c->x, (double)r->trials[i].number);
		if (!isnan(best))
			decimate_line_add(&line, x, axis_at(&c->y, best));
		best = r->trials[i].objective;
		decimate_line_add(&line, x, axis_at(&c->y, best));
	}
	if (!isnan(best))
		decimate_line_add(&line, c->x.to, axis_at(&c->y, best));
	decimate_line_end(&line);
	chart_path(c, "best", &d);
	return !isnan(best);
}

/* The legend entry of a mark. */
static void
legend_put(struct html *h, enum chart_mark mark, const char *text)
{
	struct chart c = { .h = h };
	struct buf d = { 0 };

	chart_legend_open(&c);
	chart_mark_put(&d, mark, 6, 6);
	chart_path(&c, chart_mark_class(mark), &d);
	chart_legend_close(&c, text);
}

static void
section_history_keys_put(struct page *r, bool line)
{
	size_t n[MARKS] = { 0 }, i;
	static const char *const names[MARKS] = {
		[MARK_DOT] = "completed",
		[MARK_RING] = "not ended, or breaks a constraint",
		[MARK_DIAMOND] = "stopped early",
		[MARK_CROSS] = "failed or cancelled",
	};
	struct html *h = &r->h;

	for (i = 0; i < r->n; i++)
		n[page_data_mark(&r->trials[i])] +=
		    !isnan(r->trials[i].objective);
	html_open(h, "p");
	html_attr(h, "class", "keys");
	for (i = 0; i < MARKS; i++)
		if (n[i] > 0)
			legend_put(h, (enum chart_mark)i, names[i]);
	html_text(h, line ? "The line is the best so far." : NULL);
	html_close(h, "p");
}

static void
section_history_notes_put(struct page *r)
{
	struct html *h = &r->h;
	size_t without = r->n - r->with_value;

	if (r->with_value > PAGE_TITLED_MARKS)
		section_note(h,
		    "%zu trials: marks that would cover each other are drawn "
		    "once.",
		    r->with_value);
	if (r->beyond > 0)
		section_note(h,
		    "%zu value%s far from all others: at the edge of the "
		    "frame.",
		    r->beyond, r->beyond == 1 ? " lies" : "s lie");
	if (without > 0)
		section_note(h, "%zu trial%s no finite value.", without,
		    without == 1 ? " has" : "s have");
}

/* Whether there is a line of the best value. */
static bool
section_history_drawing_put(struct page *r)
{
	struct chart c = { .h = &r->h,
		.width = page_data_width(r),
		.height = page_data_height(r, HEIGHT),
		.y = r->value };
	struct tick ticks[AXIS_TICKS];
	struct buf name = { 0 };
	bool line = false;
	size_t n;

	section_history_frame_fit(r, &c);
	c.zoom = r->zoomable ? "history" : NULL;
	chart_frame(&c, 64);
	buf_printf(&name, "%s of %zu trial%s by number", r->study->metric,
	    r->with_value, r->with_value == 1 ? "" : "s");
	chart_open(&c, buf_str(&name));
	n = axis_ticks(&c.x, page_data_ticks(r, 10), ticks);
	chart_x(&c, ticks, n, "trial");
	n = axis_ticks(&c.y, 7, ticks);
	buf_clear(&name);
	buf_printf(&name, "%s%s", r->study->metric,
	    c.y.kind == AXIS_LOG ? " (logarithmic)" : "");
	chart_y(&c, ticks, n, buf_str(&name));
	chart_clip_open(&c, "clip-history");
	if (!r->aims.several)
		line = best_line(r, &c);
	chart_clip_close(&c);
	if (r->with_value <= PAGE_TITLED_MARKS)
		section_history_marks_told(r, &c);
	else
		section_history_marks_thinned(r, &c);
	chart_close(&c);
	buf_free(&name);
	return line;
}

static int
history_put(struct page *r, struct err *e)
{
	(void)e;
	if (r->with_value == 0)
		return 0;
	section_begin(&r->h, "History");
	section_history_keys_put(r, section_history_drawing_put(r));
	section_history_notes_put(r);
	section_end(&r->h);
	return 0;
}

const struct page_section section_history = { "history", history_put };
