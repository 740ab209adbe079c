/*
 * The copy of a job's output for "hpotune logs": the file "log" in the folder
 * of the attempt.  Lines are appended while the job runs; the final pass writes
 * the file anew.  On a full disk the copy is dropped.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/file.h"
#include "src/base/mem.h"
#include "trials/sagemaker/logs/sm-log-file.h"
#include "trials/sagemaker/logs/sm-log-internal.h"
#include "trials/sagemaker/logs/sm-log-line.h"

static int
log_file_open(const struct sm_log *log, const char *name, int flags)
{
	char *path = xasprintf("%s/%s", log->dir, name);
	int fd;

	(void)mkdir(log->dir, 0700);
	fd = file_open_for(AT_FDCWD, path, O_RDWR | O_CREAT | flags, 0600);
	free(path);
	return fd;
}

void
sm_log_file_line(struct buf *lines, const char *text)
{
	size_t n;

	if (sm_log_line_ends(text, &n) && n == 0)
		return; /* ours, not the trial's */
	buf_add(lines, text, n);
	if (n == 0 || text[n - 1] != '\n')
		buf_putc(lines, '\n');
}

/* Cut the beginning of a file that is too long.  False: I/O error. */
static bool
file_cut(FILE *f, int64_t most)
{
	int64_t size, from, to;
	char piece[1 << 16];
	size_t n;

	if (fseeko(f, 0, SEEK_END) != 0)
		return false;
	size = ftello(f);
	from = size - most;
	if (from <= 0)
		return size >= 0;
	if (fseeko(f, 0, SEEK_SET) != 0)
		return false;
	(void)fprintf(f, "[%lld bytes are left out here]\n", (long long)from);
	for (to = ftello(f); from < size;
	     to += (int64_t)n, from += (int64_t)n) {
		if (fseeko(f, from, SEEK_SET) != 0 ||
		    (n = fread(piece, 1, sizeof piece, f)) == 0 ||
		    fseeko(f, to, SEEK_SET) != 0 || fwrite(piece, 1, n, f) != n)
			return false;
	}
	return fflush(f) == 0 && ftruncate(fileno(f), to) == 0;
}

void
sm_log_file_append(struct sm_log *log, const struct buf *lines)
{
	int64_t most = log->logs->file_most;
	struct stat st;
	FILE *f;
	ssize_t n;
	int fd;

	if (lines->len == 0)
		return;
	fd = log_file_open(log, "log", O_APPEND);
	if (fd == -1)
		return;
	n = write(fd, lines->data, lines->len);
	(void)n;
	if (fstat(fd, &st) == -1 || st.st_size <= 2 * most ||
	    fcntl(fd, F_SETFL, 0) == -1 || (f = fdopen(fd, "r+")) == NULL) {
		(void)close(fd);
		return;
	}
	(void)file_cut(f, most);
	(void)fclose(f);
}

void
sm_log_file_touch(struct sm_log *log)
{
	int fd = log_file_open(log, "log", 0);

	if (fd != -1)
		(void)close(fd);
}

void
sm_log_file_put(struct sm_log *log, const char *text)
{
	struct buf line = { 0 };

	sm_log_file_line(&line, text);
	if (log->file != NULL && line.len > 0)
		(void)fwrite(line.data, 1, line.len, log->file);
	else
		sm_log_file_append(log, &line);
	buf_free(&line);
}

/*
 * A reader that follows the old file must see its end: if the new file only
 * extends the old one, the difference is appended to the old file.
 */
static bool
file_extends(FILE *f, const char *old)
{
	char a[1 << 14], b[1 << 14];
	int fd = file_open_for(AT_FDCWD, old, O_RDWR, 0);
	FILE *o = fd != -1 ? fdopen(fd, "r+") : NULL;
	bool same = o != NULL && fseeko(f, 0, SEEK_SET) == 0;
	size_t n = 0, m;

	while (same && (n = fread(a, 1, sizeof a, o)) > 0)
		same = fread(b, 1, n, f) == n && memcmp(a, b, n) == 0;
	if (same)
		same = !ferror(o) && fseeko(o, 0, SEEK_END) == 0;
	while (same && (m = fread(b, 1, sizeof b, f)) > 0)
		same = fwrite(b, 1, m, o) == m;
	if (o != NULL && fclose(o) != 0)
		same = false;
	return same && !ferror(f);
}

void
sm_log_file_end(struct sm_log *log, bool keep)
{
	char *from, *to;
	bool good, there;

	if (log->file == NULL)
		return;
	from = xasprintf("%s/log.new", log->dir);
	to = xasprintf("%s/log", log->dir);
	good = keep && log->n_events > 0 &&
	       file_cut(log->file, log->logs->file_most) && !ferror(log->file);
	there = good && file_extends(log->file, to);
	good = fclose(log->file) == 0 && good;
	log->file = NULL;
	if (!good || there || rename(from, to) != 0)
		(void)unlink(from);
	free(from);
	free(to);
}

void
sm_log_file_begin(struct sm_log *log)
{
	int fd;

	sm_log_file_end(log, false);
	fd = log_file_open(log, "log.new", O_TRUNC);
	log->file = fd != -1 ? fdopen(fd, "w+") : NULL;
	if (log->file == NULL && fd != -1)
		(void)close(fd);
}
