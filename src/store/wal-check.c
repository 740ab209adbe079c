/*
 * Checks the write-ahead log that a killed server left.  SQLite reads it up to
 * the first invalid frame and takes this for the end, as it is after a kill;
 * when commits follow it, the log is corrupt, and SQLite drops them silently.
 * The format: https://www.sqlite.org/fileformat2.html
 */

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/store/store.h"

#define LOG_MAGIC \
	UINT32_C(0x377f0682) /* or one more: checksums are big-endian */
enum { HEAD = 32, FRAME = 24, PAGE_MIN = 512, PAGE_MAX = 65536 };

struct log {
	int fd;
	off_t size;
	uint32_t page;
	bool big;
	unsigned char salts[8];
	uint32_t sum[2];
	unsigned char *frame; /* FRAME + page bytes */
};

static uint32_t
word(const unsigned char *p, bool big)
{
	return big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
			 (uint32_t)p[2] << 8 | p[3]
		   : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 |
			 (uint32_t)p[1] << 8 | p[0];
}

static void
wal_check_sum_add(struct log *l, const unsigned char *p, size_t n)
{
	size_t i;

	for (i = 0; i + 8 <= n; i += 8) {
		l->sum[0] += word(p + i, l->big) + l->sum[1];
		l->sum[1] += word(p + i + 4, l->big) + l->sum[0];
	}
}

static bool
sum_is(const struct log *l, const unsigned char *p)
{
	return l->sum[0] == word(p, true) && l->sum[1] == word(p + 4, true);
}

static bool
log_head(struct log *l)
{
	unsigned char head[HEAD];

	if (pread(l->fd, head, HEAD, 0) != HEAD ||
	    (word(head, true) & ~UINT32_C(1)) != LOG_MAGIC)
		return false;
	l->big = (word(head, true) & 1) != 0;
	l->page = word(head + 8, true);
	memcpy(l->salts, head + 16, sizeof l->salts);
	wal_check_sum_add(l, head, HEAD - 8);
	return sum_is(l, head + HEAD - 8) && l->page >= PAGE_MIN &&
	       l->page <= PAGE_MAX && (l->page & (l->page - 1)) == 0;
}

/* Whether a frame belongs to this log, not to earlier contents of the file. */
static bool
frame_read(struct log *l, off_t at)
{
	ssize_t n = FRAME + (ssize_t)l->page;

	return pread(l->fd, l->frame, (size_t)n, at) == n &&
	       memcmp(l->frame + 8, l->salts, sizeof l->salts) == 0;
}

static bool
frame_follows(struct log *l)
{
	wal_check_sum_add(l, l->frame, 8);
	wal_check_sum_add(l, l->frame + FRAME, l->page);
	return sum_is(l, l->frame + 16);
}

/* The offset of the first invalid frame, when a commit follows it; or -1. */
static off_t
log_scan(struct log *l)
{
	off_t step = FRAME + (off_t)l->page, at = HEAD, wrong;

	l->frame = xmalloc((size_t)step);
	while (frame_read(l, at) && frame_follows(l))
		at += step;
	wrong = at;
	for (at += step; at + step <= l->size; at += step)
		if (frame_read(l, at) && word(l->frame + 4, true) != 0)
			return wrong;
	return -1;
}

static bool
log_copy(const struct log *l, const char *to)
{
	char block[PAGE_MAX];
	off_t at = 0;
	ssize_t n = 0;
	int fd;

	fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	while ((n = pread(l->fd, block, sizeof block, at)) > 0 &&
	       write(fd, block, (size_t)n) == n)
		at += n;
	if (close(fd) == 0 && n == 0)
		return true;
	(void)unlink(to);
	return false;
}

/* An existing copy means that this corruption was reported before. */
static int
wal_damage_text(
    const struct log *l, const char *name, off_t wrong, struct err *e)
{
	char *copy = xasprintf("%s.damaged", name);
	int rc = 0;
	bool kept;

	if (access(copy, F_OK) != 0) {
		kept = log_copy(l, copy);
		rc = err_set(e, ERR_STORE,
		    "%s is damaged at byte %" PRId64 " of %" PRId64 ": what "
		    "was committed after that is lost%s%s",
		    name, (int64_t)wrong, (int64_t)l->size,
		    kept ? "; as it was it is kept in " : "", kept ? copy : "");
	}
	free(copy);
	return rc;
}

int
store_wal_check(const char *path, struct err *e)
{
	char *name = xasprintf("%s-wal", path);
	struct log l = { .fd = file_open(AT_FDCWD, name) };
	struct stat st;
	off_t wrong = -1;
	int rc = 0;

	/* A shorter log has no commit. */
	if (l.fd >= 0 && fstat(l.fd, &st) == 0 &&
	    st.st_size >= HEAD + FRAME + PAGE_MIN) {
		l.size = st.st_size;
		wrong = log_head(&l) ? log_scan(&l) : 0;
	}
	if (wrong >= 0)
		rc = wal_damage_text(&l, name, wrong, e);
	if (l.fd >= 0)
		(void)close(l.fd);
	free(l.frame);
	free(name);
	return rc;
}
