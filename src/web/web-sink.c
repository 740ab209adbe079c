/* Writes the frames of a reader. */

#include <errno.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/web/web-sink.h"

void
web_sink_put(struct web_sink *sink, char kind, const void *bytes, size_t len)
{
	uint32_t n = (uint32_t)len;
	struct buf b = { 0 };
	size_t at = 0;
	ssize_t done;

	buf_add(&b, (const char *)&n, sizeof n);
	buf_putc(&b, kind);
	buf_add(&b, bytes, len);
	while (at < b.len) {
		done = write(sink->fd, b.data + at, b.len - at);
		if (done == -1 && errno == EINTR)
			continue;
		if (done == -1)
			_exit(1);
		at += (size_t)done;
	}
	buf_free(&b);
	web_sink_beat(sink);
}

void
web_sink_beat(void *sink)
{
	struct web_sink *s = sink;

	(void)atomic_fetch_add(&s->shared->beats, 1);
}

void
web_sink_at(struct web_sink *sink, int64_t at)
{
	atomic_store(&sink->shared->at, at);
	web_sink_beat(sink);
}

uint32_t
web_sink_asked(const struct web_sink *sink)
{
	return atomic_load(&sink->shared->asked);
}
