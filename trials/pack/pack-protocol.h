/*
 * The protocol of packed trials, hpotune-trial(7): parses a line of the
 * program.  Input is untrusted.
 */

#ifndef HPOTUNE_PACK_PROTOCOL_H
#define HPOTUNE_PACK_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/mem.h"

enum pack_message_kind {
	PACK_MESSAGE_EMPTY, /* an empty line */
	PACK_MESSAGE_REPORT, /* text: a line for the trial's metrics file */
	PACK_MESSAGE_END, /* code; text: why, or "" */
	PACK_MESSAGE_LOG, /* text: one line */
	PACK_MESSAGE_INVALID /* text: what is wrong with it */
};

struct pack_message {
	enum pack_message_kind said;
	int64_t trial; /* 0 = missing: logs only */
	int64_t attempt; /* 0 = missing */
	int code; /* of an end: 0 to 255 */
	struct buf text; /* reused from line to line; the owner frees it */
};

/* Parse a line without its newline, terminated by a NUL. */
void pack_protocol_read(struct pack_message *, const char *line, size_t len);

#endif /* HPOTUNE_PACK_PROTOCOL_H */
