/*
 * Reads two growing files: whole lines only, from the recorded offset, at most
 * one chunk at a time.  The head of a file may have been punched out by the
 * supervisor's log cap; the loss is noted.  A file that was replaced or
 * truncated is read from its start.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "src/base/file.h"
#include "src/base/loop.h"
#include "src/base/reading.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"
#include "trials/metric-files/metric-files.h"

enum {
	PATH_SIZE = 4352,
	CLOCK_SET_US = 1000000 /* less is the same clock, read twice */
};

void
local_tail_close(struct local_attempt *a)
{
	if (a->log.fd != -1)
		(void)close(a->log.fd);
	if (a->metrics.fd != -1)
		(void)close(a->metrics.fd);
	a->log.fd = a->metrics.fd = -1;
}

static bool
tail_open(struct local_attempt *a, struct local_tail *t)
{
	char path[PATH_SIZE];

	if (t->fd != -1)
		return true;
	(void)snprintf(path, sizeof path, "%s/%s", a->dir, t->name);
	t->fd = file_open(AT_FDCWD, path);
	if (t->fd != -1 && *t->at > 0 && t == &a->log)
		metric_log_rebuild(a->lines, a->local->rules, &a->local->report,
		    a->local->chunk, sizeof a->local->chunk, t->fd, *t->at);
	return t->fd != -1;
}

/* Note once per reason that part of the output was skipped. */
static void
local_tail_why_note(struct local_attempt *a, struct local_tail *t,
    const char *what, const char *why)
{
	size_t i;

	for (i = 0; i < LOCAL_TAIL_REASONS && t->noted_why[i] != NULL; i++)
		if (t->noted_why[i] == why)
			return;
	if (i == LOCAL_TAIL_REASONS)
		return;
	t->noted_why[i] = why;
	backend_note(&a->source, LAUNCH_WARNING, "%s of its %s was skipped: %s",
	    what, t->name, why);
}

static void
local_tail_reports_send(struct local_attempt *a, const struct metric_line *r)
{
	struct launch_event ev = { .kind = LAUNCH_REPORT };
	size_t i;

	if (r->n > 0)
		local_gpu_reported(a);
	for (i = 0; i < r->n; i++) {
		if (r->rounded &&
		    metric_files_reports(a->files, r->values[i].name))
			continue;
		backend_report_set(&ev, r, i);
		backend_emit(&a->source, &ev);
	}
}

static void
local_tail_line_read(
    struct local_attempt *a, struct local_tail *t, const char *line, size_t len)
{
	struct metric_line *r = &a->local->report;
	bool good;

	r->log = t == &a->metrics ? NULL : a->lines;
	good = t == &a->metrics
		   ? metric_json_parse(r, line, len)
		   : metric_line_parse(r, a->local->rules, line, len);
	if (!good) {
		if (r->why != NULL)
			local_tail_why_note(a, t, "a line", r->why);
		return;
	}
	if (r->left_out != NULL)
		local_tail_why_note(a, t, "a part of a line", r->left_out);
	do
		local_tail_reports_send(a, r);
	while (metric_line_more(r));
}

static const char zero_byte[] = "it has a zero byte: it is binary, or UTF-16";

/* The whole lines of a chunk: how many bytes they are. */
static size_t
local_tail_lines_read(struct local_attempt *a, struct local_tail *t, size_t n)
{
	const char *chunk = a->local->chunk, *at = chunk, *next;
	bool objects =
	    t == &a->metrics || metric_patterns_objects(a->local->rules);
	bool zeros = memchr(chunk, '\0', n) != NULL;
	bool *bar = &a->local->report.overwritten;
	size_t len;

	while ((next = metric_line_next(at, chunk + n, objects, &len, bar)) !=
	       NULL) {
		if (*t->skip)
			;
		else if (zeros && memchr(at, '\0', len) != NULL)
			local_tail_why_note(a, t, "a line", zero_byte);
		else
			local_tail_line_read(a, t, at, len);
		*t->skip = false;
		at = next;
	}
	return (size_t)(at - chunk);
}

