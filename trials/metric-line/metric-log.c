/*
 * What is kept between the lines of one log: states of the formats, and progress
 * bars.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "trials/metric-line/metric-bar.h"
#include "trials/metric-line/metric-internal.h"
#include "trials/metric-line/metric-line.h"

struct metric_log {
	void *states; /* of the formats */
	size_t n_states;
	struct metric_bars *bars; /* NULL: none so far */
	/* Bits of patterns that matched lines of the training, of an evaluation. */
	uint64_t of_training, of_evaluation;
};

struct metric_log *
metric_log_new(const struct metric_patterns *rules)
{
	struct metric_log *log;

	if (rules == NULL)
		return NULL;
	log = xcalloc(1, sizeof *log);
	log->n_states = metric_patterns_state(rules);
	log->states = xcalloc(1, log->n_states + 1);
	return log;
}

void
metric_log_free(struct metric_log *log)
{
	if (log == NULL)
		return;
	metric_bar_free(log->bars);
	free(log->states);
	free(log);
}

void
metric_log_clear(struct metric_log *log)
{
	if (log == NULL)
		return;
	memset(log->states, 0, log->n_states);
	metric_bar_free(log->bars);
	log->bars = NULL;
	log->of_training = log->of_evaluation = 0;
}

bool
metric_log_is_both(struct metric_log *log, size_t rule, bool training)
{
	uint64_t bit;

	if (log == NULL || rule >= 64)
		return false;
	bit = UINT64_C(1) << rule;
	*(training ? &log->of_training : &log->of_evaluation) |= bit;
	return (log->of_training & log->of_evaluation & bit) != 0;
}

void *
metric_log_states(struct metric_log *log)
{
	return log != NULL ? log->states : NULL;
}

/*
 * Whether an escape sequence at p moves the cursor to where the line at start began:
 * CSI 1 G, or DECRC behind DECSC at its beginning (ECMA-48; xterm, ctlseqs).  Its
 * last byte; NULL: another one, or it is incomplete.
 */
static const char *
log_home(const char *start, const char *p, const char *end)
{
	const char *q = p + 2;

	if (end - p < 2)
		return NULL;
	if (p[1] == '8')
		return p - start > 1 && start[0] == '\033' && start[1] == '7'
			   ? p + 1
			   : NULL;
	if (p[1] != '[')
		return NULL;
	if (q < end && (*q == '0' || *q == '1'))
		q++;
	return q < end && *q == 'G' ? q : NULL;
}

/* The end of an escape sequence CSI, or of two bytes. */
static const char *
log_escape_end(const char *p, const char *end)
{
	if (end - p < 2 || p[1] != '[')
		return end - p < 2 ? end : p + 2;
	for (p += 2; p < end && (*p < '@' || *p > '~'); p++)
		;
	return p < end ? p + 1 : end;
}

/*
 * The last byte of what takes the cursor back to the beginning of the line at p, as
 * some bars do without CR: an escape sequence, or as many backspaces as there are
 * characters, with a text behind them.  NULL: there is nothing of the kind.
 */
static const char *
log_overwrites(const char *p, const char *end)
{
	const char *q = p, *to;
	size_t width = 0, back;

	if (memchr(p, '\033', (size_t)(end - p)) == NULL &&
	    memchr(p, '\b', (size_t)(end - p)) == NULL)
		return NULL;
	while (q < end) {
		if (*q == '\033') {
			to = log_home(p, q, end);
			if (to != NULL)
				return to;
			q = log_escape_end(q, end);
		} else if (*q == '\b') {
			for (back = 0; q < end && *q == '\b'; q++)
				back++;
			if (width > 0 && back >= width && q < end && *q != '\r')
				return q - 1;
			width -= back < width ? back : width;
		} else
			/* Of UTF-8 the first byte is one column. */
			width += ((unsigned char)*q++ & 0xc0) != 0x80;
	}
	return NULL;
}

static const char *
log_line_end(const char *p, const char *end, bool *overwritten)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p)), *cr = p, *back;
	const char *to = nl != NULL ? nl : end;

	*overwritten = true;
	while ((cr = memchr(cr, '\r', (size_t)(to - cr))) != NULL) {
		if (cr + 1 < to)
			break;
		cr++;
	}
	back = log_overwrites(p, cr != NULL ? cr : to);
	if (back != NULL || cr != NULL)
		return back != NULL ? back : cr;
	*overwritten = false;
	return nl;
}

const char *
metric_line_next(const char *p, const char *end, bool objects, size_t *len,
    bool *overwritten)
{
	const char *to;

	*overwritten = false;
	switch (objects ? metric_object_end(p, end, &to) : METRIC_OBJECT_NONE) {
	case METRIC_OBJECT_NONE:
		break;
	case METRIC_OBJECT_OPEN:
		return NULL;
	case METRIC_OBJECT_LINE:
		*len = (size_t)(to - 1 - p);
		return to;
	case METRIC_OBJECT_NEXT:
		*len = (size_t)(to - p);
		return to;
	}
	to = log_line_end(p, end, overwritten);
	if (to == NULL)
		return NULL;
	*len = (size_t)(to - p);
	return to + 1;
}

/* Parse the whole lines of a piece for their effect on the state. */
static void
log_pass(struct metric_line *r, const struct metric_patterns *rules,
    const char *p, const char *end)
{
	bool objects = metric_patterns_objects(rules);
	const char *to;
	size_t len;

	while ((to = metric_line_next(
		    p, end, objects, &len, &r->overwritten)) != NULL) {
		(void)metric_line_parse(r, rules, p, len);
		while (metric_line_more(r))
			continue;
		p = to;
	}
}

void
metric_log_rebuild(struct metric_log *log, const struct metric_patterns *rules,
    struct metric_line *r, char *room, size_t size, int fd, int64_t at)
{
	int64_t from = at - (int64_t)size;
	ssize_t n;

	if (log == NULL)
		return;
	metric_log_clear(log);
	r->log = log;
	/* Columns of a table are named at the beginning. */
	if (from > 0) {
		n = pread(fd, room, size, 0);
		if (n > 0)
			log_pass(r, rules, room, room + n);
	}
	if (from < 0)
		from = 0;
	n = pread(fd, room, (size_t)(at - from), from);
	if (n > 0)
		log_pass(r, rules, room, room + n);
}

bool
metric_log_bar_opens(const struct metric_log *log)
{
	return log != NULL &&
	       (log->bars == NULL || metric_bar_opens(log->bars));
}

void
metric_log_bar_open(struct metric_log *log, int64_t step)
{
	if (log->bars == NULL)
		log->bars = metric_bar_new();
	metric_bar_open(log->bars, step);
}

bool
metric_log_bar(struct metric_line *r, bool matched, bool is_empty)
{
	struct metric_log *log = r->log;
	bool whole = matched && r->bar == 0 && !r->overwritten;

	if (log == NULL)
		return matched;
	if (log->bars == NULL) {
		if (whole || !matched)
			return matched;
		log->bars = metric_bar_new();
	}
	/* A line of its own, not the last state of a bar. */
	if (whole && !metric_bar_shown(log->bars))
		return true;
	if (matched)
		metric_bar_put(log->bars, r,
		    r->bar != 0 ? r->bar_ends && !r->overwritten
				: !r->overwritten);
	else if (!r->overwritten)
		metric_bar_end(log->bars, is_empty);
	return metric_bar_next(log->bars, r);
}

bool
metric_line_more(struct metric_line *r)
{
	return r->log != NULL && r->log->bars != NULL &&
	       metric_bar_next(r->log->bars, r);
}
