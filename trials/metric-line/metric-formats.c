/* The table of formats, and which of them reads a line. */

#include <string.h>

#include "src/model/study/study.h"
#include "trials/metric-line/metric-format.h"
#include "trials/metric-line/metric-internal.h"

#define STUDY_LINES(name, NAME) \
	extern const struct metric_format metric_format_##name;
#include "src/model/study/study-lines.inc"
#undef STUDY_LINES

/* In the order of their bits. */
static const struct metric_format *const formats[] = {
#define STUDY_LINES(name, NAME) &metric_format_##name,
#include "src/model/study/study-lines.inc"
#undef STUDY_LINES
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
		if ((lines & 1U << i) != 0)
			n += formats_room(formats[i]);
	return n;
}

/* A line, with and without what a logger writes before it. */
struct texts {
	struct metric_span raw, shown, whole;
};

/* Try the formats in turn on one beginning of the line, the loose ones last. */
static enum metric_read
formats_try(struct metric_line *r, unsigned lines, struct metric_reading *in,
    char *states, const struct texts *t)
{
	const struct metric_format *f;
	enum metric_read what;
	bool loose = false;
	char *state;
	size_t i;

	do {
		for (i = 0, state = states; i < FORMATS; i++) {
			f = formats[i];
			if ((lines & 1U << i) == 0)
				continue;
			in->state = state;
			state += formats_room(f);
			if (f->loose != loose || (in->overwritten && !f->bars))
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
		loose = !loose;
	} while (loose);
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
