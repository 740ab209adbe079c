/*
 * Reads IDX files through zlib and checks them: a file that is truncated,
 * damaged, too long or of another type is rejected.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

#include "idx.h"

/* Far above any file of this kind; below what a wrong header could ask for. */
enum { IDX_BYTES_MAX = 1 << 30 };

/* Says why zlib gave fewer bytes than it was asked for. Its own sentence may
 * begin with the path. */
static int
idx_short(gzFile file, const char *path, struct fail *f)
{
	const char *why;
	size_t n = strlen(path);
	int code;

	why = gzerror(file, &code);
	if (code == Z_OK || code == Z_BUF_ERROR)
		why = "the file ends too early";
	else if (code == Z_ERRNO)
		why = strerror(errno);
	else if (strncmp(why, path, n) == 0 && strncmp(why + n, ": ", 2) == 0)
		why += n + 2;
	return fail_set(f, "%s: %s", path, why);
}

/* Reads n bytes; a file that ends before them is a failure. */
static int
idx_take(gzFile file, const char *path, void *to, size_t n, struct fail *f)
{
	int got;

	got = gzread(file, to, (unsigned)n);
	if (got >= 0 && (size_t)got == n)
		return 0;
	return idx_short(file, path, f);
}

static uint32_t
idx_big_endian(const uint8_t *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
	       (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

/* Reads magic and dimensions and gives the number of bytes that follow. */
static int
idx_head(
    struct idx *x, gzFile file, const char *path, size_t *n, struct fail *f)
{
	uint8_t word[4];
	size_t i;

	if (idx_take(file, path, word, sizeof word, f) == -1)
		return -1;
	/* 0x08 is the type: unsigned bytes. */
	if (idx_big_endian(word) != (0x0800 | (uint32_t)x->dims))
		return fail_set(f,
		    "%s: not an IDX file of bytes in %zu dimensions", path,
		    x->dims);
	for (i = 0, *n = 1; i < x->dims; i++) {
		if (idx_take(file, path, word, sizeof word, f) == -1)
			return -1;
		x->size[i] = idx_big_endian(word);
		if (x->size[i] == 0 || x->size[i] > IDX_BYTES_MAX / *n)
			return fail_set(f,
			    "%s: dimension %zu is %zu, out of range", path,
			    i + 1, x->size[i]);
		*n *= x->size[i];
	}
	return 0;
}

/* Nothing may follow the bytes; asking also makes zlib check its checksum. */
static int
idx_end(gzFile file, const char *path, struct fail *f)
{
	uint8_t more;
	int code, got;

	if ((got = gzread(file, &more, 1)) > 0)
		return fail_set(
		    f, "%s: the file is longer than its header says", path);
	gzerror(file, &code);
	return got == 0 && code == Z_OK ? 0 : idx_short(file, path, f);
}

int
idx_read(struct idx *x, const char *path, size_t dims, struct fail *f)
{
	gzFile file;
	size_t n = 0;

	memset(x, 0, sizeof *x);
	x->dims = dims;
	if ((file = gzopen(path, "rbe")) == NULL)
		return fail_set(f, "%s: %s", path, strerror(errno));
	gzbuffer(file, 1 << 17);
	if (idx_head(x, file, path, &n, f) == -1)
		goto failed;
	x->bytes = mem_zero(n, 1);
	if (idx_take(file, path, x->bytes, n, f) == -1 ||
	    idx_end(file, path, f) == -1)
		goto failed;
	gzclose(file);
	return 0;

failed:
	gzclose(file);
	idx_free(x);
	return -1;
}

void
idx_free(struct idx *x)
{
	if (x->map != NULL)
		munmap(x->map, x->mapped);
	else
		free(x->bytes);
	memset(x, 0, sizeof *x);
}
