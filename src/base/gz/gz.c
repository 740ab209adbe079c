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
#include "src/base/gz/gz.h"

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

/* Numbers of a zip file are little-endian. */
static size_t
zip_number(const unsigned char *p, int bytes)
{
	size_t x = 0;

	while (bytes-- > 0)
		x = x << 8 | p[bytes];
	return x;
}

/* Inflate raw data, which ends by itself, up to max bytes of text. */
static int
zip_inflate(struct buf *out, const unsigned char *data, size_t len, size_t max,
    const char *path, struct err *e)
{
	z_stream z = { .next_in = (z_const Bytef *)data,
		.avail_in = (uInt)len };
	unsigned char piece[PIECE];
	int code;

	if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
		return err_set(e, ERR_FILE, "%s: out of memory", path);
	do {
		z.next_out = piece;
		z.avail_out = PIECE;
		code = inflate(&z, Z_NO_FLUSH);
		buf_add(out, piece, PIECE - z.avail_out);
	} while (code == Z_OK && out->len <= max);
	(void)inflateEnd(&z);
	if (out->len > max)
		return err_set(
		    e, ERR_FILE, "%s: more than %zu bytes", path, max);
	return code == Z_STREAM_END
		   ? 0
		   : err_set(e, ERR_USAGE, "%s: damaged zip file", path);
}

int
gz_zip_first(struct buf *out, const void *zip, size_t len, size_t max,
    const char *path, struct err *e)
{
	enum { HEADER = 30, STORED = 0, DEFLATED = 8 };
	const unsigned char *p = zip;
	size_t from, size;

	if (len < HEADER || memcmp(p, "PK\3\4", 4) != 0)
		return err_set(e, ERR_USAGE, "%s: no zip file", path);
	from = HEADER + zip_number(p + 26, 2) + zip_number(p + 28, 2);
	size = zip_number(p + 18, 4);
	if (from > len)
		return err_set(e, ERR_USAGE, "%s: damaged zip file", path);
	switch (zip_number(p + 8, 2)) {
	case DEFLATED:
		return zip_inflate(out, p + from, len - from, max, path, e);
	case STORED:
		if (size > len - from || size > max)
			break;
		buf_add(out, p + from, size);
		return 0;
	}
	return err_set(
	    e, ERR_USAGE, "%s: a zip file of a kind that is not read", path);
}
