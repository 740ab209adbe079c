/* Which trial runs next, and on which backend. */

#ifndef HPOTUNE_SCHEDULE_H
#define HPOTUNE_SCHEDULE_H

#include <stdbool.h>

struct tuner;

/* Begin what may begin now. */
void schedule_place(struct tuner *);

#endif /* HPOTUNE_SCHEDULE_H */
