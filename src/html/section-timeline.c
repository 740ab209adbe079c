/* When and where attempts ran: a bar for each, a row for each place. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/html/decimate.h"
#include "src/html/section.h"
#include "src/model/plugin-options.h"
#include "src/store/queries.h"
#include "src/view/rows.h"

enum {
	ROW = 13, /* height of a row */
	ROWS = 64, /* at most */
	PLACES = 24, /* with more places the rows are not named after them */
	LEFT = 120,
	NAME = 17, /* columns of a name */
	VALUES = 100, /* rows of the table */
	GAP = 2 /* between bars; closer bars are drawn as one */
};

enum bar_kind { BAR_OK, BAR_STOPPED, BAR_BAD, BAR_RUNNING, BARS };

/* Attempts differ by the height of their bars, not by colour alone. */
static const struct {
	const char *class, *name;
} bars[BARS] = {
	[BAR_OK] = { "b-ok", "ended well" },
	[BAR_STOPPED] = { "b-stop", "stopped" },
	[BAR_BAD] = { "b-bad", "failed or lost" },
	[BAR_RUNNING] = { "b-run", "runs" },
};

struct bar {
	double start, end; /* seconds since 1970; end NaN = running */
	long long trial;
	int attempt;
	enum bar_kind kind;
	size_t row;
	char end_class[16];
	char *where; /* what its title says of the place, or NULL */
};

struct row {
	size_t place;
	double until; /* the end of its last bar */
	struct { /* the bar being collected, of several attempts */
		double from, to; /* to < from: empty */
	} run[BARS];
};

struct places {
	struct page *r;
	char *names[PLACES];
	size_t n_names;
	struct row rows[ROWS];
	size_t n_rows;
	struct bar *bars;
	size_t n, cap, left_out;
	size_t attempts;
	double from, to; /* of the whole chart */
};

static size_t
timeline_place_find(struct places *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n_names; i++)
		if (strcmp(p->names[i], name) == 0)
			return i;
	if (p->n_names == PLACES)
		return PLACES - 1;
	p->names[p->n_names] = xstrdup(name);
	return p->n_names++;
}

/* The first row of the place that is free by then; ROWS: none. */
static size_t
timeline_row_take(struct places *p, size_t place, double start, double end)
{
	size_t i;

	for (i = 0; i < p->n_rows; i++)
		if (p->rows[i].place == place && p->rows[i].until <= start)
			break;
	if (i == ROWS)
		return ROWS;
	if (i == p->n_rows)
		p->rows[p->n_rows++] = (struct row){ .place = place };
	p->rows[i].until = isnan(end) ? INFINITY : end;
	return i;
}

/* " gpu 0" in "host gpu 0"; NULL: a place that is no GPU. */
static const char *
gpu_of(const char *place)
{
	const char *s = NULL, *next = place;

	while ((next = strstr(next, " gpu ")) != NULL)
		s = next++;
	return s;
}

/* "" is the end of an attempt that runs. */
static enum bar_kind
timeline_kind_of(const char *end_class)
{
	if (*end_class == '\0')
		return BAR_RUNNING;
	if (strcmp(end_class, "ok") == 0)
		return BAR_OK;
	if (strcmp(end_class, "stopped") == 0 ||
	    strcmp(end_class, "user") == 0 || strcmp(end_class, "timeout") == 0)
		return BAR_STOPPED;
	return BAR_BAD;
}

/* where: what the title says, or NULL. */
static void
bar_put(struct places *p, struct bar b, const char *place, const char *where)
{
	if (p->n == 0)
		p->from = p->to = b.start;
	p->to = fmax(p->to, fmax(b.start, b.end));
	b.row =
	    timeline_row_take(p, timeline_place_find(p, place), b.start, b.end);
	if (b.row == ROWS) {
		p->left_out++;
		return;
	}
	if (p->n < PAGE_TITLED_MARKS)
		b.where = xstrdup(where);
	XGROW(p->bars, p->n, p->cap);
	p->bars[p->n++] = b;
}

/* A bar for each GPU of "host gpu 0,1", in the rows "host gpu 0", "host gpu 1". */
static void
gpus_put(
    struct places *p, const struct bar *b, const char *place, const char *where)
{
	const char *list = gpu_of(place) + strlen(" gpu ");
	size_t len;
	char *name;

	for (;; list += len + 1) {
		len = strcspn(list, ",");
		name = xasprintf("%.*s gpu %.*s", (int)(gpu_of(place) - place),
		    place, (int)len, list);
		bar_put(p, *b, name, where);
		free(name);
		if (list[len] == '\0')
			break;
	}
}

/* An attempt as the database has it. */
struct attempt {
	struct bar bar;
	char *place, *backend;
	int gpus;
};

