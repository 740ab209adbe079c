/*
 * The protocol of packed trials, hpotune-trial(7), as text: what a line of the
 * program says.  Trusts no byte, knows no process.
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
	int64_t trial; /* 0 = not given: logs only */
	int64_t attempt; /* 0 = not given */
	int code; /* of an end: 0 to 255 */
	struct buf text; /* kept from line to line; the owner frees it */
};

/* Read a line without its newline, with a NUL behind it. */
void pack_protocol_read(struct pack_message *, const char *line, size_t len);

#endif /* HPOTUNE_PACK_PROTOCOL_H */
