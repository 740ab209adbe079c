/*
 * Following two files that grow: whole lines only, from where the last turn
 * ended, never more than one chunk at a time.  The head of a file may have
 * been given back to the disk meanwhile; what was in it is lost and said so.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trials/local.h"

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

static bool
tail_open(const struct local_attempt *a, struct local_tail *t)
{
	char path[PATH_SIZE];
	struct stat st;

	if (t->fd != -1)
		return true;
	(void)snprintf(path, sizeof path, "%s/%s", a->dir, t->name);
	/* A pipe in its place is not waited for, and not read. */
	t->fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (t->fd == -1 || (fstat(t->fd, &st) == 0 && S_ISREG(st.st_mode)))
		return t->fd != -1;
	(void)close(t->fd);
	t->fd = -1;
	return false;
}

/* Something meant as a report was refused: each reason is told once. */
static void
why_note(struct local_attempt *a, struct local_tail *t, const char *why)
{
	size_t i;

	for (i = 0; i < LOCAL_WHYS && t->noted_why[i] != NULL; i++)
		if (t->noted_why[i] == why)
			return;
	if (i == LOCAL_WHYS)
		return;
	t->noted_why[i] = why;
	local_note(
	    a, true, "a line of its %s was passed over: %s", t->name, why);
}

static void
line_read(
    struct local_attempt *a, struct local_tail *t, const char *line, size_t len)
{
	struct local *l = a->local;
	struct launch_event ev = { .kind = LAUNCH_REPORT };
	struct report *r = &l->report;
	bool good;
	size_t i;

	good = t == &a->metrics ? report_parse_json(r, line, len)
				: report_parse_line(r, l->rules, line, len);
	if (!good) {
		if (r->why != NULL)
			why_note(a, t, r->why);
		return;
	}
	for (i = 0; i < r->n; i++) {
		ev.u.report.name = r->values[i].name;
		ev.u.report.has_step = r->has_step;
		ev.u.report.step = r->step;
		ev.u.report.value = r->values[i].value;
		local_emit(a, &ev);
	}
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
		/* Zeros are a hole that came under our hands, or no text. */
		if (!*t->skip && (!zeros || memchr(at, '\0', len) == NULL))
			line_read(a, t, at, len);
		*t->skip = false;
		at = end + 1;
	}
	return (size_t)(at - chunk);
}

/* A chunk that begins with a zero: skip what was given back. */
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
	/* The first line after a hole has lost its beginning. */
	*t->skip = true;
	if (!t->noted_drop) {
		t->noted_drop = true;
		local_note(a, true,
		    "%lld bytes of output were dropped before they were read",
		    (long long)t->dropped);
		t->dropped = 0;
	}
	return true;
}

/* Nothing to read: a file cut short or replaced is read from its start. */
static bool
cut_skip(struct local_attempt *a, struct local_tail *t)
{
	struct stat mine, there;
	char path[PATH_SIZE];

	(void)snprintf(path, sizeof path, "%s/%s", a->dir, t->name);
	if (fstat(t->fd, &mine) == -1 || lstat(path, &there) == -1 ||
	    !S_ISREG(there.st_mode) ||
	    (mine.st_ino == there.st_ino && mine.st_size >= *t->at))
		return false;
	(void)close(t->fd);
	t->fd = -1;
	*t->at = 0;
	*t->skip = false;
	if (!t->noted_cut)
		local_note(a, true,
		    "its %s was cut short or replaced and is read anew",
		    t->name);
	t->noted_cut = true;
	return tail_open(a, t);
}

static void
long_skip(struct local_attempt *a, struct local_tail *t, size_t n)
{
	if (!*t->skip && !t->noted_long) {
		local_note(a, true,
		    "a line of more than %d bytes in its %s was skipped",
		    REPORT_LINE_MAX, t->name);
		t->noted_long = true;
	}
	*t->skip = true;
	*t->at += (int64_t)n;
}

/* One chunk; true when more may be there at once. */
static bool
tail_read(struct local_attempt *a, struct local_tail *t, bool final)
{
	struct local *l = a->local;
	ssize_t got;
	size_t n, used;

	if (!tail_open(a, t))
		return false;
	got = pread(t->fd, l->chunk, sizeof l->chunk, *t->at);
	if (got <= 0)
		return got == 0 && cut_skip(a, t);
	n = (size_t)got;
	if (l->chunk[0] == '\0' && hole_skip(a, t))
		return true;
	used = lines_read(a, t, n);
	*t->at += (int64_t)used;
	if (used == 0 && (n == sizeof l->chunk || *t->skip)) {
		long_skip(a, t, n);
		used = n;
	} else if (used < n && final && n < sizeof l->chunk) {
		/* The end of the file is the end of its last line. */
		if (!*t->skip)
			line_read(a, t, l->chunk + used, n - used);
		*t->at += (int64_t)(n - used);
		used = n;
	}
	return n == sizeof l->chunk;
}

bool
local_tail(struct local_attempt *a, bool final)
{
	struct launch_event ev = { .kind = LAUNCH_READ };
	struct launch_cursor old = a->cursor;
	bool more = tail_read(a, &a->log, final);

	more |= tail_read(a, &a->metrics, final);
	if (old.log == a->cursor.log && old.metrics == a->cursor.metrics &&
	    old.log_skip == a->cursor.log_skip &&
	    old.metrics_skip == a->cursor.metrics_skip)
		return more;
	ev.u.cursor = a->cursor;
	local_emit(a, &ev);
	return more;
}
