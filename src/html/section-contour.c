/*
 * A map of the objective over two parameters: in each cell the mean of the trials
 * around it, weighted by a Gaussian kernel (Nadaraya 1964, Watson 1964) in the
 * unit square.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/search.h"
#include "src/html/decimate.h"
#include "src/html/section.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/view/rows.h"

enum {
	HEIGHT = 420,
	ACROSS = 36, /* cells */
	UP = 24,
	LEVELS = 7,
	TRIALS = 1500, /* at most, evenly from all */
	LEAST = 10, /* trials below which nothing is drawn */
	SQUARE = 4
};

#define WIDTH_OF_KERNEL 0.07
#define LEAST_WEIGHT \
	0.05 /* of the trials around a cell; emptier ones stay bare */

/* A trial for the mean of a cell: its parameters, its value. */
struct sample {
	double x, y, value;
};

struct map {
	struct page *r;
	size_t x, y; /* the parameters */
	size_t *trials, n; /* with a value, and both parameters active */
	struct sample *samples; /* n */
	double cell[ACROSS * UP]; /* NaN = bare */
	double level[LEVELS - 1]; /* the bounds between the levels, ascending */
	size_t filled;
};

static double
contour_point(const struct map *m, size_t trial, size_t param)
{
	return m->r->points[trial * m->r->study->space->n + param];
}

static void
contour_trials_choose(struct map *m)
{
	const struct page *r = m->r;
	size_t i, all = 0, step;

	m->trials = xcalloc(r->n + 1, sizeof *m->trials);
	for (i = 0; i < r->n; i++)
		if (r->trials[i].state == TRIAL_COMPLETED &&
		    !isnan(r->trials[i].objective) &&
		    axis_holds(&r->value, r->trials[i].objective) &&
		    !isnan(contour_point(m, i, m->x)) &&
		    !isnan(contour_point(m, i, m->y)))
			m->trials[all++] = i;
	step = all / TRIALS + 1;
	for (i = 0; i < all; i += step)
		m->trials[m->n++] = m->trials[i];
}

/* Along one parameter; of a choice the index of the value. */
static double
contour_along(const struct map *m, size_t param, double u)
{
	const struct param *p = &m->r->study->space->params[param];

	return p->type == PARAM_CHOICE ? floor(u * (double)p->n_values) : u;
}

static void
contour_samples_read(struct map *m)
{
	size_t i;

	m->samples = xcalloc(m->n + 1, sizeof *m->samples);
	for (i = 0; i < m->n; i++)
		m->samples[i] =
		    (struct sample){ .x = contour_along(m, m->x,
					 contour_point(m, m->trials[i], m->x)),
			    .y = contour_along(
				m, m->y, contour_point(m, m->trials[i], m->y)),
			    .value = m->r->trials[m->trials[i]].objective };
}

/*
 * In widths of the kernel; of a choice, whose values have no order, only its own
 * trials are there.
 */
static double
contour_distance(double a, double b, bool choice)
{
	if (choice)
		return a == b ? 0 : INFINITY;
	return (a - b) / WIDTH_OF_KERNEL;
}

/* The mean around the middle of a cell; NaN where there are no trials. */
static double
cell_mean(const struct map *m, double u, double v)
{
	const struct param *params = m->r->study->space->params;
	bool x_choice = params[m->x].type == PARAM_CHOICE;
	bool y_choice = params[m->y].type == PARAM_CHOICE;
	double weight = 0, sum = 0, dx, dy, w;
	double x = contour_along(m, m->x, u), y = contour_along(m, m->y, v);
	size_t i;

	for (i = 0; i < m->n; i++) {
		dx = contour_distance(m->samples[i].x, x, x_choice);
		if (!(dx * dx <= 16))
			continue;
		dy = contour_distance(m->samples[i].y, y, y_choice);
		if (!(dx * dx + dy * dy <= 16))
			continue;
		w = exp(-0.5 * (dx * dx + dy * dy));
		weight += w;
		sum += w * m->samples[i].value;
	}
	return weight < LEAST_WEIGHT ? NAN : sum / weight;
}

