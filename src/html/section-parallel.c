/*
 * Parallel coordinates: an axis for each parameter and for each objective, a
 * line for each trial; a selection when there are many trials.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/html/decimate.h"
#include "src/html/page-data.h"
#include "src/html/section.h"
#include "src/model/space.h"
#include "src/model/study/study.h"

enum {
	HEIGHT = 330,
	FOOT = 40, /* below the axes: names, on two levels */
	TOP = 14,
	SIDE = 60,
	AXES = 13, /* at most, the objectives included */
	AIMS = 4, /* objectives at most */
	COARSE = 20, /* lines in letters */
	LINES = 300, /* at most, half of them the best */
	LETTER = 8, /* width of a letter of a name, at most */
	APART = 45, /* axes of a figure, at least */
	LEAST = 2 /* axes below which nothing is drawn */
};

struct parallel {
	struct page *r;
	struct chart c;
	size_t params[AXES]; /* indices in the space */
	size_t n, left_out; /* parameters drawn, and not */
	bool known; /* which parameters matter most */
	struct axis aims[AIMS]; /* their ranges; positions are those of c.y */
	size_t n_aims;
	size_t *order; /* trials, the best first */
	size_t trials, drawn;
};

static int
parallel_rank(const struct page *r, size_t trial)
{
	return trial != r->best;
}

static double
aim_value(const struct parallel *p, size_t trial, size_t k)
{
	const struct page *r = p->r;

	return r->aims.several ? r->outcomes[trial * r->aims.n + k]
			       : r->trials[trial].objective;
}

static const char *
aim_name(const struct parallel *p, size_t k)
{
	return p->r->aims.objectives[k].metric;
}

/* The objectives that have an axis, and their ranges. */
static void
aims_choose(struct parallel *p)
{
	const struct page *r = p->r;
	double *values;
	size_t i, k;

	p->n_aims = r->aims.n < AIMS ? r->aims.n : AIMS;
	p->aims[0] = r->value;
	if (!r->aims.several)
		return;
	values = xcalloc(r->n + 1, sizeof *values);
	for (k = 0; k < p->n_aims; k++) {
		for (i = 0; i < r->n; i++)
			values[i] = aim_value(p, i, k);
		axis_fit(&p->aims[k], values, r->n);
	}
	free(values);
}

/* The trials with all values; of many the best half and others evenly. */
static void
parallel_trials_choose(struct parallel *p)
{
	struct page *r = p->r;
	size_t i, k, rest, most = r->coarse ? COARSE : LINES;

	p->order = xcalloc(r->n + 1, sizeof *p->order);
	for (i = 0; i < r->n; i++) {
		for (k = 0; k < p->n_aims; k++)
			if (isnan(aim_value(p, i, k)))
				break;
		if (k == p->n_aims)
			p->order[p->trials++] = i;
	}
	page_data_sort(r, p->order, p->trials, parallel_rank);
	p->drawn = p->trials;
	if (p->trials <= most)
		return;
	rest = p->trials - most / 2;
	for (i = 0; i < most / 2; i++)
		p->order[most / 2 + i] =
		    p->order[most / 2 + (i + 1) * rest / (most / 2) - 1];
	p->drawn = most;
}

/* When there are too many, those that matter most, in the study's order. */
static void
params_choose(struct parallel *p)
{
	const struct space *space = p->r->study->space;
	bool *drawn = xcalloc(space->n + 1, sizeof *drawn);
	const struct page_share *s = page_share_of(p->r, 0);
	size_t i, n = 0, axes = AXES;

	if (p->r->width > 0)
		axes = p->n_aims + 1 +
		       (size_t)fmax(0, (p->r->width - 2 * SIDE) / APART -
					   (double)p->n_aims);
	axes = axes < AXES ? axes : AXES;
	for (i = 0; i < space->n; i++) {
		if (space->params[s->order[i]].type == PARAM_FIXED)
			continue;
		if (n < axes - p->n_aims) {
			drawn[s->order[i]] = true;
			n++;
		} else
			p->left_out++;
	}
	p->known = space->n > 0 && s->share[s->order[0]] > 0;
	for (i = 0; i < space->n; i++)
		if (drawn[i])
			p->params[p->n++] = i;
	free(drawn);
}

