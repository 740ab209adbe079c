/* The database that each new study begins with; make-image.c prints it. */

#include <stdlib.h>
#include <string.h>

#include "src/store/store-internal.h"

/* The parts that are not zero; the last one has the size of the file. */
static const struct {
	size_t at, n;
	const char *bytes;
} parts[] = {
#include "schema/image.inc"
};

int
image_load(struct store *s, struct err *e)
{
	size_t i, n_parts = sizeof parts / sizeof parts[0];
	size_t size = parts[n_parts - 1].at;
	unsigned char *image = sqlite3_malloc64(size);

	if (image == NULL)
		abort();
	memset(image, 0, size);
	for (i = 0; i < n_parts; i++)
		memcpy(image + parts[i].at, parts[i].bytes, parts[i].n);
	/* The connection frees it. */
	if (sqlite3_deserialize(s->db, "main", image, (sqlite3_int64)size,
		(sqlite3_int64)size,
		SQLITE_DESERIALIZE_FREEONCLOSE |
		    SQLITE_DESERIALIZE_RESIZEABLE) != SQLITE_OK)
		return store_fail(s, "cannot be made", e);
	return 0;
}
