/* Seats: the trials that the program has. */

#ifndef HPOTUNE_PACK_SEATS_H
#define HPOTUNE_PACK_SEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trials/pack/pack.h"

/* The seat of a member, or NULL. */
struct pack_seat *pack_seats_find(struct pack *, const struct pack_member *);
/* Assign free seats to waiting members. */
void pack_seats_fill(struct pack *);
/* Ask the program to stop the trial of a seat, once. */
void pack_seats_stop(struct pack *, struct pack_seat *);
/* The member of a seat disconnected before the end of its trial. */
void pack_seats_desert(struct pack *, struct pack_seat *);
/* Process a line of the program. */
void pack_seats_on_line(struct pack *, const char *line, size_t len);
/*
 * The program has ended: end all its trials.  Waiting members are not affected,
 * unless it cannot be executed.
 */
void
pack_seats_end(struct pack *, enum pack_end how, int number, const char *why);
/* When the next seat becomes unresponsive, -1 = never. */
int64_t pack_seats_next_ms(const struct pack *);
/* Whether a seat is unresponsive, and no member waits for the program. */
bool pack_seats_deaf(const struct pack *);

#endif /* HPOTUNE_PACK_SEATS_H */