/* The levels divide the cells evenly. */
static void
cells_fill(struct map *m)
{
	double sorted[ACROSS * UP];
	size_t i, k, column, row;

	for (i = 0; i < ACROSS * UP; i++) {
		column = i % ACROSS;
		row = i / ACROSS;
		m->cell[i] = cell_mean(m, ((double)column + 0.5) / ACROSS,
		    ((double)row + 0.5) / UP);
		if (!isnan(m->cell[i]))
			sorted[m->filled++] = m->cell[i];
	}
	if (m->filled == 0)
		return;
	qsort(sorted, m->filled, sizeof *sorted, search_by_double);
	for (k = 1; k < LEVELS; k++)
		m->level[k - 1] = sorted[k * m->filled / LEVELS];
}

/* 0 is the worst level. */
static size_t
contour_level_of(const struct map *m, double value)
{
	size_t k = 0;

	while (k < LEVELS - 1 && value >= m->level[k])
		k++;
	return m->r->study->maximize ? k : LEVELS - 1 - k;
}

/* One path for all cells of a level. */
static void
cells_put(const struct map *m, struct chart *c)
{
	double w = (c->x.to - c->x.from) / ACROSS;
	double h = (c->y.from - c->y.to) / UP;
	struct buf d[LEVELS] = { { 0 } };
	char class[16];
	size_t i, k, column, row;

	for (i = 0; i < ACROSS * UP; i++) {
		if (isnan(m->cell[i]))
			continue;
		k = contour_level_of(m, m->cell[i]);
		column = i % ACROSS;
		row = i / ACROSS;
		buf_putc(&d[k], 'M');
		decimate_put(&d[k], c->x.from + (double)column * w);
		buf_putc(&d[k], ' ');
		decimate_put(&d[k], c->y.from - (double)row * h);
		buf_putc(&d[k], 'h');
		decimate_put(&d[k], w);
		buf_putc(&d[k], 'v');
		decimate_put(&d[k], -h);
		buf_putc(&d[k], 'h');
		decimate_put(&d[k], -w);
		buf_putc(&d[k], 'z');
	}
	for (k = 0; k < LEVELS; k++) {
		(void)snprintf(class, sizeof class, "level k%zu", k);
		chart_path(c, class, &d[k]);
	}
}

/* Where the mark of a trial is; those of one value lie beside each other. */
static double
contour_place(
    const struct map *m, size_t trial, size_t param, const struct axis *a)
{
	double u = contour_point(m, trial, param) +
		   section_param_jitter(&m->r->study->space->params[param],
		       m->r->trials[trial].number);

	return a->from + u * (a->to - a->from);
}

static void
contour_marks_put(const struct map *m, struct chart *c)
{
	struct buf d = { 0 }, trials = { 0 };
	struct decimate thin;
	double x, y;
	size_t i;

	decimate_init(&thin, c->width, c->height, SQUARE);
	for (i = 0; i < m->n; i++) {
		x = contour_place(m, m->trials[i], m->x, &c->x);
		y = contour_place(m, m->trials[i], m->y, &c->y);
		if (!decimate_take(&thin, x, y))
			continue;
		chart_mark_put(&d, MARK_DOT, x, y);
		buf_printf(
		    &trials, "%" PRId64 " ", m->r->trials[m->trials[i]].number);
	}
	decimate_fini(&thin);
	chart_path_trials(c, "m dot small", &d, &trials);
}

static void
best_mark_put(const struct map *m, struct chart *c)
{
	const struct page *r = m->r;
	struct buf d = { 0 };

	if (r->best == r->n || isnan(contour_point(m, r->best, m->x)) ||
	    isnan(contour_point(m, r->best, m->y)))
		return;
	chart_mark_put(&d, MARK_RING, contour_place(m, r->best, m->x, &c->x),
	    contour_place(m, r->best, m->y, &c->y));
	chart_path(c, "pick", &d);
}

