/* Whole files through zlib, which reads uncompressed files unchanged. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/replay/gz.h"

enum { PIECE = 1 << 16 };

static int
gz_read_all(
    gzFile f, struct buf *b, size_t max, const char *path, struct err *e)
{
	char piece[PIECE];
	int n, code;

	while ((n = gzread(f, piece, PIECE)) > 0) {
		buf_add(b, piece, (size_t)n);
		if (b->len > max)
			return err_set(
			    e, ERR_FILE, "%s: more than %zu bytes", path, max);
	}
	if (n < 0)
		return err_set(e, ERR_FILE, "%s: %s", path, gzerror(f, &code));
	return 0;
}

int
gz_load(char **text, size_t *len, const char *path, size_t max, struct err *e)
{
	struct buf b = { 0 };
	gzFile f;
	int fd, rc;

	fd = file_open_user(path);
	if (fd == -1)
		return err_set(e, errno == ENOENT ? ERR_USAGE : ERR_FILE,
		    "%s: %s", path,
		    errno == EISDIR ? "is a folder" : file_why(errno));
	f = gzdopen(fd, "rb");
	if (f == NULL) {
		(void)close(fd);
		return err_set(e, ERR_FILE, "%s: out of memory", path);
	}
	rc = gz_read_all(f, &b, max, path, e);
	(void)gzclose(f);
	if (rc == -1) {
		buf_free(&b);
		return -1;
	}
	*len = b.len;
	buf_putc(&b, '\0');
	*text = buf_take(&b);
	return 0;
}
