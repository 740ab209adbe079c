/* Reads the files of one attempt as they grow. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "src/base/file.h"
#include "trials/metric-files/metric-files-internal.h"

enum {
	READ_MS = 250,
	ROOM_MIN = METRIC_LINE_MAX + 1, /* one line, or many records */
	RECORD_MAX = 1 << 20, /* larger records are pictures and the like */
	STATE_MAX = 64 << 20, /* of a trainer_state.json */
	/* The kernel's clock of files lags behind the clock by a tick. */
	MTIME_LAG_US = 20000
};

struct metric_files *
metric_files_new(
    const struct study_trial *trial, char *const *paths, bool adopted)
{
	struct metric_files *m;

	if (trial->n_files == 0 || paths == NULL)
		return NULL;
	m = xcalloc(1, sizeof *m);
	m->trial = trial;
	m->paths = strv_copy(paths);
	m->adopted = adopted;
	return m;
}

void
metric_files_free(struct metric_files *m)
{
	size_t i;

	if (m == NULL)
		return;
	for (i = 0; i < m->n; i++) {
		metric_csv_clear(&m->files[i]);
		free(m->files[i].path);
		free(m->files[i].prefix);
	}
	free(m->files);
	free(m->room);
	strv_free(m->paths);
	free(m);
}

void
metric_files_note(
    struct metric_files *m, struct metric_file *f, const char *why)
{
	char *text;

	if (f->noted)
		return;
	f->noted = true;
	text = xasprintf("%s: %s", f->path, why);
	m->sink->note(m->sink->arg, text);
	free(text);
}

/* The name that trial.metrics gives to a tag, or NULL. */
static const char *
tag_name(const struct study_trial *t, const char *tag, size_t len)
{
	size_t i;

	for (i = 0; i < t->n_tags; i++)
		if (strlen(t->tags[i].tag) == len &&
		    memcmp(t->tags[i].tag, tag, len) == 0)
			return t->tags[i].name;
	return NULL;
}

void
metric_files_report(struct metric_files *m, const struct metric_file *f,
    const char *tag, size_t tag_len, int64_t step, double value,
    int64_t time_us)
{
	char made[METRIC_LINE_NAME_MAX + 1];
	struct buf full = { 0 };
	const char *name;

	if (step < 0 || step > INT64_C(1) << 53)
		return;
	if (f->prefix != NULL)
		buf_printf(&full, "%s/", f->prefix);
	buf_add(&full, tag, tag_len);
	name = tag_name(m->trial, buf_str(&full), full.len);
	if (name == NULL &&
	    metric_line_name_make(made, buf_str(&full), full.len))
		name = made;
	buf_free(&full);
	if (name != NULL && strcmp(name, "step") != 0)
		m->sink->report(
		    m->sink->arg, name, step, value, time_us, f->again);
}

static void
room_need(struct metric_files *m, size_t n)
{
	if (m->room_size >= n)
		return;
	free(m->room);
	m->room = xmalloc(n);
	m->room_size = n;
}

/* Read the file from its start. */
static void
file_anew(struct metric_file *f)
{
	f->again |= f->at > 0;
	f->at = 0;
	f->n_kept = 0;
	f->skip = f->over = false;
	metric_csv_clear(f);
}

/* Whether the file is another one, or was cut, or written anew, since. */
static bool
is_another(const struct metric_file *f, const struct stat *st, int fd)
{
	char now[METRIC_FILES_KEPT];

	if (f->at == 0)
		return false;
	if (f->ino != st->st_ino || f->dev != st->st_dev || st->st_size < f->at)
		return true;
	return pread(fd, now, f->n_kept, f->at - (off_t)f->n_kept) !=
		   (ssize_t)f->n_kept ||
	       memcmp(now, f->kept, f->n_kept) != 0;
}

/* Move on by so many bytes, which are at the head of the room. */
static void
file_pass(struct metric_file *f, const char *bytes, size_t n)
{
	size_t new = n < METRIC_FILES_KEPT ? n : METRIC_FILES_KEPT,
	       old = METRIC_FILES_KEPT - new;

	f->at += (int64_t)n;
	if (old > f->n_kept)
		old = f->n_kept;
	memmove(f->kept, f->kept + f->n_kept - old, old);
	memcpy(f->kept + old, bytes + n - new, new);
	f->n_kept = old + new;
}

/* The whole lines of some bytes: how many bytes are done. */
static size_t
lines_read(struct metric_files *m, struct metric_file *f, const char *bytes,
    size_t n, bool final)
{
	const char *at = bytes, *end;
	size_t rest;

	while ((end = memchr(at, '\n', n - (size_t)(at - bytes))) != NULL) {
		if (!f->skip)
			metric_csv_line(m, f, at, (size_t)(end - at));
		f->skip = false;
		at = end + 1;
	}
	rest = n - (size_t)(at - bytes);
	if (rest > METRIC_LINE_MAX) {
		metric_files_note(m, f, "a line is too long, and was skipped");
		f->skip = true;
		return n;
	}
	if (rest > 0 && final) {
		if (!f->skip)
			metric_csv_line(m, f, at, rest);
		return n;
	}
	return (size_t)(at - bytes);
}

