/* The cache: a head that says of which file it is, then the bytes. */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "cache.h"

/* Native byte order: another machine's is none of this file. */
struct cache_head {
	char what[16];
	uint64_t size, device, inode, changed; /* of the packed file */
	uint64_t dims, sizes[IDX_DIMS_MAX];
	uint64_t checksum; /* of the bytes */
};

static const char cache_what[16] = "idx unpacked 1";

/* What the head of this file would be, but for its contents. */
static int
cache_head_of(struct cache_head *h, const char *path)
{
	struct stat st;

	if (stat(path, &st) == -1)
		return -1;
	memset(h, 0, sizeof *h);
	memcpy(h->what, cache_what, sizeof h->what);
	h->size = (uint64_t)st.st_size;
	h->device = (uint64_t)st.st_dev;
	h->inode = (uint64_t)st.st_ino;
	h->changed = (uint64_t)st.st_mtim.tv_sec * 1000000000 +
		     (uint64_t)st.st_mtim.tv_nsec;
	return 0;
}

/* FOLDER/NAME.unpacked. */
static int
cache_path(char *to, size_t size, const char *folder, const char *path)
{
	const char *name = strrchr(path, '/');
	int n = snprintf(
	    to, size, "%s/%s.unpacked", folder, name != NULL ? name + 1 : path);

	return n >= 0 && (size_t)n < size ? 0 : -1;
}

/* 0: no head of ours. */
static size_t
cache_bytes(const struct cache_head *h)
{
	size_t n = 1, i;

	for (i = 0; i < IDX_DIMS_MAX; i++)
		if (i < h->dims)
			n *= (size_t)h->sizes[i];
		else if (h->sizes[i] != 0)
			return 0;
	return n;
}

/* Whether the file that is mapped is whole, and of the packed one. */
static int
cache_good(
    const void *map, size_t size, const struct cache_head *want, size_t dims)
{
	struct cache_head h;

	if (size < sizeof h)
		return 0;
	memcpy(&h, map, sizeof h);
	return memcmp(&h, want, offsetof(struct cache_head, dims)) == 0 &&
	       h.dims == dims && size - sizeof h == cache_bytes(&h) &&
	       h.checksum == crc32_z(0, (const unsigned char *)map + sizeof h,
				 size - sizeof h);
}

static int
cache_map(
    struct idx *x, const char *path, const struct cache_head *want, size_t dims)
{
	struct cache_head h;
	struct stat st;
	void *map = MAP_FAILED;
	size_t size = 0, i;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_size > 0) {
		size = (size_t)st.st_size;
		map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	close(fd);
	if (map == MAP_FAILED)
		return -1;
	if (!cache_good(map, size, want, dims)) {
		munmap(map, size);
		return -1;
	}
	memcpy(&h, map, sizeof h);
	memset(x, 0, sizeof *x);
	x->dims = dims;
	for (i = 0; i < dims; i++)
		x->size[i] = (size_t)h.sizes[i];
	x->bytes = (uint8_t *)map + sizeof h;
	x->map = map;
	x->mapped = size;
	return 0;
}

static int
cache_put(FILE *f, struct cache_head *h, const struct idx *x)
{
	size_t i, n;

	h->dims = x->dims;
	for (i = 0; i < x->dims; i++)
		h->sizes[i] = x->size[i];
	n = cache_bytes(h);
	h->checksum = crc32_z(0, x->bytes, n);
	return fwrite(h, sizeof *h, 1, f) == 1 &&
	       fwrite(x->bytes, 1, n, f) == n;
}

/* A name of its own until it is whole; nothing is lost when it cannot be. */
static void
cache_write(const char *folder, const char *path, struct cache_head *h,
    const struct idx *x)
{
	char part[4200];
	FILE *f;
	int good;

	if (mkdir(folder, 0777) == -1 && errno != EEXIST)
		return;
	snprintf(part, sizeof part, "%s.%ld", path, (long)getpid());
	if ((f = fopen(part, "wbe")) == NULL)
		return;
	good = cache_put(f, h, x);
	good = fclose(f) == 0 && good;
	if (!good || rename(part, path) == -1)
		unlink(part);
}

int
cache_read(struct idx *x, const char *path, size_t dims, const char *folder,
    struct fail *f)
{
	struct cache_head h;
	char cached[4100];

	if (folder == NULL || *folder == '\0' ||
	    cache_head_of(&h, path) == -1 ||
	    cache_path(cached, sizeof cached, folder, path) == -1)
		return idx_read(x, path, dims, f);
	if (cache_map(x, cached, &h, dims) == 0)
		return 0;
	if (idx_read(x, path, dims, f) == -1)
		return -1;
	cache_write(folder, cached, &h, x);
	return 0;
}
