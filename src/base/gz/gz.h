/* Files that may be compressed: the only file that uses zlib. */

#ifndef HPOTUNE_GZ_H
#define HPOTUNE_GZ_H

#include <stddef.h>

struct buf;
struct err;

/*
 * Read a whole file, gzip or plain, of at most max bytes of text.  *text ends
 * with a NUL that len does not count; the caller frees it.
 */
int
gz_load(char **text, size_t *len, const char *path, size_t max, struct err *);

/*
 * Append the first file in a zip file that is in memory, of at most max bytes;
 * path is for the error.
 */
int gz_zip_first(struct buf *, const void *zip, size_t len, size_t max,
    const char *path, struct err *);

#endif /* HPOTUNE_GZ_H */
