/*
 * In a reader: the way to the pages, a pipe of frames.  A frame is its length,
 * its kind and its bytes.
 */

#ifndef HPOTUNE_WEB_SINK_H
#define HPOTUNE_WEB_SINK_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that a reader and the pages share. */
struct web_sink_shared {
	_Atomic uint64_t beats; /* grows as the reader gets on */
	_Atomic int64_t at; /* what it is at */
	_Atomic uint32_t asked; /* questions of the pages */
};

struct web_sink {
	int fd;
	struct web_sink_shared *shared;
};

/* Bytes before those of a frame. */
#define WEB_SINK_HEAD (sizeof(uint32_t) + 1)

/* Write a frame; the reader ends when nobody reads it. */
void web_sink_put(struct web_sink *, char kind, const void *bytes, size_t len);
/* Say that it gets on: sink is a struct web_sink. */
void web_sink_beat(void *sink);
/* And at what. */
void web_sink_at(struct web_sink *, int64_t at);
/* The number of the last question. */
uint32_t web_sink_asked(const struct web_sink *);

#endif /* HPOTUNE_WEB_SINK_H */
