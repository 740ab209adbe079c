/*
 * One process that runs one command after another for the one that has started it,
 * and keeps the database open between them while a server runs its study.
 */

#ifndef HPOTUNE_COMMAND_SERVE_H
#define HPOTUNE_COMMAND_SERVE_H

#include <stdint.h>

struct err;

/*
 * A request on its standard input: this, then so many bytes, of texts that each end
 * with a NUL: HPOTUNE_CALLER, the name of the command, and what stands after it.
 * What the command prints, errors too, comes on its standard output.
 */
struct command_serve_head {
	uint32_t bytes;
};

/* On its standard error, after all that the command has printed. */
struct command_serve_end {
	int32_t status; /* enum cli_status */
	uint32_t last; /* 1: it ends now, and takes no further one */
};

/* Until its standard input ends. */
int command_serve_run(struct err *);

#endif /* HPOTUNE_COMMAND_SERVE_H */
