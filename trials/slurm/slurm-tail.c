/*
 * Reads two growing files on a shared file system: whole lines only, from the
 * recorded offset.  Each look opens and closes the file, because an open
 * descriptor may show an old size there.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/reading.h"
#include "trials/metric-files/metric-files.h"
#include "trials/slurm/slurm-internal.h"

#define STEP_FILE "slurm-step"

struct tail {
	struct slurm_attempt *a;
	const char *name;
	bool is_metrics;
	int64_t *at;
	bool *skip;
	int64_t *last; /* only look for the highest step; or NULL */
};

/* Note once for each reason why an output is not read. */
static void
slurm_tail_why_note(const struct tail *t, const char *what, const char *why)
{
	struct slurm_attempt *a = t->a;
	size_t i, n = sizeof a->noted_why / sizeof a->noted_why[0];

	for (i = 0; i < n && a->noted_why[i] != NULL; i++)
		if (a->noted_why[i] == why)
			return;
	if (i == n)
		return;
	a->noted_why[i] = why;
	backend_note(&a->source, LAUNCH_WARNING, "%s of its %s was skipped: %s",
	    what, t->name, why);
}

static void
slurm_tail_reports_send(
    const struct slurm_attempt *a, const struct metric_line *r)
{
	struct launch_event ev = { .kind = LAUNCH_REPORT };
	size_t i;

	for (i = 0; i < r->n; i++) {
		if (r->rounded &&
		    metric_files_reports(a->files, r->values[i].name))
			continue;
		backend_report_set(&ev, r, i);
		backend_emit(&a->source, &ev);
	}
}

static void
slurm_tail_line_read(const struct tail *t, const char *line, size_t len)
{
	struct slurm *s = t->a->slurm;
	struct metric_line *r = &s->report;
	bool good;

	r->log = t->is_metrics ? NULL : t->a->lines;
	good = t->is_metrics ? metric_json_parse(r, line, len)
			     : metric_line_parse(r, s->rules, line, len);
	if (t->last != NULL) {
		/* Reports without a step are counted. */
		while (metric_line_more(r))
			continue;
		if (good && r->n > 0)
			*t->last = !r->has_step		? *t->last + 1
				   : r->step > *t->last ? r->step
							: *t->last;
		return;
	}
	if (!good) {
		if (r->why != NULL)
			slurm_tail_why_note(t, "a line", r->why);
		return;
	}
	if (r->left_out != NULL)
		slurm_tail_why_note(t, "a part of a line", r->left_out);
	do
		slurm_tail_reports_send(t->a, r);
	while (metric_line_more(r));
}

/* The whole lines of a chunk: how many bytes they are. */
static size_t
slurm_tail_lines_read(const struct tail *t, size_t n)
{
	const char *chunk = t->a->slurm->chunk, *at = chunk, *next;
	bool objects =
	    t->is_metrics || metric_patterns_objects(t->a->slurm->rules);
	bool *bar = &t->a->slurm->report.overwritten;
	size_t len;

	while ((next = metric_line_next(at, chunk + n, objects, &len, bar)) !=
	       NULL) {
		if (!*t->skip && memchr(at, '\0', len) == NULL)
			slurm_tail_line_read(t, at, len);
		*t->skip = false;
		at = next;
	}
	return (size_t)(at - chunk);
}

/* A line longer than the chunk: its rest is skipped. */
static void
slurm_tail_long_skip(const struct tail *t)
{
	if (!t->a->noted_long && t->last == NULL)
		backend_note(&t->a->source, LAUNCH_WARNING,
		    "a line of more than %d bytes of its %s was skipped",
		    METRIC_LINE_MAX, t->name);
	t->a->noted_long |= t->last == NULL;
	*t->skip = true;
}

