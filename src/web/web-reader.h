/*
 * Processes that read studies for the pages.  A database may be slow, locked,
 * hostile or on a disk that hangs, so that the loop that answers touches none: a
 * reader is forked for a piece of work, writes what it finds into a pipe, and is
 * killed when it does not get on.
 *
 * A reader gets on when it writes, or says that it does.  What is limited is the
 * time between, as web-pace.h counts it.  A process that hangs in the kernel does not
 * end when it is killed; it costs nothing else.
 */

#ifndef HPOTUNE_WEB_READER_H
#define HPOTUNE_WEB_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop;
struct web_readers;
struct web_reader;
struct web_sink;

/* For how long a reader may not get on. */
enum { WEB_READER_LIMIT_MS = 1000 };

struct web_reader_spec {
	/* In the reader, which ends when this returns. */
	void (*work)(void *arg, struct web_sink *);
	/* A frame that it wrote; borrowed. */
	void (*frame)(void *arg, char kind, const char *bytes, size_t len);
	/* NULL, or called once when it has taken patience_ms. */
	void (*late)(void *arg);
	int64_t patience_ms;
	/*
	 * Called once, at its end, after its frames: why is NULL when work has
	 * returned, otherwise a clause: "did not answer within a second"; at:
	 * the number that it gave last with web_sink_at, -1 = none.  The reader
	 * is freed then.
	 */
	void (*end)(void *arg, const char *why, int64_t at);
	void *arg;
	const char *study; /* the id of what it reads, "" = none; copied */
	bool stays; /* until it is killed: its waiting is no reason */
};

struct web_readers *web_readers_open(struct loop *);
/* Kills all; end is not called. */
void web_readers_close(struct web_readers *);
/*
 * Start a reader, or let it wait: twelve work at a time, two of them on one
 * study.  No callback is called before this returns.
 */
struct web_reader *
web_reader_start(struct web_readers *, const struct web_reader_spec *);
/* Kill and free it; end is not called.  NULL is none. */
void web_reader_kill(struct web_reader *);
/* Ask a reader that stays for all that it has; the number of this question. */
uint32_t web_reader_ask(struct web_reader *);
/*
 * How many readers of this study hang in the kernel: they did not end within a
 * second of that when they were killed.  One that waits for the processor to end,
 * or has ended and is not reaped yet, is none.
 */
size_t web_readers_stuck(const struct web_readers *, const char *study);

#endif /* HPOTUNE_WEB_READER_H */
