/* Lines over a non-blocking descriptor, with buffers for input and output. */

#ifndef HPOTUNE_PACK_LINE_IO_H
#define HPOTUNE_PACK_LINE_IO_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/mem.h"

enum { PACK_LINE_IO_READ = 65536 /* maximum bytes of one read */ };

struct pack_line_io {
	int fd; /* -1 = closed */
	size_t line_max; /* maximum bytes of a line; longer ones are skipped */
	bool over; /* closed by the peer */
	bool skip; /* inside a line that is too long */
	size_t skipped; /* number of lines that were too long */
	struct buf in, out;
	size_t in_at, out_at; /* bytes already processed */
};

/* Use fd for lines of at most line_max bytes; sets it to non-blocking. */
void pack_line_io_open(struct pack_line_io *, int fd, size_t line_max);
void pack_line_io_close(struct pack_line_io *);
/* Read once, at most PACK_LINE_IO_READ bytes; sets over at EOF. */
void pack_line_io_read(struct pack_line_io *);
/*
 * The next line, without newline and with a NUL, valid until the next read;
 * NULL = no complete line.  At EOF the last one needs no newline.
 */
char *pack_line_io_next(struct pack_line_io *, size_t *len);
/* Write as much as possible without blocking; buffer the rest. */
void pack_line_io_put(struct pack_line_io *, const void *, size_t);
void pack_line_io_flush(struct pack_line_io *);
/* Number of buffered bytes to be written. */
size_t pack_line_io_pending(const struct pack_line_io *);

#endif /* HPOTUNE_PACK_LINE_IO_H */
