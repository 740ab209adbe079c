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
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"
#include "trials/metric-files/metric-files.h"

enum { PATH_SIZE = 4352 };

void
local_tail_close(struct local_attempt *a)
{
	if (a->log.fd != -1)
		(void)close(a->log.fd);
	if (a->metrics.fd != -1)
		(void)close(a->metrics.fd);
	a->log.fd = a->metrics.fd = -1;
}

/* As metric_line_parse, with the state of this log. */
static bool
line_parse(struct local_attempt *a, const char *line, size_t len)
{
	struct metric_line *r = &a->local->report;
	bool good;

	r->epoch = a->epoch;
	good = metric_line_parse(r, a->local->rules, line, len);
	a->epoch = r->epoch;
	return good;
}

/* The state at the recorded offset, from the lines before it. */
static void
state_read(struct local_attempt *a, struct local_tail *t)
{
	char *chunk = a->local->chunk, *line = chunk, *end;
	int64_t from = *t->at - (int64_t)sizeof a->local->chunk;
	ssize_t n;

	if (from < 0)
		from = 0;
	n = pread(t->fd, chunk, (size_t)(*t->at - from), from);
	while (n > 0 &&
	       (end = memchr(line, '\n', (size_t)(chunk + n - line))) != NULL) {
		(void)line_parse(a, line, (size_t)(end - line));
		line = end + 1;
	}
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
		state_read(a, t);
	return t->fd != -1;
}

/* Note once per reason that part of the output was skipped. */
static void
why_note(struct local_attempt *a, struct local_tail *t, const char *what,
    const char *why)
{
	size_t i;

	for (i = 0; i < LOCAL_TAIL_REASONS && t->noted_why[i] != NULL; i++)
		if (t->noted_why[i] == why)
			return;
	if (i == LOCAL_TAIL_REASONS)
		return;
	t->noted_why[i] = why;
	launcher_note(&a->source, LAUNCH_WARNING,
	    "%s of its %s was skipped: %s", what, t->name, why);
}

static void
reports_send(struct local_attempt *a, const struct metric_line *r)
{
	struct launch_event ev = { .kind = LAUNCH_REPORT };
	size_t i;

	if (r->n > 0)
		local_gpu_reported(a);
	for (i = 0; i < r->n; i++) {
		ev.u.report.name = r->values[i].name;
		ev.u.report.has_step = r->has_step;
		ev.u.report.step = r->step;
		ev.u.report.value = r->values[i].value;
		launcher_emit(&a->source, &ev);
	}
}

static void
line_read(
    struct local_attempt *a, struct local_tail *t, const char *line, size_t len)
{
	struct metric_line *r = &a->local->report;
	bool good;

	good = t == &a->metrics ? metric_json_parse(r, line, len)
				: line_parse(a, line, len);
	if (!good) {
		if (r->why != NULL)
			why_note(a, t, "a line", r->why);
		return;
	}
	if (r->left_out != NULL)
		why_note(a, t, "a part of a line", r->left_out);
	reports_send(a, r);
}

/* The whole lines of a chunk: how many bytes they are. */
static size_t
lines_read(struct local_attempt *a, struct local_tail *t, size_t n)
{
	const char *chunk = a->local->chunk, *at = chunk, *end;
	bool zeros = memchr(chunk, '\0', n) != NULL;
	size_t len;

	while ((end = memchr(at, '\n', n - (size_t)(at - chunk))) != NULL) {
		len = (size_t)(end - at);
		/* Zeros are a punched hole, or the output is binary. */
		if (!*t->skip && (!zeros || memchr(at, '\0', len) == NULL))
			line_read(a, t, at, len);
		*t->skip = false;
		at = end + 1;
	}
	return (size_t)(at - chunk);
}

/* A chunk that begins with a zero: skip the punched hole. */
static bool
hole_skip(struct local_attempt *a, struct local_tail *t)
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
		launcher_note(&a->source, LAUNCH_WARNING,
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
	if (!t->noted_cut)
		launcher_note(&a->source, LAUNCH_WARNING,
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

/*
 * A chunk without a newline, in which a progress bar has overwritten its line:
 * what stands before the last bare CR is no longer seen, so only tagged parts of
 * it are read.  How many bytes that is; 0 = there is no CR.
 */
static size_t
overwritten_pass(struct local_attempt *a, struct local_tail *t, size_t n)
{
	struct metric_line *r = &a->local->report;
	const char *chunk = a->local->chunk, *cr;

	cr = *t->skip ? NULL : memrchr(chunk, '\r', n - 1);
	if (cr == NULL)
		return 0;
	n = (size_t)(cr + 1 - chunk);
	if (metric_line_parse(r, NULL, chunk, n - 1))
		reports_send(a, r);
	tail_pass(t, chunk, n);
	return n;
}

static void
long_skip(struct local_attempt *a, struct local_tail *t, size_t n)
{
	if (!*t->skip && !t->noted_long) {
		launcher_note(&a->source, LAUNCH_WARNING,
		    "a line of more than %d bytes in its %s was skipped",
		    METRIC_LINE_MAX, t->name);
		t->noted_long = true;
	}
	*t->skip = true;
	tail_pass(t, a->local->chunk, n);
}

/* Read one chunk; true: more may be available at once. */
static bool
tail_read(struct local_attempt *a, struct local_tail *t, bool final)
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
	if (l->chunk[0] == '\0' && hole_skip(a, t))
		return true;
	used = lines_read(a, t, n);
	tail_pass(t, l->chunk, used);
	if (used == 0 && n == sizeof l->chunk && overwritten_pass(a, t, n) > 0)
		return true;
	if (used == 0 && (n == sizeof l->chunk || *t->skip)) {
		long_skip(a, t, n);
	} else if (used < n && final && n < sizeof l->chunk) {
		/* The end of the file is the end of its last line. */
		if (!*t->skip)
			line_read(a, t, l->chunk + used, n - used);
		tail_pass(t, l->chunk + used, n - used);
	}
	return n == sizeof l->chunk;
}

static void
on_file_report(void *arg, const char *name, int64_t step, double value,
    int64_t time_us, bool again)
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
	launcher_emit(&a->source, &ev);
}

static void
on_file_note(void *arg, const char *text)
{
	const struct local_attempt *a = arg;

	launcher_note(&a->source, LAUNCH_WARNING, "%s", text);
}

static bool
files_read(struct local_attempt *a, bool final)
{
	const struct metric_files_sink sink = { on_file_report, on_file_note,
		a };

	return a->files != NULL && a->started_us != 0 &&
	       metric_files_read(a->files, &sink, a->started_us,
		   loop_now_ms(a->local->loop), final);
}

bool
local_tail(struct local_attempt *a, bool final)
{
	struct launch_event ev = { .kind = LAUNCH_READ };
	struct launch_cursor old = a->cursor;
	bool more = tail_read(a, &a->log, final);

	more |= tail_read(a, &a->metrics, final);
	more |= files_read(a, final);
	if (old.log == a->cursor.log && old.metrics == a->cursor.metrics &&
	    old.log_skip == a->cursor.log_skip &&
	    old.metrics_skip == a->cursor.metrics_skip)
		return more;
	ev.u.cursor = a->cursor;
	launcher_emit(&a->source, &ev);
	return more;
}
