/*
 * Text: its lines are those of a log, read by the patterns of trial.metrics and
 * by the formats of trial.reads that name the file.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "trials/metric-files/metric-files-internal.h"

enum { NAMES_MAX = 1024, PLACES_MAX = 65536 };

/* The reports of a metric that had no step. */
struct count {
	char *name;
	int64_t n;
	/* How far the training was at each, where the library says so. */
	double *places;
	size_t n_places, cap_places;
};

struct text {
	struct metric_line line;
	struct metric_log *log; /* what is kept between its lines */
	struct count *counts;
	size_t n, cap;
};

static bool
metric_text_fits(const char *name)
{
	return metric_search_ends(name, ".log") ||
	       metric_search_ends(name, ".txt") ||
	       metric_search_ends(name, ".out");
}

static void
metric_text_clear(void *state)
{
	struct text *s = state;
	size_t i;

	for (i = 0; i < s->n; i++) {
		free(s->counts[i].name);
		free(s->counts[i].places);
	}
	free(s->counts);
	metric_log_free(s->log);
	free(s);
}

/* The counter of a metric; NULL: there are too many. */
static struct count *
metric_text_count(struct text *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (strcmp(s->counts[i].name, name) == 0)
			return &s->counts[i];
	if (s->n == NAMES_MAX)
		return NULL;
	XGROW(s->counts, s->n, s->cap);
	s->counts[s->n] = (struct count){ .name = xstrdup(name) };
	return &s->counts[s->n++];
}

/* A report at a place that there was is that report again. */
static int64_t
metric_text_place(struct count *c, double place)
{
	size_t i;

	for (i = c->n_places; i > 0; i--)
		if (c->places[i - 1] == place)
			return (int64_t)i;
	if (c->n_places == PLACES_MAX)
		return 0;
	XGROW(c->places, c->n_places, c->cap_places);
	c->places[c->n_places++] = place;
	return (int64_t)c->n_places;
}

/* The step of a report: given, or 1, 2, 3 for each metric; -1: none. */
static int64_t
metric_text_step(struct text *s, const char *name)
{
	const struct metric_line *r = &s->line;
	struct count *c;
	int64_t step;

	if (r->has_step)
		return r->step;
	c = metric_text_count(s, name);
	if (c == NULL)
		return -1;
	step = r->place_name != NULL && r->replaces
		   ? metric_text_place(c, r->place)
		   : ++c->n;
	return step > 0 ? step : -1;
}

static void
metric_text_line(struct metric_file *f, const char *text, size_t len)
{
	struct text *s = f->state;
	const struct metric_value *v;
	size_t i;

	if (s == NULL) {
		s = f->state = xcalloc(1, sizeof *s);
		s->line.log = s->log = metric_log_new(f->patterns);
	}
	s->line.overwritten = f->overwritten;
	if (!metric_line_parse(&s->line, f->patterns, text, len)) {
		if (s->line.why != NULL)
			metric_file_note(f, s->line.why);
		return;
	}
	do
		for (i = 0; i < s->line.n; i++) {
			v = &s->line.values[i];
			metric_files_report(f, v->name,
			    metric_text_step(s, v->name), v->value, 0);
		}
	while (metric_line_more(&s->line));
}

static size_t
metric_text_read(struct metric_file *f, const char *bytes, size_t n, bool final)
{
	return metric_file_lines(f, bytes, n, final, metric_text_line);
}

const struct metric_reader metric_text = {
	.word = "text",
	.what = "the file whose lines are read",
	.is_text = true,
	.fits = metric_text_fits,
	.read = metric_text_read,
	.clear = metric_text_clear,
};
