/*
 * Line-based input and output; EOF and a closed peer are an end, not an error.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "trials/pack/pack-line-io.h"

void
pack_line_io_open(struct pack_line_io *io, int fd, size_t line_max)
{
	int flags = fcntl(fd, F_GETFL);

	*io = (struct pack_line_io){ .fd = fd, .line_max = line_max };
	(void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

void
pack_line_io_close(struct pack_line_io *io)
{
	if (io->fd != -1)
		(void)close(io->fd);
	io->fd = -1;
	io->over = true;
	buf_free(&io->in);
	buf_free(&io->out);
	io->in_at = io->out_at = 0;
}

/* Lines that were dealt with make room. */
static void
in_compact(struct pack_line_io *io)
{
	if (io->in_at == 0)
		return;
	memmove(io->in.data, io->in.data + io->in_at, io->in.len - io->in_at);
	io->in.len -= io->in_at;
	io->in_at = 0;
}

void
pack_line_io_read(struct pack_line_io *io)
{
	char block[PACK_LINE_IO_READ];
	ssize_t n;

	if (io->fd == -1 || io->over)
		return;
	n = read(io->fd, block, sizeof block);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		io->over = true;
		return;
	}
	in_compact(io);
	buf_add(&io->in, block, (size_t)n);
}

/* Bytes up to a newline that are too many: pass over them. */
static void
skip_begin(struct pack_line_io *io)
{
	io->skipped += !io->skip;
	io->skip = true;
	io->in_at = io->in.len;
}

char *
pack_line_io_next(struct pack_line_io *io, size_t *len)
{
	char *at, *end;
	size_t have;

	for (;;) {
		have = io->in.len - io->in_at;
		if (have == 0)
			return NULL;
		at = io->in.data + io->in_at;
		end = memchr(at, '\n', have);
		if (end == NULL && !io->over) {
			if (io->skip || have > io->line_max)
				skip_begin(io);
			return NULL;
		}
		*len = end != NULL ? (size_t)(end - at) : have;
		io->in_at += *len + (end != NULL);
		if (io->skip || *len > io->line_max) {
			io->skipped += !io->skip;
			io->skip = false;
			continue;
		}
		/* Behind the last byte the buffer has a NUL of its own. */
		at[*len] = '\0';
		return at;
	}
}

void
pack_line_io_put(struct pack_line_io *io, const void *data, size_t n)
{
	if (io->fd != -1 && !io->over)
		buf_add(&io->out, data, n);
}

void
pack_line_io_flush(struct pack_line_io *io)
{
	ssize_t n;

	while (io->fd != -1 && io->out_at < io->out.len) {
		n = write(io->fd, io->out.data + io->out_at,
		    io->out.len - io->out_at);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			break;
		if (n == -1) {
			io->over = true;
			io->out_at = io->out.len;
			break;
		}
		io->out_at += (size_t)n;
	}
	if (io->out_at < io->out.len && io->out_at < PACK_LINE_IO_READ)
		return;
	if (io->out_at == io->out.len)
		buf_clear(&io->out);
	else {
		memmove(io->out.data, io->out.data + io->out_at,
		    io->out.len - io->out_at);
		io->out.len -= io->out_at;
	}
	io->out_at = 0;
}

size_t
pack_line_io_pending(const struct pack_line_io *io)
{
	return io->out.len - io->out_at;
}
