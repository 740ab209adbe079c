/*
 * Fashion-MNIST for the trainer: checked when loaded, converted to float when
 * gathered.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cache.h"
#include "data.h"

/* Finds NAME.gz, as Debian packs it, or NAME, unpacked by somebody. */
static int
data_find(char *path, size_t size, const char *dir, const char *set,
    const char *what, struct fail *f)
{
	int n;

	n = snprintf(path, size, "%s/%s-%s-ubyte.gz", dir, set, what);
	if (n < 0 || (size_t)n >= size)
		return fail_set(f, "the name of the data folder is too long");
	if (access(path, R_OK) == 0)
		return 0;
	path[n - 3] = '\0';
	if (access(path, R_OK) == 0)
		return 0;
	return fail_set(f,
	    "no readable %s.gz (%s): install the package "
	    "dataset-fashion-mnist or name its folder with --data",
	    path, strerror(errno));
}

/* What the two files must agree on. */
static int
data_check(
    const struct data *d, const char *dir, const char *set, struct fail *f)
{
	size_t i;

	if (d->images.size[1] != 28 || d->images.size[2] != 28)
		return fail_set(f, "%s: %s pictures are %zux%zu, not 28x28",
		    dir, set, d->images.size[1], d->images.size[2]);
	if (d->images.size[0] != d->labels.size[0])
		return fail_set(f, "%s: %zu %s pictures but %zu labels", dir,
		    d->images.size[0], set, d->labels.size[0]);
	for (i = 0; i < d->labels.size[0]; i++) {
		if (d->labels.bytes[i] >= DATA_CLASSES)
			return fail_set(f, "%s: %s label %zu is %u, above 9",
			    dir, set, i, d->labels.bytes[i]);
	}
	return 0;
}

int
data_load(struct data *d, const char *dir, const char *cache, const char *set,
    struct fail *f)
{
	char path[4096];

	memset(d, 0, sizeof *d);
	if (data_find(path, sizeof path, dir, set, "images-idx3", f) == -1 ||
	    cache_read(&d->images, path, 3, cache, f) == -1 ||
	    data_find(path, sizeof path, dir, set, "labels-idx1", f) == -1 ||
	    cache_read(&d->labels, path, 1, cache, f) == -1 ||
	    data_check(d, dir, set, f) == -1) {
		data_free(d);
		return -1;
	}
	return 0;
}

void
data_free(struct data *d)
{
	idx_free(&d->images);
	idx_free(&d->labels);
}

struct images
data_slice(const struct data *d, size_t first, size_t count)
{
	return (struct images){
		.count = count,
		.pixels = d->images.bytes + first * DATA_PIXELS,
		.labels = d->labels.bytes + first,
	};
}

int
data_split(const struct data *d, size_t train_size, size_t validation_size,
    struct images *train, struct images *valid, struct fail *f)
{
	size_t all = d->labels.size[0];

	if (train_size + validation_size > all)
		return fail_set(f,
		    "--train-size=%zu and --validation-size=%zu "
		    "are more than the %zu pictures there are",
		    train_size, validation_size, all);
	*train = data_slice(d, 0, train_size);
	*valid = data_slice(d, all - validation_size, validation_size);
	return 0;
}

void
data_gather(const struct images *im, const uint32_t *order, size_t first,
    size_t n, float *x, uint8_t *y)
{
	const uint8_t *pixels;
	size_t i, j, from;

	for (i = 0; i < n; i++) {
		from = order != NULL ? order[first + i] : first + i;
		pixels = im->pixels + from * DATA_PIXELS;
		for (j = 0; j < DATA_PIXELS; j++)
			x[i * DATA_PIXELS + j] =
			    (float)pixels[j] * DATA_SCALE + DATA_SHIFT;
		y[i] = im->labels[from];
	}
}
