/*
 * Lines over a descriptor that does not wait: what came, and what is still to
 * go.  Knows no message.
 */

#ifndef HPOTUNE_PACK_LINE_IO_H
#define HPOTUNE_PACK_LINE_IO_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/mem.h"

enum { PACK_LINE_IO_READ = 65536 /* bytes of one reading */ };

struct pack_line_io {
	int fd; /* -1 = closed */
	size_t line_max; /* bytes of a line; longer ones are passed over */
	bool over; /* nothing more will come, or can be sent */
	bool skip; /* inside a line that is too long */
	size_t skipped; /* lines that were too long */
	struct buf in, out;
	size_t in_at, out_at; /* bytes dealt with */
};

/* Lines of at most line_max bytes over fd, which does not wait from now on. */
void pack_line_io_open(struct pack_line_io *, int fd, size_t line_max);
void pack_line_io_close(struct pack_line_io *);
/* One reading of at most PACK_LINE_IO_READ bytes; sets over at the end. */
void pack_line_io_read(struct pack_line_io *);
/*
 * The next line, without its newline and with a NUL behind it, until the next
 * reading; NULL = there is none yet.  The last one needs no newline.
 */
char *pack_line_io_next(struct pack_line_io *, size_t *len);
/* Send later, or now: as much as goes without waiting. */
void pack_line_io_put(struct pack_line_io *, const void *, size_t);
void pack_line_io_flush(struct pack_line_io *);
/* Bytes that are still to go. */
size_t pack_line_io_pending(const struct pack_line_io *);

#endif /* HPOTUNE_PACK_LINE_IO_H */
