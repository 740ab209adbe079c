/* Writes the file of a report atomically. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/atomic-file.h"
#include "src/html/page.h"

/* 1: an earlier report exists, 0: no file; anything else is an error. */
static int
there(const char *path, struct err *e)
{
	struct html first = { 0 };
	char start[256];
	ssize_t n = 0;
	bool ours;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd == -1 && errno == ENOENT)
		return 0;
	if (fd == -1 && errno != ELOOP)
		return err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
	if (fd != -1) {
		n = read(fd, start, sizeof start);
		(void)close(fd);
	}
	html_begin(&first, PAGE_ABOUT);
	ours = n >= (ssize_t)first.out.len &&
	       memcmp(start, first.out.data, first.out.len) == 0;
	buf_free(&first.out);
	if (ours)
		return 1;
	return err_set(e, ERR_FILE,
	    "%s: exists and is not a report of hpotune: choose another "
	    "file with --output",
	    path);
}

int
page_file_write(const char *path, const struct buf *text, struct err *e)
{
	int rc = there(path, e);

	return rc == -1 ? -1 : atomic_file_write(path, rc == 1, text, e);
}