/* Read one chunk; true: more may be available at once. */
static bool
slurm_tail_look(const struct tail *t, bool final)
{
	struct slurm *s = t->a->slurm;
	int fd = slurm_folder_open_file(t->a->dir, t->name);
	struct stat st;
	size_t n, used;
	ssize_t got;

	if (fd == -1)
		return false;
	/* A file that was cut short or replaced is read from its beginning. */
	if (fstat(fd, &st) == 0 && st.st_size < *t->at) {
		*t->at = 0;
		*t->skip = false;
	}
	if (*t->at == 0 && !t->is_metrics)
		metric_log_clear(t->a->lines);
	else if (!t->is_metrics && !t->a->lines_known)
		metric_log_rebuild(t->a->lines, s->rules, &s->report, s->chunk,
		    sizeof s->chunk, fd, *t->at);
	t->a->lines_known |= !t->is_metrics;
	got = pread(fd, s->chunk, sizeof s->chunk, *t->at);
	(void)close(fd);
	if (got <= 0)
		return false;
	n = (size_t)got;
	used = slurm_tail_lines_read(t, n);
	if (used == 0 && (n == sizeof s->chunk || *t->skip)) {
		slurm_tail_long_skip(t);
		used = n;
	} else if (used < n && final && n < sizeof s->chunk) {
		/* The end of the file is the end of its last line. */
		if (!*t->skip)
			slurm_tail_line_read(t, s->chunk + used, n - used);
		used = n;
	}
	*t->at += (int64_t)used;
	return n == sizeof s->chunk;
}

static bool
slurm_tail_read(const struct tail *t, bool final)
{
	bool more;

	if (reading_is_left(t->a->dir, t->name)) {
		slurm_tail_why_note(t, "the rest", reading_left_text);
		return false;
	}
	reading_begin(t->a->dir, t->name);
	more = slurm_tail_look(t, final);
	/* A bar that is shown at the end has no line behind it. */
	if (final && !more && !t->is_metrics && t->last == NULL)
		slurm_tail_line_read(t, "", 0);
	reading_end();
	return more;
}

static void
slurm_tail_on_file_report(void *arg, const char *name, int64_t step,
    double value, int64_t time_us, bool again)
{
	const struct slurm_attempt *a = arg;
	struct launch_event ev = { .kind = LAUNCH_REPORT };

	ev.u.report.name = name;
	ev.u.report.has_step = true;
	ev.u.report.step = step;
	ev.u.report.value = value;
	ev.u.report.time_us = time_us;
	ev.u.report.again = again;
	backend_emit(&a->source, &ev);
}

static void
slurm_tail_on_file_note(void *arg, const char *text)
{
	const struct slurm_attempt *a = arg;

	backend_note(&a->source, LAUNCH_WARNING, "%s", text);
}

static bool
slurm_tail_files_read(struct slurm_attempt *a, bool final)
{
	const struct metric_files_sink sink = { slurm_tail_on_file_report,
		slurm_tail_on_file_note, a };

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
	bool more = metric_patterns_rounded(a->slurm->rules) &&
		    slurm_tail_files_read(a, final);

	more |= slurm_tail_read(&log, final);
	more |= slurm_tail_read(&metrics, final);
	more |= slurm_tail_files_read(a, final);
	if (old.log == a->cursor.log && old.metrics == a->cursor.metrics &&
	    old.log_skip == a->cursor.log_skip &&
	    old.metrics_skip == a->cursor.metrics_skip)
		return more;
	ev.u.cursor = a->cursor;
	backend_emit(&a->source, &ev);
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
		fd = slurm_folder_open_file(a->dir, files[i].name);
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
		while (slurm_tail_read(&t, true))
			continue;
	}
	/* The state of the lines is that of the end now. */
	a->lines_known = false;
	return last;
}

bool
slurm_tail_has_progress(struct slurm_attempt *a)
{
	int64_t last = slurm_tail_last_step(a), before = -1;
	struct err e = ERR_INIT;
	char text[32];

	if (slurm_folder_read(a->trial_dir, STEP_FILE, text, sizeof text) &&
	    *text != '\0')
		before = strtoll(text, NULL, 10);
	if (last <= before)
		return false;
	(void)snprintf(text, sizeof text, "%" PRId64 "\n", last);
	(void)slurm_folder_write(a->trial_dir, STEP_FILE, text, &e);
	return true;
}
