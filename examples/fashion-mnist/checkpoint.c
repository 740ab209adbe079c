/*
 * The checkpoint file: a header, the identity, the floats and a CRC-32 over all
 * of it, in the byte order of the machine (on another one the magic number
 * differs, and the file is rejected).
 */

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "checkpoint.h"

#define CHECKPOINT_NAME "fashion.checkpoint"

/* "fmnist-1" read as a little-endian number; the digit is the version. */
#define CHECKPOINT_MAGIC UINT64_C(0x312d7473696e6d66)

enum { CHECKPOINT_BYTES_MAX = 1 << 30 };

struct checkpoint_head {
	uint64_t magic, identity_size, count[CHECKPOINT_PARTS];
	uint64_t epoch, position, steps, rng;
	double loss_sum;
};

/* A whole file in memory; the last eight bytes are the checksum. */
struct checkpoint_file {
	size_t size;
	uint8_t *bytes;
};

static size_t
checkpoint_size(const struct checkpoint *c)
{
	size_t i, n;

	n = sizeof(struct checkpoint_head) + strlen(c->identity);
	for (i = 0; i < CHECKPOINT_PARTS; i++)
		n += c->part[i].count * sizeof(float);
	return n + sizeof(uint64_t);
}

static uint64_t
checkpoint_sum(const struct checkpoint_file *file)
{
	return crc32_z(0, file->bytes, file->size - sizeof(uint64_t));
}

static uint8_t *
checkpoint_put(uint8_t *to, const void *from, size_t n)
{
	memcpy(to, from, n);
	return to + n;
}

static void
checkpoint_pack(const struct checkpoint *c, struct checkpoint_file *file)
{
	struct checkpoint_head head = {
		.magic = CHECKPOINT_MAGIC,
		.identity_size = strlen(c->identity),
		.epoch = c->epoch,
		.position = c->position,
		.steps = c->steps,
		.rng = c->rng,
		.loss_sum = c->loss_sum,
	};
	uint64_t sum;
	uint8_t *p;
	size_t i;

	file->size = checkpoint_size(c);
	p = file->bytes = mem_zero(file->size, 1);
	for (i = 0; i < CHECKPOINT_PARTS; i++)
		head.count[i] = c->part[i].count;
	p = checkpoint_put(p, &head, sizeof head);
	p = checkpoint_put(p, c->identity, strlen(c->identity));
	for (i = 0; i < CHECKPOINT_PARTS; i++)
		p = checkpoint_put(
		    p, c->part[i].at, c->part[i].count * sizeof(float));
	sum = checkpoint_sum(file);
	checkpoint_put(p, &sum, sizeof sum);
}

/* Writes the bytes and waits until they are on the disk. */
static int
checkpoint_save(const struct checkpoint_file *file, const char *path)
{
	FILE *fp;
	int bad;

	if ((fp = fopen(path, "we")) == NULL)
		return -1;
	bad = fwrite(file->bytes, 1, file->size, fp) != file->size;
	bad = fflush(fp) != 0 || bad;
	bad = fsync(fileno(fp)) != 0 || bad;
	bad = fclose(fp) != 0 || bad;
	return bad ? -1 : 0;
}

