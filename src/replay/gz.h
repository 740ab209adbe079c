/* Files that may be compressed: the only file that uses zlib. */

#ifndef HPOTUNE_GZ_H
#define HPOTUNE_GZ_H

#include <stddef.h>

struct err;

/*
 * Read a whole file, gzip or plain, of at most max bytes of text.  *text ends
 * with a NUL that len does not count; the caller frees it.
 */
int
gz_load(char **text, size_t *len, const char *path, size_t max, struct err *);

#endif /* HPOTUNE_GZ_H */
