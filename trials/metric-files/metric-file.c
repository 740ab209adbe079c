/*
 * One file as it grows: which part is new, whether it was written anew, what is
 * half written.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/base/reading.h"
#include "trials/metric-files/metric-files-internal.h"

enum {
	ROOM_MIN = METRIC_LINE_MAX + 1, /* one line, or many records */
	/* The kernel's clock of files lags behind the clock by a tick. */
	MTIME_LAG_US = 20000
};

void
metric_file_note(struct metric_file *f, const char *why)
{
	char *text;

	if (f->noted != NULL)
		return;
	f->noted = xstrdup(why);
	text = xasprintf("%s: %s", f->path, why);
	metric_files_note(f->of, text);
	free(text);
}

static void
metric_file_clear(struct metric_file *f)
{
	if (f->state != NULL && f->reader->clear != NULL)
		f->reader->clear(f->state);
	f->state = NULL;
}

void
metric_file_free(struct metric_file *f)
{
	metric_file_clear(f);
	free(f->path);
	free(f->prefix);
	free(f->noted);
	free(f);
}

/*
 * Where the line behind the one at p begins; of text also behind a bare CR, and at an
 * object of JSON.  NULL: it is not complete.
 */
static const char *
metric_file_line_next(
    struct metric_file *f, const char *p, const char *end, size_t *len)
{
	const char *nl;

	f->overwritten = false;
	if (f->reader->is_text)
		return metric_line_next(p, end,
		    metric_patterns_objects(f->patterns), len, &f->overwritten);
	nl = memchr(p, '\n', (size_t)(end - p));
	if (nl == NULL)
		return NULL;
	*len = (size_t)(nl - p);
	return nl + 1;
}

size_t
metric_file_lines(struct metric_file *f, const char *bytes, size_t n,
    bool final, void (*line)(struct metric_file *, const char *, size_t))
{
	const char *at = bytes, *next;
	size_t rest, len;

	while ((next = metric_file_line_next(f, at, bytes + n, &len)) != NULL) {
		if (len > 0 && at[len - 1] == '\r')
			len--;
		if (!f->skip)
			line(f, at, len);
		f->skip = false;
		at = next;
	}
	rest = n - (size_t)(at - bytes);
	if (rest > METRIC_LINE_MAX) {
		metric_file_note(f, "a line is too long, and was skipped");
		f->skip = true;
		return n;
	}
	if (rest > 0 && final) {
		if (!f->skip)
			line(f, at, rest);
		return n;
	}
	return (size_t)(at - bytes);
}

/* Read the file from its start. */
static void
metric_file_anew(struct metric_file *f)
{
	f->again |= f->at > 0;
	f->at = 0;
	f->n_kept = 0;
	f->skip = f->over = false;
	metric_file_clear(f);
}

static int64_t
metric_file_mtime_us(const struct stat *st)
{
	return st->st_mtim.tv_sec * INT64_C(1000000) +
	       st->st_mtim.tv_nsec / 1000;
}

/* Whether the file is another one, or was cut, or written anew, since. */
static bool
metric_file_is_another(
    const struct metric_file *f, const struct stat *st, int fd)
{
	char now[METRIC_FILE_KEPT];

	if (f->at == 0)
		return false;
	if (f->ino != st->st_ino || f->dev != st->st_dev || st->st_size < f->at)
		return true;
	/* One object with another head and the same end. */
	if (f->reader->has_objects && st->st_size == f->at &&
	    f->at <= METRIC_LINE_MAX && f->mtime_us != metric_file_mtime_us(st))
		return true;
	return pread(fd, now, f->n_kept, f->at - (off_t)f->n_kept) !=
		   (ssize_t)f->n_kept ||
	       memcmp(now, f->kept, f->n_kept) != 0;
}

/* Move on by so many bytes, which are at the head of the room. */
static void
metric_file_pass(struct metric_file *f, const char *bytes, size_t n)
{
	size_t new = n < METRIC_FILE_KEPT ? n : METRIC_FILE_KEPT;
	size_t old = METRIC_FILE_KEPT - new;

	f->at += (int64_t)n;
	if (old > f->n_kept)
		old = f->n_kept;
	memmove(f->kept, f->kept + f->n_kept - old, old);
	memcpy(f->kept + old, bytes + n - new, new);
	f->n_kept = old + new;
}

/* A record that is too large is passed over once it is whole. */
static bool
metric_file_skip_record(struct metric_file *f, int fd)
{
	uint64_t left = (uint64_t)(f->size - f->at);

	if (f->need <= METRIC_FILE_RECORD_MAX || f->need > left)
		return false;
	f->at += (int64_t)f->need;
	f->n_kept = 0;
	if (pread(fd, f->kept, METRIC_FILE_KEPT, f->at - METRIC_FILE_KEPT) ==
	    METRIC_FILE_KEPT)
		f->n_kept = METRIC_FILE_KEPT;
	return true;
}

