/* Expected members. */

#ifndef HPOTUNE_PACK_ARRIVALS_H
#define HPOTUNE_PACK_ARRIVALS_H

#include <stdint.h>

#include "trials/pack/pack.h"

/* A member will connect. */
void pack_arrivals_add(struct pack *, int64_t trial, int64_t attempt);
/* A member has connected. */
void pack_arrivals_came(struct pack *, int64_t trial, int64_t attempt);
/* When members are expected at the latest; -1 = none are. */
int64_t pack_arrivals_until(struct pack *);

#endif /* HPOTUNE_PACK_ARRIVALS_H */