struct attempts {
	struct attempt *of;
	size_t n, cap;
	bool late; /* one began before the one in front of it */
};

/* Columns: trial, attempt, place, backend, start, end, end_class, GPUs. */
static void
timeline_attempt_add(struct attempts *all, const struct store_rows *rows)
{
	const char *end_class = store_rows_text(rows, 6);
	struct attempt a = { .place = xstrdup(store_rows_text(rows, 2)),
		.backend = xstrdup(store_rows_text(rows, 3)),
		.gpus = (int)store_rows_int(rows, 7),
		.bar = { .start = store_rows_real(rows, 4),
		    .end = rows_real(rows, 5),
		    .trial = store_rows_int(rows, 0),
		    .attempt = (int)store_rows_int(rows, 1),
		    .kind = timeline_kind_of(end_class) } };

	(void)snprintf(a.bar.end_class, sizeof a.bar.end_class, "%s",
	    *end_class != '\0' ? end_class : "runs");
	all->late = all->late ||
		    (all->n > 0 && a.bar.start < all->of[all->n - 1].bar.start);
	XGROW(all->of, all->n, all->cap);
	all->of[all->n++] = a;
}

static int
timeline_attempt_compare(const void *a, const void *b)
{
	const struct bar *x = &((const struct attempt *)a)->bar;
	const struct bar *y = &((const struct attempt *)b)->bar;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->trial != y->trial)
		return x->trial < y->trial ? -1 : 1;
	return (x->attempt > y->attempt) - (x->attempt < y->attempt);
}

/* Whether the attempts have more places than rows are named after. */
static bool
timeline_many_places(const struct attempts *all)
{
	const char *names[PLACES];
	size_t n = 0, i, k;

	for (i = 0; i < all->n; i++) {
		for (k = 0; k < n; k++)
			if (strcmp(names[k], all->of[i].place) == 0)
				break;
		if (k < n)
			continue;
		if (n == PLACES)
			return true;
		names[n++] = all->of[i].place;
	}
	return false;
}

/* backends: the row is named after the backend. */
static void
timeline_attempt_put(struct places *p, const struct attempt *a, bool backends)
{
	const char *place = backends ? a->backend : a->place;
	struct buf where = { 0 };

	if (p->n < PAGE_TITLED_MARKS) {
		buf_puts(&where, a->place);
		if (a->gpus > 0)
			buf_printf(&where, ", %d GPU%s", a->gpus,
			    a->gpus > 1 ? "s" : "");
	}
	if (a->gpus > 0 && gpu_of(place) != NULL)
		gpus_put(p, &a->bar, place, buf_str(&where));
	else
		bar_put(p, a->bar, place, buf_str(&where));
	buf_free(&where);
	p->attempts++;
}

/*
 * Attempts in the order of their starts, which mostly is that of the database.
 * When places are job names, or too many for rows, the backend is shown instead.
 */