/*
 * Say what a file is that cannot be read as a text, by its first bytes.  Sources:
 * file(1) and the formats; UTF-16 begins with its mark.
 */
static void
metric_file_is_foreign(struct metric_file *f, const char *bytes, size_t n)
{
	static const char pickle[] = "it is a pickle of Python";
	static const struct {
		const char *magic;
		size_t n;
		const char *why;
	} known[] = { { "\037\213", 2, "it is compressed by gzip" },
		{ "PK\003\004", 4, "it is a zip archive" },
		{ "BZh", 3, "it is compressed by bzip2" },
		{ "\3757zXZ", 5, "it is compressed by xz" },
		{ "\050\265\057\375", 4, "it is compressed by zstd" },
		{ "\211HDF", 4, "it is a file of HDF5" },
		{ "PAR1", 4, "it is a file of Parquet" },
		{ "\223NUMPY", 6, "it is a file of numpy" },
		{ "\200\002", 2, pickle }, { "\200\003", 2, pickle },
		{ "\200\004", 2, pickle }, { "\200\005", 2, pickle },
		{ "SQLite format 3", 15, "it is a database of SQLite" },
		{ "\377\376", 2, "it is in UTF-16, and UTF-8 is read" },
		{ "\376\377", 2, "it is in UTF-16, and UTF-8 is read" } };
	size_t i;

	for (i = 0; i < sizeof known / sizeof known[0]; i++)
		if (n >= known[i].n &&
		    memcmp(bytes, known[i].magic, known[i].n) == 0)
			metric_file_note(f, known[i].why);
}

/* Read on; returns the bytes that were read of the budget. */
static size_t
metric_file_read_on(struct metric_file *f, int fd, size_t budget, bool final)
{
	size_t want = ROOM_MIN, used = 0, done;
	char *room;
	ssize_t n;

	while (!f->over && used < budget) {
		room = metric_files_room(f, want);
		n = pread(fd, room, want, f->at);
		if (n <= 0)
			break;
		f->need = 0;
		if (f->at == 0 && !f->reader->has_folders)
			metric_file_is_foreign(f, room, (size_t)n);
		done = f->reader->read(
		    f, room, (size_t)n, final && (size_t)n < want);
		metric_file_pass(f, room, done);
		used += (size_t)n;
		if (done > 0)
			continue;
		if (metric_file_skip_record(f, fd))
			continue;
		if ((size_t)n < want || f->need > METRIC_FILE_RECORD_MAX ||
		    f->need <= want)
			break;
		want = (size_t)f->need;
	}
	f->more = used >= budget;
	if (final && !f->more && !f->over && f->at < f->size)
		metric_file_note(f, "its last record is incomplete");
	return used;
}

/* All of the file, whenever it has changed. */
static size_t
metric_file_read_whole(struct metric_file *f, int fd, bool final)
{
	char *room;
	ssize_t n;

	if (f->size > METRIC_FILE_WHOLE_MAX) {
		metric_file_note(f, "it is too large");
		f->over = true;
		return 0;
	}
	room = metric_files_room(f, (size_t)f->size + 1);
	n = pread(fd, room, (size_t)f->size, 0);
	if (n < 0)
		return 0;
	/* A file that is half written is looked at again. */
	if (f->reader->read(f, room, (size_t)n, final) != (size_t)n) {
		f->mtime_us = 0;
		if (final)
			metric_file_note(f, "it is incomplete");
	}
	return (size_t)n;
}

static size_t
metric_file_look_at(struct metric_file *f, int fd, size_t budget, bool final)
{
	struct stat st;
	int64_t mtime_us;
	bool same;

	if (fstat(fd, &st) == -1)
		return 0;
	mtime_us = metric_file_mtime_us(&st);
	if (mtime_us + MTIME_LAG_US < metric_files_since(f))
		return 0;
	same = f->ino == st.st_ino && f->dev == st.st_dev &&
	       f->size == st.st_size && f->mtime_us == mtime_us;
	if (metric_file_is_another(f, &st, fd))
		metric_file_anew(f);
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->size = st.st_size;
	f->mtime_us = mtime_us;
	if (f->reader->is_whole)
		return !same && !f->over ? metric_file_read_whole(f, fd, final)
					 : 0;
	return !same || final || f->more
		   ? metric_file_read_on(f, fd, budget, final)
		   : 0;
}

size_t
metric_file_look(struct metric_file *f, size_t budget, bool final)
{
	int fd = f->left ? -1 : file_open(AT_FDCWD, f->path);
	size_t used;

	if (fd == -1)
		return 0;
	reading_begin(f->path, NULL);
	used = metric_file_look_at(f, fd, budget, final);
	reading_end();
	(void)close(fd);
	return used;
}