/* A chunk that begins with a zero: skip the punched hole. */
static bool
local_tail_hole_skip(struct local_attempt *a, struct local_tail *t)
{
	off_t data = lseek(t->fd, *t->at, SEEK_DATA);

	if (data == -1 && errno == ENXIO)
		data = lseek(t->fd, 0, SEEK_END);
	if (data <= *t->at)
		return false;
	t->dropped += data - *t->at;
	*t->at = data;
	t->n_kept = 0;
	/* The first line after a hole has lost its beginning. */
	*t->skip = true;
	if (!t->noted_drop) {
		t->noted_drop = true;
		backend_note(&a->source, LAUNCH_WARNING,
		    "%lld bytes of output were dropped before they were read",
		    (long long)t->dropped);
		t->dropped = 0;
	}
	return true;
}

/* Read the file that now has this name from its start. */
static bool
tail_anew(struct local_attempt *a, struct local_tail *t)
{
	(void)close(t->fd);
	t->fd = -1;
	*t->at = 0;
	*t->skip = false;
	t->n_kept = 0;
	if (t == &a->log)
		metric_log_clear(a->lines);
	if (!t->noted_cut)
		backend_note(&a->source, LAUNCH_WARNING,
		    "its %s was truncated or replaced and is read from "
		    "its start",
		    t->name);
	t->noted_cut = true;
	return tail_open(a, t);
}

/* Nothing to read: whether the file was cut short or replaced. */
static bool
cut_short(const struct local_attempt *a, const struct local_tail *t)
{
	struct stat mine, there;
	char path[PATH_SIZE];

	(void)snprintf(path, sizeof path, "%s/%s", a->dir, t->name);
	return fstat(t->fd, &mine) == 0 && lstat(path, &there) == 0 &&
	       S_ISREG(there.st_mode) &&
	       (mine.st_ino != there.st_ino || mine.st_size < *t->at);
}

/*
 * Detects a file that was truncated and has grown past our offset: the bytes
 * before the offset differ.  Zeros are a punched hole.
 */
static bool
grown_again(const struct local_tail *t, const char *now)
{
	size_t i;

	for (i = 0; i < t->n_kept; i++)
		if (now[i] != t->kept[i] && now[i] != '\0')
			return true;
	return false;
}

/* Move on by so many bytes, which are at the head of the chunk. */
static void
tail_pass(struct local_tail *t, const char *chunk, size_t n)
{
	size_t new = n < LOCAL_TAIL_KEPT ? n : LOCAL_TAIL_KEPT,
	       old = LOCAL_TAIL_KEPT - new;

	*t->at += (int64_t)n;
	if (old > t->n_kept)
		old = t->n_kept;
	memmove(t->kept, t->kept + t->n_kept - old, old);
	memcpy(t->kept + old, chunk + n - new, new);
	t->n_kept = old + new;
}

/* What is new, into the chunk; -1 when the file is another one now. */
static ssize_t
chunk_read(struct local_attempt *a, struct local_tail *t)
{
	struct local *l = a->local;
	char before[LOCAL_TAIL_KEPT];
	struct iovec to[] = { { before, t->n_kept },
		{ l->chunk, sizeof l->chunk } };
	ssize_t got = preadv(t->fd, to, 2, *t->at - (off_t)t->n_kept);

	if (got < (ssize_t)t->n_kept)
		return got != -1 && cut_short(a, t) ? -1 : 0;
	if (grown_again(t, before))
		return -1;
	got -= (ssize_t)t->n_kept;
	return got == 0 && cut_short(a, t) ? -1 : got;
}

static void
local_tail_long_skip(struct local_attempt *a, struct local_tail *t, size_t n)
{
	if (!*t->skip && !t->noted_long) {
		backend_note(&a->source, LAUNCH_WARNING,
		    "a line of more than %d bytes in its %s was skipped",
		    METRIC_LINE_MAX, t->name);
		t->noted_long = true;
	}
	*t->skip = true;
	tail_pass(t, a->local->chunk, n);
}

