/*
 * Reads the two files of an attempt again: only when a reason is needed, so that
 * reading while it runs costs nothing, and a restart of the server loses nothing.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/base/reading.h"
#include "trials/metric-unread/metric-unread.h"
#include "trials/metric-unread/unread-log.h"

enum { LOG_MOST = 4 << 20, LOG_CHUNK = 4 * METRIC_LINE_MAX };

struct unread_log {
	struct metric_unread unread;
	bool json; /* the file is $HPOTUNE_METRICS */
	struct metric_line line; /* scratch */
	bool skip; /* inside a line whose beginning is not known */
	char chunk[LOG_CHUNK];
};

static void
unread_log_line(struct unread_log *l, const char *line, size_t len)
{
	if (l->json)
		(void)metric_json_parse(&l->line, line, len);
	else
		(void)metric_line_parse(
		    &l->line, l->unread.patterns, line, len);
	metric_unread_line(&l->unread, l->json, &l->line, line, len);
}

/* Where the next line begins; states of a progress bar are one line. */
static const char *
unread_log_next(const char *p, const char *end, bool objects, size_t *len)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p)), *next;
	bool bar;

	if (objects) {
		next = metric_line_next(p, end, true, len, &bar);
		if (next == NULL || !bar)
			return next;
	}
	if (nl == NULL)
		return NULL;
	*len = (size_t)(nl - p);
	return nl + 1;
}

/* The whole lines of n bytes: how many bytes they are. */
static size_t
unread_log_lines(struct unread_log *l, size_t n)
{
	bool objects = l->json || metric_patterns_objects(l->unread.patterns);
	const char *at = l->chunk, *next;
	size_t len;

	while (
	    (next = unread_log_next(at, l->chunk + n, objects, &len)) != NULL) {
		if (!l->skip)
			unread_log_line(l, at, len);
		l->skip = false;
		at = next;
	}
	return (size_t)(at - l->chunk);
}

/* Bytes from to until of the file, by lines. */
static void
unread_log_range(struct unread_log *l, int fd, off_t from, off_t until)
{
	size_t n, used;
	ssize_t got;

	while (from < until) {
		got = pread(fd, l->chunk, sizeof l->chunk, from);
		if (got <= 0)
			return;
		n = (size_t)got;
		used = unread_log_lines(l, n);
		if (used == 0 && n == sizeof l->chunk) {
			if (!l->skip)
				metric_unread_long(&l->unread, l->chunk, n);
			l->skip = true;
			used = n;
		} else if (n < sizeof l->chunk) {
			if (used < n && !l->skip)
				unread_log_line(l, l->chunk + used, n - used);
			return;
		}
		from += (off_t)used;
	}
}

/*
 * Whether not all of its lines can be looked at: the limit of the log punches
 * holes behind what was read.
 */
static bool
unread_log_is_cut(int fd, off_t size)
{
	off_t hole = lseek(fd, 0, SEEK_HOLE);

	return size > 2 * (off_t)LOG_MOST || (hole >= 0 && hole < size);
}

static void
unread_log_file(struct unread_log *l, const char *folder, const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);
	int fd = reading_is_left(folder, name) ? -1 : file_open(AT_FDCWD, path);
	struct stat st;
	off_t head;

	free(path);
	if (fd == -1)
		return;
	reading_begin(folder, name);
	if (fstat(fd, &st) == 0) {
		l->unread.part |= unread_log_is_cut(fd, st.st_size);
		head = st.st_size > 2 * (off_t)LOG_MOST ? LOG_MOST : st.st_size;
		l->skip = false;
		unread_log_range(l, fd, 0, head);
		l->skip = true;
		if (head < st.st_size)
			unread_log_range(
			    l, fd, st.st_size - LOG_MOST, st.st_size);
	}
	reading_end();
	(void)close(fd);
}

bool
unread_log_put(struct buf *out, const char *folder,
    const struct metric_patterns *patterns, const char *metric)
{
	struct unread_log *l = xcalloc(1, sizeof *l);
	bool any;

	metric_unread_begin(&l->unread, metric, patterns);
	unread_log_file(l, folder, "log");
	l->json = true;
	unread_log_file(l, folder, "metrics.jsonl");
	any = metric_unread_put(&l->unread, true, out);
	free(l);
	return any;
}
