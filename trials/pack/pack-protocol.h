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

enum pack_said {
	PACK_SAID_NOTHING, /* an empty line */
	PACK_SAID_REPORT, /* text: a line for the trial's metrics file */
	PACK_SAID_END, /* code; text: why, or "" */
	PACK_SAID_LOG, /* text: one line */
	PACK_SAID_NONSENSE /* text: what is wrong with it */
};

struct pack_line {
	enum pack_said said;
	int64_t trial; /* 0 = not given: logs only */
	int64_t attempt; /* 0 = not given */
	int code; /* of an end: 0 to 255 */
	struct buf text; /* kept from line to line; the owner frees it */
};

/* Read a line without its newline, with a NUL behind it. */
void pack_line_read(struct pack_line *, const char *line, size_t len);

#endif /* HPOTUNE_PACK_PROTOCOL_H */