static void
axis_name(struct buf *out, const struct param *p)
{
	buf_clear(out);
	buf_printf(out, "%s%s", p->name,
	    p->type == PARAM_CHOICE || p->scale == SCALE_LINEAR
		? ""
		: " (logarithmic)");
}

static void
contour_drawing_put(const struct map *m)
{
	const struct space *space = m->r->study->space;
	struct chart c = { .h = &m->r->h,
		.width = page_data_width(m->r),
		.height = page_data_height(m->r, HEIGHT) };
	struct tick ticks[AXIS_TICKS];
	struct buf name = { 0 };

	chart_frame(&c, 84);
	buf_printf(&name, "%s over %s and %s", m->r->study->metric,
	    space->params[m->x].name, space->params[m->y].name);
	chart_open(&c, buf_str(&name));
	cells_put(m, &c);
	axis_name(&name, &space->params[m->x]);
	chart_x(&c, ticks,
	    axis_param(space, m->x, NULL, c.x.from, c.x.to,
		page_data_ticks(m->r, 10), ticks),
	    buf_str(&name));
	axis_name(&name, &space->params[m->y]);
	chart_y(&c, ticks,
	    axis_param(space, m->y, NULL, c.y.from, c.y.to, 7, ticks),
	    buf_str(&name));
	contour_marks_put(m, &c);
	best_mark_put(m, &c);
	chart_close(&c);
	buf_free(&name);
}

/* The levels as a legend, from the lowest values to the highest. */
static void
contour_keys_put(const struct map *m)
{
	struct html *h = &m->r->h;
	struct chart c = { .h = h };
	struct buf d = { 0 }, text = { 0 };
	char class[16];
	size_t k;

	html_open(h, "p");
	html_attr(h, "class", "keys");
	for (k = 0; k < LEVELS; k++) {
		if (k > 0 && k < LEVELS - 1 && m->level[k - 1] == m->level[k])
			continue; /* no cell is between equal bounds */
		chart_legend_open(&c);
		buf_puts(&d, "M0 12h12v-12h-12z");
		(void)snprintf(class, sizeof class, "level k%zu",
		    m->r->study->maximize ? k : LEVELS - 1 - k);
		chart_path(&c, class, &d);
		if (k > 0)
			rows_put_number(&text, m->level[k - 1], 3);
		buf_puts(&text, k == 0		  ? "below "
				: k == LEVELS - 1 ? " and above"
						  : " to ");
		if (k < LEVELS - 1)
			rows_put_number(&text, m->level[k], 3);
		chart_legend_close(&c, buf_str(&text));
		buf_clear(&text);
	}
	html_close(h, "p");
	buf_free(&text);
}

void
section_contour(struct page *r, size_t x, size_t y, bool most)
{
	const struct param *params = r->study->space->params;
	struct map m = { .r = r, .x = x, .y = y };
	struct buf title = { 0 };

	contour_trials_choose(&m);
	contour_samples_read(&m);
	if (m.n >= LEAST)
		cells_fill(&m);
	buf_printf(&title, "%s and %s", params[x].name, params[y].name);
	if (m.filled == 0 && !most) {
		section_begin(&r->h, buf_str(&title));
		section_note(&r->h,
		    "Fewer than %d completed trials have a value of %s and "
		    "both parameters.",
		    LEAST, r->study->metric);
		section_end(&r->h);
	}
	if (m.filled > 0) {
		section_begin(&r->h, most
					 ? "The two parameters that matter most"
					 : buf_str(&title));
		contour_drawing_put(&m);
		contour_keys_put(&m);
		section_note(&r->h,
		    "The stronger the colour, the better: the mean %s of the "
		    "completed trials around each place, in sevenths of the "
		    "places. Bare places have no trial near.",
		    r->study->metric);
		section_end(&r->h);
	}
	buf_free(&title);
	free(m.trials);
	free(m.samples);
}