/* Read one chunk; true: more may be available at once. */
static bool
local_tail_look(struct local_attempt *a, struct local_tail *t, bool final)
{
	struct local *l = a->local;
	ssize_t got;
	size_t n, used;

	if (!tail_open(a, t))
		return false;
	got = chunk_read(a, t);
	if (got <= 0)
		return got == -1 && tail_anew(a, t);
	n = (size_t)got;
	if (l->chunk[0] == '\0' && local_tail_hole_skip(a, t))
		return true;
	used = local_tail_lines_read(a, t, n);
	tail_pass(t, l->chunk, used);
	if (used == 0 && (n == sizeof l->chunk || *t->skip)) {
		local_tail_long_skip(a, t, n);
	} else if (used < n && final && n < sizeof l->chunk) {
		/* The end of the file is the end of its last line. */
		if (!*t->skip)
			local_tail_line_read(a, t, l->chunk + used, n - used);
		tail_pass(t, l->chunk + used, n - used);
	}
	return n == sizeof l->chunk;
}

static bool
local_tail_read(struct local_attempt *a, struct local_tail *t, bool final)
{
	bool more;

	if (reading_is_left(a->dir, t->name)) {
		local_tail_why_note(a, t, "the rest", reading_left_text);
		return false;
	}
	reading_begin(a->dir, t->name);
	more = local_tail_look(a, t, final);
	/* A bar that is shown at the end has no line behind it. */
	if (final && !more && t == &a->log)
		local_tail_line_read(a, t, "", 0);
	reading_end();
	return more;
}

static void
local_tail_on_file_report(void *arg, const char *name, int64_t step,
    double value, int64_t time_us, bool again)
{
	struct local_attempt *a = arg;
	struct launch_event ev = { .kind = LAUNCH_REPORT };

	local_gpu_reported(a);
	ev.u.report.name = name;
	ev.u.report.has_step = true;
	ev.u.report.step = step;
	ev.u.report.value = value;
	ev.u.report.time_us = time_us;
	ev.u.report.again = again;
	backend_emit(&a->source, &ev);
}

static void
local_tail_on_file_note(void *arg, const char *text)
{
	const struct local_attempt *a = arg;

	backend_note(&a->source, LAUNCH_WARNING, "%s", text);
}

/*
 * When the trial began, by the clock that files have their times of: where it was
 * set back since, the time that it would have shown then.
 */
static int64_t
files_since_us(struct local_attempt *a)
{
	int64_t ran_ms = loop_now_ms(a->local->loop) - a->up_ms;
	int64_t now_us = loop_wall_us(a->local->loop) - ran_ms * 1000;

	if (now_us < a->started_us - CLOCK_SET_US)
		a->started_us = now_us;
	return a->started_us;
}

static bool
local_tail_files_read(struct local_attempt *a, bool final)
{
	const struct metric_files_sink sink = { local_tail_on_file_report,
		local_tail_on_file_note, a };

	return a->files != NULL && a->started_us != 0 &&
	       metric_files_read(a->files, &sink, files_since_us(a),
		   loop_now_ms(a->local->loop), final);
}

bool
local_tail(struct local_attempt *a, bool final)
{
	struct launch_event ev = { .kind = LAUNCH_READ };
	struct launch_cursor old = a->cursor;
	bool more = metric_patterns_rounded(a->local->rules) &&
		    local_tail_files_read(a, final);

	more |= local_tail_read(a, &a->log, final);
	more |= local_tail_read(a, &a->metrics, final);
	more |= local_tail_files_read(a, final);
	if (old.log == a->cursor.log && old.metrics == a->cursor.metrics &&
	    old.log_skip == a->cursor.log_skip &&
	    old.metrics_skip == a->cursor.metrics_skip)
		return more;
	ev.u.cursor = a->cursor;
	backend_emit(&a->source, &ev);
	return more;
}
