/* The user's program. */

#ifndef HPOTUNE_PACK_PROGRAM_H
#define HPOTUNE_PACK_PROGRAM_H

#include <stdint.h>

#include "trials/pack/pack.h"

void pack_program_start(struct pack *);
void pack_program_end(struct pack *);
/* Close the program's input and send SIGTERM; SIGKILL after the grace. */
void pack_program_kill(struct pack *);
/* Once per iteration: reap children, read output, check times. */
void pack_program_turn(struct pack *);
int64_t pack_program_next_ms(const struct pack *);

#endif /* HPOTUNE_PACK_PROGRAM_H */
