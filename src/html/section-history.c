/* Every trial's objective by its number, and the best so far. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/html/page.h"
#include "src/html/decimate.h"
#include "src/model/study/study.h"
#include "src/server/status/rows.h"

enum { HEIGHT = 300, SQUARE = 5 };

static void
marks_told(struct report *r, struct chart *c)
{
	const struct report_trial *t;
	struct buf d = { 0 }, text = { 0 };
	size_t i;

	for (i = 0; i < r->n; i++) {
		t = &r->trials[i];
		if (isnan(t->objective))
			continue;
		chart_mark_put(&d, report_mark(t),
		    axis_at(&c->x, (double)t->number),
		    axis_at(&c->y, t->objective));
		buf_clear(&text);
		report_tell(&text, r, t);
		chart_told(
		    c, chart_mark_class(report_mark(t)), &d, buf_str(&text));
	}
	buf_free(&text);
}

/* Of all that lie on each other one; completed ones on top. */
static void
marks_thinned(struct report *r, struct chart *c)
{
	struct buf d[MARKS] = { { 0 } };
	const struct report_trial *t;
	struct thin thin;
	double x, y;
	size_t i, k;

	for (k = MARKS; k-- > 0;) {
		thin_init(&thin, c->width, c->height, SQUARE);
		for (i = 0; i < r->n; i++) {
			t = &r->trials[i];
			if (isnan(t->objective) || report_mark(t) != k)
				continue;
			x = axis_at(&c->x, (double)t->number);
			y = axis_at(&c->y, t->objective);
			if (thin_take(&thin, x, y))
				chart_mark_put(&d[k], k, x, y);
		}
		thin_fini(&thin);
		chart_path(c, chart_mark_class(k), &d[k]);
	}
}

/* Steps: nothing else is known between two trials. */
static bool
best_line(struct report *r, struct chart *c)
{
	struct buf d = { 0 };
	struct trace line = { .d = &d, .column = 0.5 };
	double best = NAN, x;
	size_t i;

	for (i = 0; i < r->n; i++) {
		if (!report_counts(&r->trials[i]) ||
		    (!isnan(best) &&
			!report_better(r, r->trials[i].objective, best)))
			continue;
		x = axis_at(&c->x, (double)r->trials[i].number);
		if (!isnan(best))
			trace_add(&line, x, axis_at(&c->y, best));
		best = r->trials[i].objective;
		trace_add(&line, x, axis_at(&c->y, best));
	}
	if (!isnan(best))
		trace_add(&line, c->x.to, axis_at(&c->y, best));
	trace_end(&line);
	chart_path(c, "best", &d);
	return !isnan(best);
}

static void
keys_put(struct report *r, bool line)
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
		n[report_mark(&r->trials[i])] += !isnan(r->trials[i].objective);
	html_open(h, "p");
	html_attr(h, "class", "keys");
	for (i = 0; i < MARKS; i++)
		if (n[i] > 0)
			chart_legend(h, (enum chart_mark)i, names[i]);
	html_text(h, line ? "The line is the best so far." : NULL);
	html_close(h, "p");
}

static void
notes_put(struct report *r)
{
	struct html *h = &r->h;
	size_t without = r->n - r->with_value;

	if (r->with_value > REPORT_TOLD)
		report_note(h,
		    "%zu trials: marks that would cover each other are drawn "
		    "once.",
		    r->with_value);
	if (r->beyond > 0)
		report_note(h,
		    "%zu value%s far from all others: at the edge of the "
		    "frame.",
		    r->beyond, r->beyond == 1 ? " lies" : "s lie");
	if (without > 0)
		report_note(h, "%zu trial%s no finite value.", without,
		    without == 1 ? " has" : "s have");
}

/* Whether there is a line of the best. */
static bool
drawing_put(struct report *r)
{
	struct chart c = { .h = &r->h,
		.width = REPORT_WIDTH,
		.height = HEIGHT,
		.y = r->value };
	struct tick ticks[AXIS_TICKS];
	struct buf name = { 0 };
	bool line = false;
	size_t n;

	c.x = (struct axis){
		.kind = AXIS_COUNT, .low = 0, .high = (double)r->n + 1
	};
	chart_frame(&c, 64);
	buf_printf(&name, "%s of %zu trials by number", r->study->metric,
	    r->with_value);
	chart_open(&c, buf_str(&name));
	n = axis_ticks(&c.x, 10, ticks);
	chart_x(&c, ticks, n, "trial");
	n = axis_ticks(&c.y, 7, ticks);
	buf_clear(&name);
	buf_printf(&name, "%s%s", r->study->metric,
	    c.y.kind == AXIS_LOG ? " (logarithmic)" : "");
	chart_y(&c, ticks, n, buf_str(&name));
	if (!r->aims.several)
		line = best_line(r, &c);
	if (r->with_value <= REPORT_TOLD)
		marks_told(r, &c);
	else
		marks_thinned(r, &c);
	chart_close(&c);
	buf_free(&name);
	return line;
}

int
report_history(struct report *r, struct err *e)
{
	(void)e;
	if (r->with_value == 0)
		return 0;
	report_section(&r->h, "History");
	keys_put(r, drawing_put(r));
	notes_put(r);
	report_section_end(&r->h);
	return 0;
}
