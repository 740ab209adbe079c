/* The table of formats, and which of them reads a line. */

#include <string.h>

#include "src/model/study/study.h"
#include "trials/metric-line/metric-format.h"
#include "trials/metric-line/metric-internal.h"

/* In the order in which they are tried. */
static const struct metric_format *const formats[] = {
	&metric_format_fairseq,
	&metric_format_json,
	&metric_format_boosting,
	&metric_format_fasttext,
	&metric_format_keras,
	&metric_format_hf,
	&metric_format_catboost,
	&metric_format_sklearn,
	&metric_format_sb3,
	&metric_format_mmengine,
	&metric_format_tqdm,
	&metric_format_table,
};

enum { FORMATS = sizeof formats / sizeof formats[0], ALIGN = 16 };

static size_t
formats_room(const struct metric_format *f)
{
	return (f->state + ALIGN - 1) / ALIGN * ALIGN;
}

size_t
metric_formats_state(unsigned lines)
{
	size_t i, n = 0;

	for (i = 0; i < FORMATS; i++)
		if ((lines & formats[i]->lines) != 0)
			n += formats_room(formats[i]);
	return n;
}

/* A line, with and without what a logger writes before it. */
struct texts {
	struct metric_span raw, shown, whole;
};

/* Try the formats in turn on one beginning of the line. */
static enum metric_read
formats_try(struct metric_line *r, unsigned lines, struct metric_reading *in,
    char *state, const struct texts *t)
{
	const struct metric_format *f;
	enum metric_read what;
	size_t i;

	for (i = 0; i < FORMATS; i++) {
		f = formats[i];
		if ((lines & f->lines) == 0)
			continue;
		in->state = state;
		state += formats_room(f);
		if (in->overwritten && !f->bars)
			continue;
		what = f->read(r,
		    f->raw	? t->raw
		    : f->logger ? t->whole
				: t->shown,
		    in);
		if (what == METRIC_READ_REPORT)
			return what;
		metric_line_clear(r);
		if (what == METRIC_READ_QUIET)
			return what;
	}
	return METRIC_READ_OTHER;
}

enum metric_read
metric_formats_read(struct metric_line *r, unsigned lines,
    const struct metric_json_names *names, void *states, const char *line,
    size_t len)
{
	struct metric_reading in = { .names = names,
		.overwritten = r->overwritten };
	struct texts t = { .raw = { line, line + len } };
	struct metric_part part;
	enum metric_read what;

	if (lines == 0)
		return METRIC_READ_OTHER;
	(void)metric_line_part(&part, line, len);
	t.shown = t.whole = (struct metric_span){ part.p, part.p + part.len };
	if (!metric_prefix_skip(&t.raw) || !metric_prefix_skip(&t.shown))
		return METRIC_READ_OTHER;
	what = formats_try(r, lines, &in, states, &t);
	if (what != METRIC_READ_OTHER || t.shown.p == t.whole.p ||
	    !metric_prefix_name(&t.shown))
		return what;
	(void)metric_prefix_name(&t.raw);
	return formats_try(r, lines, &in, states, &t);
}
