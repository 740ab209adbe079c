/*
 * Reads two growing files on a shared file system: whole lines only, from the
 * recorded offset.  Each look opens and closes the file, because an open
 * descriptor may show an old size there.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/loop.h"
#include "trials/metric-files/metric-files.h"
#include "trials/slurm/slurm-internal.h"

struct tail {
	struct slurm_attempt *a;
	const char *name;
	bool is_metrics;
	int64_t *at;
	bool *skip;
	int64_t *last; /* only look for the highest step; or NULL */
};

static int
tail_open(const struct slurm_attempt *a, const char *name)
{
	char *path = xasprintf("%s/%s", a->dir, name);
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	free(path);
	/* A pipe in its place is not waited for, and not read. */
	if (fd != -1 && (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

/* Once for each reason. */
static void
why_note(const struct tail *t, const char *what, const char *why)
{
	struct slurm_attempt *a = t->a;
	size_t i, n = sizeof a->noted_why / sizeof a->noted_why[0];

	for (i = 0; i < n && a->noted_why[i] != NULL; i++)
		if (a->noted_why[i] == why)
			return;
	if (i == n)
		return;
	a->noted_why[i] = why;
	launcher_note(&a->source, LAUNCH_WARNING,
	    "%s of its %s was skipped: %s", what, t->name, why);
}

static void
line_read(const struct tail *t, const char *line, size_t len)
{
	struct slurm *s = t->a->slurm;
	struct metric_line *r = &s->report;
	struct launch_event ev = { .kind = LAUNCH_REPORT };
	bool good;
	size_t i;

	r->epoch = t->a->epoch;
	good = t->is_metrics ? metric_json_parse(r, line, len)
			     : metric_line_parse(r, s->rules, line, len);
	t->a->epoch = r->epoch;
	if (t->last != NULL) {
		/* Reports without a step are counted. */
		if (good && r->n > 0)
			*t->last = !r->has_step		? *t->last + 1
				   : r->step > *t->last ? r->step
							: *t->last;
		return;
	}
	if (!good) {
		if (r->why != NULL)
			why_note(t, "a line", r->why);
		return;
	}
	if (r->left_out != NULL)
		why_note(t, "a part of a line", r->left_out);
	for (i = 0; i < r->n; i++) {
		ev.u.report.name = r->values[i].name;
		ev.u.report.has_step = r->has_step;
		ev.u.report.step = r->step;
		ev.u.report.value = r->values[i].value;
		launcher_emit(&t->a->source, &ev);
	}
}

/* The whole lines of a chunk: how many bytes they are. */
static size_t
lines_read(const struct tail *t, size_t n)
{
	const char *chunk = t->a->slurm->chunk, *at = chunk, *end;
	size_t len;

	while ((end = memchr(at, '\n', n - (size_t)(at - chunk))) != NULL) {
		len = (size_t)(end - at);
		if (!*t->skip && memchr(at, '\0', len) == NULL)
			line_read(t, at, len);
		*t->skip = false;
		at = end + 1;
	}
	return (size_t)(at - chunk);
}

/* A line longer than the chunk: its rest is skipped. */
static void
long_skip(const struct tail *t)
{
	if (!t->a->noted_long && t->last == NULL)
		launcher_note(&t->a->source, LAUNCH_WARNING,
		    "a line of more than %d bytes of its %s was skipped",
		    METRIC_LINE_MAX, t->name);
	t->a->noted_long |= t->last == NULL;
	*t->skip = true;
}

/* Read one chunk; true: more may be available at once. */
static bool
tail_read(const struct tail *t, bool final)
{
	struct slurm *s = t->a->slurm;
	int fd = tail_open(t->a, t->name);
	struct stat st;
	size_t n, used;
	ssize_t got;

	if (fd == -1)
		return false;
	/* Cut short or replaced: from its beginning. */
	if (fstat(fd, &st) == 0 && st.st_size < *t->at) {
		*t->at = 0;
		*t->skip = false;
	}
	got = pread(fd, s->chunk, sizeof s->chunk, *t->at);
	(void)close(fd);
	if (got <= 0)
		return false;
	n = (size_t)got;
	used = lines_read(t, n);
	if (used == 0 && (n == sizeof s->chunk || *t->skip)) {
		long_skip(t);
		used = n;
	} else if (used < n && final && n < sizeof s->chunk) {
		/* The end of the file is the end of its last line. */
		if (!*t->skip)
			line_read(t, s->chunk + used, n - used);
		used = n;
	}
	*t->at += (int64_t)used;
	return n == sizeof s->chunk;
}

static void
on_file_report(void *arg, const char *name, int64_t step, double value,
    int64_t time_us, bool again)
{
	const struct slurm_attempt *a = arg;
	struct launch_event ev = { .kind = LAUNCH_REPORT };

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
	const struct slurm_attempt *a = arg;

	launcher_note(&a->source, LAUNCH_WARNING, "%s", text);
}

static bool
files_read(struct slurm_attempt *a, bool final)
{
	const struct metric_files_sink sink = { on_file_report, on_file_note,
		a };

	return a->files != NULL && a->claimed &&
	       metric_files_read(a->files, &sink,
		   a->claim.started_us - SLURM_CLOCKS_US,
		   loop_now_ms(a->slurm->loop), final);
}

bool
slurm_tail(struct slurm_attempt *a, bool final)
{
	struct launch_event ev = { .kind = LAUNCH_READ };
	struct launch_cursor old = a->cursor;
	const struct tail log = { .a = a,
		.name = "log",
		.at = &a->cursor.log,
		.skip = &a->cursor.log_skip };
	const struct tail metrics = { .a = a,
		.name = "metrics.jsonl",
		.is_metrics = true,
		.at = &a->cursor.metrics,
		.skip = &a->cursor.metrics_skip };
	bool more = tail_read(&log, final);

	more |= tail_read(&metrics, final);
	more |= files_read(a, final);
	if (old.log == a->cursor.log && old.metrics == a->cursor.metrics &&
	    old.log_skip == a->cursor.log_skip &&
	    old.metrics_skip == a->cursor.metrics_skip)
		return more;
	ev.u.cursor = a->cursor;
	launcher_emit(&a->source, &ev);
	return more;
}

bool
slurm_tail_is_whole(const struct slurm_attempt *a)
{
	const struct {
		const char *name;
		int64_t size;
	} files[] = { { "log", a->exit.log_size },
		{ "metrics.jsonl", a->exit.metrics_size } };
	bool whole = true;
	struct stat st;
	size_t i;
	int fd;

	for (i = 0; i < sizeof files / sizeof *files; i++) {
		if (files[i].size == 0)
			continue;
		fd = tail_open(a, files[i].name);
		whole = whole && fd != -1 && fstat(fd, &st) == 0 &&
			st.st_size >= files[i].size;
		if (fd != -1)
			(void)close(fd);
	}
	return whole;
}

int64_t
slurm_tail_last_step(struct slurm_attempt *a)
{
	static const char *const names[] = { "log", "metrics.jsonl" };
	int64_t last = -1, at;
	struct tail t = { .a = a, .at = &at, .last = &last };
	bool skip;
	size_t i;

	for (i = 0; i < 2; i++) {
		t.name = names[i];
		t.is_metrics = i == 1;
		at = 0;
		skip = false;
		t.skip = &skip;
		while (tail_read(&t, true))
			continue;
	}
	return last;
}