/* A record that is too large is passed over once it is whole. */
static bool
record_skip(struct metric_file *f, int fd, int64_t size, uint64_t need)
{
	uint64_t left = (uint64_t)(size - f->at);

	if (need <= RECORD_MAX || need > left)
		return false;
	f->at += (int64_t)need;
	f->n_kept = 0;
	if (pread(fd, f->kept, METRIC_FILES_KEPT, f->at - METRIC_FILES_KEPT) ==
	    METRIC_FILES_KEPT)
		f->n_kept = METRIC_FILES_KEPT;
	return true;
}

/* Read on; returns the bytes that were read of the budget. */
static size_t
file_read_on(struct metric_files *m, struct metric_file *f, int fd,
    size_t budget, bool final)
{
	bool events = f->source->format == STUDY_FILE_TENSORBOARD;
	size_t want = ROOM_MIN, used = 0, done;
	uint64_t need = 0;
	ssize_t n;

	while (!f->over && used < budget) {
		room_need(m, want);
		n = pread(fd, m->room, want, f->at);
		if (n <= 0)
			break;
		done = events ? metric_events_read(
				    m, f, m->room, (size_t)n, final, &need)
			      : lines_read(m, f, m->room, (size_t)n,
				    final && (size_t)n < want);
		file_pass(f, m->room, done);
		used += (size_t)n;
		if (done > 0)
			continue;
		if (record_skip(f, fd, f->size, need))
			continue;
		if ((size_t)n < want || need > RECORD_MAX || need <= want)
			break;
		want = (size_t)need;
	}
	f->more = used >= budget;
	if (final && events && !f->more && !f->over && f->at < f->size)
		metric_files_note(m, f, "its last record is incomplete");
	return used;
}

static size_t
state_read(struct metric_files *m, struct metric_file *f, int fd, bool final)
{
	ssize_t n;

	if (f->size > STATE_MAX) {
		metric_files_note(m, f, "it is too large");
		f->over = true;
		return 0;
	}
	room_need(m, (size_t)f->size + 1);
	n = pread(fd, m->room, (size_t)f->size, 0);
	if (n < 0)
		return 0;
	/* Half written, it is looked at again. */
	if (!metric_trainer_read(m, f, m->room, (size_t)n)) {
		f->mtime_us = 0;
		if (final)
			metric_files_note(m, f, "it is incomplete");
	}
	return (size_t)n;
}

static int64_t
mtime_us(const struct stat *st)
{
	return st->st_mtim.tv_sec * INT64_C(1000000) +
	       st->st_mtim.tv_nsec / 1000;
}

/* What is new in one file; the bytes that were read. */
static size_t
file_look(
    struct metric_files *m, struct metric_file *f, size_t budget, bool final)
{
	int fd = file_open(AT_FDCWD, f->path);
	struct stat st;
	size_t used = 0;
	bool same;

	if (fd == -1)
		return 0;
	if (fstat(fd, &st) == -1 ||
	    mtime_us(&st) + MTIME_LAG_US < m->since_us) {
		(void)close(fd);
		return 0;
	}
	same = f->ino == st.st_ino && f->dev == st.st_dev &&
	       f->size == st.st_size && f->mtime_us == mtime_us(&st);
	if (is_another(f, &st, fd))
		file_anew(f);
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->size = st.st_size;
	f->mtime_us = mtime_us(&st);
	if (same && !final && !f->more)
		used = 0;
	else if (f->source->format != STUDY_FILE_TRAINER_STATE)
		used = file_read_on(m, f, fd, budget, final);
	else if (!same && !f->over)
		used = state_read(m, f, fd, final);
	(void)close(fd);
	return used;
}

bool
metric_files_read(struct metric_files *m, const struct metric_files_sink *sink,
    int64_t since_us, int64_t now_ms, bool final)
{
	size_t i, budget = METRIC_FILES_BUDGET, used;

	if (!final && now_ms < m->read_ms)
		return false;
	m->read_ms = now_ms + READ_MS;
	m->sink = sink;
	m->since_us = since_us;
	if (final || now_ms >= m->search_ms) {
		metric_files_search(m);
		/* A search of n files takes some n microseconds. */
		m->search_ms = now_ms + 1000 + (int64_t)m->n;
	}
	for (i = 0; i < m->n && budget > 0; i++) {
		used = file_look(m, &m->files[i], budget, final);
		budget -= used < budget ? used : budget;
	}
	if (budget > 0)
		return false;
	m->read_ms = now_ms;
	return true;
}