static double
axis_place(const struct parallel *p, size_t k)
{
	return p->c.left + (p->c.right - p->c.left) * (double)k /
			       (double)(p->n + p->n_aims - 1);
}

static void
parallel_point_put(struct buf *d, bool start, double x, double y)
{
	buf_putc(d, start ? 'M' : 'L');
	decimate_put(d, x);
	buf_putc(d, ' ');
	decimate_put(d, y);
}

/* The line leaves out the axes of inactive parameters. */
static void
parallel_line_put(struct parallel *p, size_t trial)
{
	const struct page *r = p->r;
	const struct page_trial *t = &r->trials[trial];
	struct buf d = { 0 }, text = { 0 };
	bool start = true;
	size_t k;
	double u;

	for (k = 0; k < p->n; k++) {
		u = r->points[trial * r->study->space->n + p->params[k]];
		if (isnan(u))
			continue;
		parallel_point_put(&d, start, axis_place(p, k),
		    p->c.y.from + u * (p->c.y.to - p->c.y.from));
		start = false;
	}
	for (k = 0; k < p->n_aims; k++) {
		parallel_point_put(&d, start, axis_place(p, p->n + k),
		    axis_at(&p->aims[k], aim_value(p, trial, k)));
		start = false;
	}
	page_data_describe(&text, r, t);
	chart_path_titled(
	    &p->c, page_data_class(t, trial == r->best), &d, buf_str(&text));
	buf_free(&text);
}

/*
 * What turns a position on the axis into a value, for a program that reads the
 * page: the scale's name, its ends, or the choices as JSON.
 */
static void
axis_describe(struct html *h, const struct param *param)
{
	static const char *const scales[] = { [SCALE_LINEAR] = "linear",
		[SCALE_LOG] = "log",
		[SCALE_REVERSE_LOG] = "reverse-log" };
	struct buf values = { 0 };
	struct json_writer w = { .out = &values };
	size_t i;

	html_attr(h, "data-axis", param->name);
	if (param->type != PARAM_CHOICE) {
		html_attr(h, "data-scale", scales[param->scale]);
		html_attrf(h, "data-min", "%.17g", param->min);
		html_attrf(h, "data-max", "%.17g", param->max);
		return;
	}
	json_writer_array(&w, NULL);
	for (i = 0; i < param->n_values; i++)
		param_value_put_json(
		    json_writer_value(&w, NULL), &param->values[i]);
	json_writer_end(&w);
	html_attr(h, "data-values", buf_str(&values));
	buf_free(&values);
}

static void
axis_line_put(struct parallel *p, size_t k, const struct tick *ticks, size_t n)
{
	struct html *h = p->c.h;
	struct buf d = { 0 };
	double x = axis_place(p, k);
	size_t i;

	html_open(h, "path");
	html_attr(h, "class", k < p->n ? "axis" : "axis aim");
	html_attrf(
	    h, "d", "M%.1f %.1fv%.1f", x, p->c.y.to, p->c.y.from - p->c.y.to);
	if (k < p->n)
		axis_describe(h, &p->r->study->space->params[p->params[k]]);
	else {
		const struct axis *aim = &p->aims[k - p->n];

		html_attr(h, "data-axis", aim_name(p, k - p->n));
		html_attr(
		    h, "data-scale", aim->kind == AXIS_LOG ? "log" : "linear");
		html_attrf(h, "data-min", "%.17g", aim->low);
		html_attrf(h, "data-max", "%.17g", aim->high);
	}
	html_close(h, "path");
	for (i = 0; i < n; i++) {
		buf_printf(&d, "M%.1f %.1fh4", x - 2, ticks[i].at);
		html_open(h, "text");
		html_attr(h, "class", "at");
		html_attrf(h, "x", "%.1f", x - 4);
		html_attrf(h, "y", "%.1f", ticks[i].at + 3.5);
		html_text(h, ticks[i].label);
		html_close(h, "text");
	}
	chart_path(&p->c, "base", &d);
}

/* The end of a name in at most this many columns. */
static const char *
parallel_name_end(const char *name, size_t columns)
{
	while (text_width(name) > columns)
		name += text_fit(name, 1) > 0 ? text_fit(name, 1)
					      : text_fit(name, 2);
	return name;
}

/*
 * Names stand on two levels, so that neighbours do not overlap; the middle of
 * longer ones is left out, and their titles have it.
 */
