/* Attempts whose state is not known. */

#ifndef HPOTUNE_ADOPT_H
#define HPOTUNE_ADOPT_H

struct tuner;

/* Look up attempts in unknown state at their backends. */
void adopt_attempts(struct tuner *);
/* Attempts that never started: end them, or start them again. */
void adopt_settle_unsent(struct tuner *);

#endif /* HPOTUNE_ADOPT_H */