/* A rename is on the disk when its folder is. */
static int
checkpoint_sync_dir(const char *dir)
{
	int fd, bad;

	if ((fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return -1;
	bad = fsync(fd);
	close(fd);
	return bad;
}

static int
checkpoint_paths(const char *dir, char *path, char *fresh, struct fail *f)
{
	int n;

	snprintf(path, PATH_MAX, "%s/%s", dir, CHECKPOINT_NAME);
	n = snprintf(fresh, PATH_MAX, "%s/%s.tmp", dir, CHECKPOINT_NAME);
	if (n < 0 || n >= PATH_MAX)
		return fail_set(f, "the name of the checkpoint folder is too "
				   "long");
	return 0;
}

int
checkpoint_write(const struct checkpoint *c, const char *dir, struct fail *f)
{
	char path[PATH_MAX], fresh[PATH_MAX];
	struct checkpoint_file file;
	int bad;

	if (checkpoint_paths(dir, path, fresh, f) == -1)
		return -1;
	checkpoint_pack(c, &file);
	bad = checkpoint_save(&file, fresh) == -1 ||
	      rename(fresh, path) == -1 || checkpoint_sync_dir(dir) == -1;
	free(file.bytes);
	if (bad)
		return fail_set(
		    f, "cannot write %s: %s", path, strerror(errno));
	return 0;
}

/* Reads a file that fits into memory; errno says why not, 0 for its size. */
static int
checkpoint_load(struct checkpoint_file *file, const char *path)
{
	struct stat st;
	FILE *fp;
	int bad;

	if ((fp = fopen(path, "re")) == NULL)
		return -1;
	errno = 0;
	if (fstat(fileno(fp), &st) == -1 || !S_ISREG(st.st_mode) ||
	    st.st_size > CHECKPOINT_BYTES_MAX) {
		fclose(fp);
		return -1;
	}
	file->size = (size_t)st.st_size;
	file->bytes = mem_zero(file->size + 1, 1);
	bad = fread(file->bytes, 1, file->size, fp) != file->size;
	fclose(fp);
	return bad ? -1 : 0;
}

/* Whether the bytes are what checkpoint_pack() once made. */
static int
checkpoint_whole(const struct checkpoint_file *file)
{
	struct checkpoint_head head;
	uint64_t sum, rest;
	size_t i;

	if (file->size < sizeof head + sizeof sum)
		return 0;
	memcpy(&head, file->bytes, sizeof head);
	memcpy(&sum, file->bytes + file->size - sizeof sum, sizeof sum);
	if (head.magic != CHECKPOINT_MAGIC || sum != checkpoint_sum(file))
		return 0;
	rest = file->size - sizeof head - sizeof sum;
	if (head.identity_size > rest)
		return 0;
	rest -= head.identity_size;
	for (i = 0; i < CHECKPOINT_PARTS; i++) {
		if (head.count[i] > rest / sizeof(float))
			return 0;
		rest -= head.count[i] * sizeof(float);
	}
	return rest == 0;
}

/* Where two identities part: at the beginning of a word. */
static size_t
checkpoint_parting(const char *a, const char *b)
{
	size_t i, word = 0;

	for (i = 0; a[i] != '\0' && a[i] == b[i]; i++) {
		if (a[i] == ' ')
			word = i + 1;
	}
	return word;
}

/* Whether a whole file is of this very run; says where it differs if not. */
static int
checkpoint_own(const struct checkpoint *c, const struct checkpoint_file *file,
    const char *path, struct fail *f)
{
	struct checkpoint_head head;
	const char *mine = c->identity;
	char *theirs;
	size_t i, at;
	int same;

	memcpy(&head, file->bytes, sizeof head);
	theirs = mem_zero(head.identity_size + 1, 1);
	memcpy(theirs, file->bytes + sizeof head, head.identity_size);
	same = strcmp(mine, theirs) == 0;
	if (!same) {
		at = checkpoint_parting(mine, theirs);
		fail_set(f, "%s is of a run with %.*s, this one has %.*s", path,
		    (int)strcspn(theirs + at, " "), theirs + at,
		    (int)strcspn(mine + at, " "), mine + at);
	}
	free(theirs);
	for (i = 0; same && i < CHECKPOINT_PARTS; i++) {
		if (head.count[i] != c->part[i].count) {
			same = 0;
			fail_set(f, "%s is of a network of another size", path);
		}
	}
	return same;
}

static void
checkpoint_unpack(struct checkpoint *c, const struct checkpoint_file *file)
{
	struct checkpoint_head head;
	const uint8_t *p;
	size_t i, n;

	memcpy(&head, file->bytes, sizeof head);
	c->epoch = head.epoch;
	c->position = head.position;
	c->steps = head.steps;
	c->rng = head.rng;
	c->loss_sum = head.loss_sum;
	p = file->bytes + sizeof head + head.identity_size;
	for (i = 0; i < CHECKPOINT_PARTS; i++) {
		n = c->part[i].count * sizeof(float);
		memcpy(c->part[i].at, p, n);
		p += n;
	}
}

enum checkpoint_found
checkpoint_read(struct checkpoint *c, const char *dir, struct fail *f)
{
	char path[PATH_MAX], fresh[PATH_MAX];
	struct checkpoint_file file = { 0 };
	enum checkpoint_found found = CHECKPOINT_DAMAGED;

	if (checkpoint_paths(dir, path, fresh, f) == -1)
		return CHECKPOINT_DAMAGED;
	if (checkpoint_load(&file, path) == -1) {
		if (errno == ENOENT)
			found = CHECKPOINT_NONE;
		else
			fail_set(f, "cannot read %s: %s", path,
			    errno != 0 ? strerror(errno) : "not a checkpoint");
	} else if (!checkpoint_whole(&file))
		fail_set(f, "%s is damaged", path);
	else if (!checkpoint_own(c, &file, path, f))
		found = CHECKPOINT_FOREIGN;
	else {
		checkpoint_unpack(c, &file);
		found = CHECKPOINT_GOOD;
	}
	free(file.bytes);
	return found;
}