static void
axis_name_put(struct parallel *p, size_t k)
{
	struct html *h = p->c.h;
	const char *name = k < p->n
			       ? p->r->study->space->params[p->params[k]].name
			       : aim_name(p, k - p->n);
	double room = k == 0 || k + 1 == p->n + p->n_aims
			  ? 2 * SIDE
			  : 2 * (axis_place(p, 1) - axis_place(p, 0));
	size_t most = (size_t)(room / LETTER), len = text_fit(name, most);

	html_open(h, "text");
	html_attr(h, "class", "xt name");
	html_attrf(h, "x", "%.1f", axis_place(p, k));
	html_attrf(h, "y", "%.1f", p->c.y.from + (k % 2 == 0 ? 16 : 31));
	if (name[len] == '\0')
		html_text(h, name);
	else {
		html_leaf(h, "title", NULL, name);
		len = text_fit(name, (most - 1) / 2);
		html_textf(h, "%.*s\xe2\x80\xa6%s", (int)len, name,
		    parallel_name_end(name, most / 2));
	}
	html_close(h, "text");
}

static void
axes_put(struct parallel *p)
{
	struct tick ticks[AXIS_TICKS];
	size_t k, n;

	for (k = 0; k < p->n + p->n_aims; k++) {
		n = k < p->n ? axis_param(p->r->study->space, p->params[k],
				   NULL, p->c.y.from, p->c.y.to, 6, ticks)
			     : axis_ticks(&p->aims[k - p->n], 6, ticks);
		axis_line_put(p, k, ticks, n);
		axis_name_put(p, k);
	}
}

static void
parallel_drawing_put(struct parallel *p)
{
	struct html *h = &p->r->h;
	struct buf name = { 0 };
	size_t i;

	p->c = (struct chart){ .h = h,
		.width = page_data_width(p->r),
		.height = page_data_height(p->r, HEIGHT),
		.left = SIDE };
	p->c.right = p->c.width - SIDE;
	p->c.y.from = p->c.height - FOOT;
	p->c.y.to = TOP;
	for (i = 0; i < p->n_aims; i++) {
		p->aims[i].from = p->c.y.from;
		p->aims[i].to = p->c.y.to;
	}
	buf_printf(&name,
	    "Parallel coordinates of %zu trial%s: %zu parameter%s "
	    "and %s",
	    p->drawn, p->drawn == 1 ? "" : "s", p->n, p->n == 1 ? "" : "s",
	    aim_name(p, 0));
	for (i = 1; i < p->n_aims; i++)
		buf_printf(&name, ", %s", aim_name(p, i));
	html_open(h, "div");
	html_attr(h, "class", "parallel");
	chart_open(&p->c, buf_str(&name));
	for (i = p->drawn; i-- > 0;)
		parallel_line_put(p, p->order[i]);
	axes_put(p);
	chart_close(&p->c);
	html_leaf(h, "p", "note brushed", ""); /* for scripts */
	html_close(h, "div");
	buf_free(&name);
}

static int
parallel_put(struct page *r, struct err *e)
{
	struct parallel p = { .r = r };

	(void)e;
	aims_choose(&p);
	params_choose(&p);
	if (p.n + 1 < LEAST || r->with_value == 0)
		return 0;
	parallel_trials_choose(&p);
	section_begin(&r->h, "Parallel coordinates");
	parallel_drawing_put(&p);
	section_note(&r->h,
	    "A line is a trial: blue completed, orange stopped early%s. It "
	    "leaves out the axes of inactive parameters.",
	    r->aims.several ? "" : ", the thick one the best");
	if (p.drawn < p.trials)
		section_note(&r->h,
		    "%zu of %zu trials are drawn: the best %d%s%s, and others "
		    "evenly from the better to the worse.",
		    p.drawn, p.trials, (int)p.drawn / 2,
		    r->aims.several ? " by " : "",
		    r->aims.several ? aim_name(&p, 0) : "");
	if (p.left_out > 0)
		section_note(&r->h, "%zu more parameters have no axis here%s.",
		    p.left_out, p.known ? ": they matter less" : "");
	section_end(&r->h);
	free(p.order);
	return 0;
}

const struct page_section section_parallel = { "parallel", parallel_put };