static int
bars_read(struct places *p, struct err *e)
{
	struct attempts all = { 0 };
	struct store_rows *rows;
	bool backends;
	size_t i;
	int rc;

	if (store_list_attempt_times(&rows, p->r->store, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1)
		timeline_attempt_add(&all, rows);
	store_rows_close(rows);
	if (all.late)
		qsort(all.of, all.n, sizeof *all.of, timeline_attempt_compare);
	backends = timeline_many_places(&all);
	for (i = 0; i < all.n; i++) {
		timeline_attempt_put(p, &all.of[i], backends);
		free(all.of[i].place);
		free(all.of[i].backend);
	}
	free(all.of);
	return rc;
}

/* GPUs by their names before all else; other places in the order they appeared. */
static int
place_compare(const struct places *p, size_t a, size_t b)
{
	bool gpu_a = gpu_of(p->names[a]) != NULL;
	bool gpu_b = gpu_of(p->names[b]) != NULL;

	if (gpu_a != gpu_b)
		return gpu_a ? -1 : 1;
	return gpu_a ? strverscmp(p->names[a], p->names[b]) : (a > b) - (a < b);
}

/* The rows of one place stand together, in the order they appeared. */
static size_t
row_rank(const struct places *p, size_t row)
{
	size_t i, rank = 0;
	int order;

	for (i = 0; i < p->n_rows; i++) {
		order = place_compare(p, p->rows[i].place, p->rows[row].place);
		rank += order < 0 || (order == 0 && i < row);
	}
	return rank;
}

static double
row_at(const struct places *p, const struct chart *c, size_t row)
{
	return c->top + ROW * ((double)row_rank(p, row) + 0.5);
}

/* Whether all places are GPUs of one machine, which then need not be named. */
static bool
is_one_host(const struct places *p)
{
	const char *gpu = gpu_of(p->names[0]);
	size_t i, len = gpu == NULL ? 0 : (size_t)(gpu - p->names[0]);

	for (i = 0; i < p->n_names; i++) {
		gpu = gpu_of(p->names[i]);
		if (gpu == NULL || (size_t)(gpu - p->names[i]) != len ||
		    strncmp(p->names[i], p->names[0], len) != 0)
			return false;
	}
	return true;
}

static size_t
timeline_rows_of(const struct places *p, size_t place)
{
	size_t i, n = 0;

	for (i = 0; i < p->n_rows; i++)
		n += p->rows[i].place == place;
	return n;
}

/*
 * The name of a place in its column; the number of a GPU is not cut off.
 * first: of several slots.
 */
static void
timeline_name_put(struct tick *t, const char *name, bool one_host, bool first)
{
	const char *gpu = gpu_of(name), *slot = " slot 1";
	size_t len, left = NAME;

	if (gpu != NULL && one_host) {
		(void)snprintf(t->label, sizeof t->label, "%s", gpu + 1);
		return;
	}
	if (gpu == NULL && first)
		gpu = slot;
	if (gpu != NULL && strlen(gpu) < NAME)
		left -= strlen(gpu);
	else
		gpu = NULL;
	len = text_fit(name, left);
	if (gpu != NULL && gpu != slot && len > (size_t)(gpu - name))
		len = (size_t)(gpu - name);
	(void)snprintf(t->label, sizeof t->label, "%.*s%s", (int)len, name,
	    gpu != NULL ? gpu : "");
}

/* The name of a place at its first row; at the others the number of the slot. */
static void
names_put(const struct places *p, struct chart *c)
{
	struct tick ticks[ROWS];
	bool one_host = is_one_host(p);
	size_t i, k, slot, n = 0;

	for (i = 0; i < p->n_rows; i++) {
		slot = 1;
		for (k = 0; k < i; k++)
			slot += p->rows[k].place == p->rows[i].place;
		if (slot > 1) {
			(void)snprintf(ticks[n].label, sizeof ticks[n].label,
			    "slot %zu", slot);
			ticks[n++].at = row_at(p, c, i);
			continue;
		}
		timeline_name_put(&ticks[n], p->names[p->rows[i].place],
		    one_host, timeline_rows_of(p, p->rows[i].place) > 1);
		ticks[n++].at = row_at(p, c, i);
	}
	chart_y(c, ticks, n, NULL);
}

static void
bar_path(struct buf *d, double from, double to, double y)
{
	buf_putc(d, 'M');
	decimate_put(d, from);
	buf_putc(d, ' ');
	decimate_put(d, y);
	buf_putc(d, 'h');
	decimate_put(d, fmax(to - from, 0.7));
}

static double
bar_end(const struct places *p, const struct bar *b)
{
	return isnan(b->end) ? p->to : b->end;
}

static void
bars_told(const struct places *p, struct chart *c)
{
	struct buf d = { 0 }, text = { 0 };
	const struct bar *b;
	size_t i;

	for (i = 0; i < p->n; i++) {
		b = &p->bars[i];
		bar_path(&d, axis_at(&c->x, b->start - p->from),
		    axis_at(&c->x, bar_end(p, b) - p->from),
		    row_at(p, c, b->row));
		buf_clear(&text);
		buf_printf(&text, "trial %lld, attempt %d: %s, ", b->trial,
		    b->attempt, b->end_class);
		duration_put(
		    &text, (int64_t)llround(1000 * (bar_end(p, b) - b->start)));
		buf_printf(&text, ", %s", b->where);
		chart_path_titled(c, bars[b->kind].class, &d, buf_str(&text));
	}
	buf_free(&text);
}

/* Draw the bar collected in a row. */
static void
run_put(struct row *row, enum bar_kind kind, double y, struct buf *d)
{
	if (row->run[kind].to > 0)
		bar_path(d, row->run[kind].from, row->run[kind].to, y);
	row->run[kind].to = 0;
}

static void
bars_thinned(struct places *p, struct chart *c)
{
	struct buf d[BARS] = { { 0 } };
	const struct bar *b;
	struct row *row;
	double from, to;
	size_t i, k;

	for (i = 0; i < p->n; i++) {
		b = &p->bars[i];
		row = &p->rows[b->row];
		from = axis_at(&c->x, b->start - p->from);
		to = axis_at(&c->x, bar_end(p, b) - p->from);
		if (row->run[b->kind].to > 0 &&
		    from <= row->run[b->kind].to + GAP) {
			row->run[b->kind].to = fmax(row->run[b->kind].to, to);
			continue;
		}
		run_put(row, b->kind, row_at(p, c, b->row), &d[b->kind]);
		row->run[b->kind].from = from;
		row->run[b->kind].to = to;
	}
	for (k = 0; k < BARS; k++) {
		for (i = 0; i < p->n_rows; i++)
			run_put(&p->rows[i], (enum bar_kind)k, row_at(p, c, i),
			    &d[k]);
		chart_path(c, bars[k].class, &d[k]);
	}
}

static void
timeline_keys_put(const struct places *p)
{
	struct html *h = &p->r->h;
	struct chart c = { .h = h };
	struct buf d = { 0 };
	bool there[BARS] = { false };
	size_t i;

	for (i = 0; i < p->n; i++)
		there[p->bars[i].kind] = true;
	html_open(h, "p");
	html_attr(h, "class", "keys");
	for (i = 0; i < BARS; i++) {
		if (!there[i])
			continue;
		chart_legend_open(&c);
		bar_path(&d, 0, 12, 6);
		chart_path(&c, bars[i].class, &d);
		chart_legend_close(&c, bars[i].name);
	}
	html_close(h, "p");
	if (p->n > PAGE_TITLED_MARKS)
		section_note(h,
		    "%zu attempts: bars of one kind that nearly touch are "
		    "drawn as one.",
		    p->attempts);
	if (p->left_out > 0)
		section_note(h,
		    "%zu more attempts are left out: at most %d rows are "
		    "drawn.",
		    p->left_out, ROWS);
}

/* The first attempts; those of all are in the database. */
static void
timeline_values_put(const struct places *p)
{
	static const char *const heads[] = { "place", "trial", "attempt",
		"began after", "lasted", "end" };
	struct buf texts[6] = { { 0 } };
	const char *cells[6];
	const struct bar *b;
	size_t i, k;

	section_values_open(&p->r->h, heads, 6,
	    p->n > VALUES ? "The first attempts as a table"
			  : "The attempts as a table");
	for (i = 0; i < p->n && i < VALUES; i++) {
		b = &p->bars[i];
		buf_puts(&texts[0], p->names[p->rows[b->row].place]);
		buf_printf(&texts[1], "%lld", b->trial);
		buf_printf(&texts[2], "%d", b->attempt);
		duration_put(
		    &texts[3], (int64_t)llround(1000 * (b->start - p->from)));
		duration_put(&texts[4],
		    (int64_t)llround(1000 * (bar_end(p, b) - b->start)));
		buf_puts(&texts[5], b->end_class);
		for (k = 0; k < 6; k++)
			cells[k] = buf_str(&texts[k]);
		section_values_row(&p->r->h, cells, 6);
		for (k = 0; k < 6; k++)
			buf_clear(&texts[k]);
	}
	section_values_close(&p->r->h);
	for (k = 0; k < 6; k++)
		buf_free(&texts[k]);
}

static void
timeline_drawing_put(struct places *p)
{
	struct chart c = { .h = &p->r->h,
		.width = page_data_width(p->r),
		.height = ROW * (double)p->n_rows + 50 };
	struct tick ticks[AXIS_TICKS];
	struct buf name = { 0 };

	if (p->r->now > p->to)
		p->to = p->r->now;
	c.x = (struct axis){ .kind = AXIS_TIME,
		.low = 0,
		.high = fmax(p->to - p->from, 0.001) };
	chart_frame(&c, LEFT);
	buf_printf(&name, "%zu attempts by place and time", p->attempts);
	chart_open(&c, buf_str(&name));
	chart_x(&c, ticks, axis_ticks(&c.x, page_data_ticks(p->r, 8), ticks),
	    "since the first attempt");
	names_put(p, &c);
	if (p->n <= PAGE_TITLED_MARKS)
		bars_told(p, &c);
	else
		bars_thinned(p, &c);
	chart_close(&c);
	buf_free(&name);
}

static int
timeline_put(struct page *r, struct err *e)
{
	struct places *p = xcalloc(1, sizeof *p);
	size_t i;
	int rc;

	p->r = r;
	rc = bars_read(p, e);
	if (rc == 0 && p->n > 0) {
		section_begin(&r->h, "Where and when trials ran");
		timeline_drawing_put(p);
		timeline_keys_put(p);
		timeline_values_put(p);
		section_note(&r->h,
		    "A row is a GPU or a slot: what ran at the same time in "
		    "one place stands in several rows, and a trial on several "
		    "GPUs "
		    "in the row of each. Bars name their job or machine, and "
		    "how many GPUs they had.");
		section_end(&r->h);
	}
	for (i = 0; i < p->n_names; i++)
		free(p->names[i]);
	for (i = 0; i < p->n && i < PAGE_TITLED_MARKS; i++)
		free(p->bars[i].where);
	free(p->bars);
	free(p);
	return rc;
}

const struct page_section section_timeline = { "timeline", timeline_put };
