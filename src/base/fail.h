/*
 * Points where the torture test may delay or kill the program, and seeded bugs
 * that it switches on to prove that it detects them.  The installed programs
 * link fail.c, where both do nothing; test programs link
 * tests/torture/fault-injection.c instead.
 */

#ifndef HPOTUNE_FAIL_H
#define HPOTUNE_FAIL_H

#include <stdbool.h>

/*
 * Mark that the program reaches the point name, such as "tuner.before_commit".
 */
void fail_point(const char *name);
/* Whether the seeded bug name, such as "bug.no_claim_check", is switched on. */
bool fail_bug(const char *name);

#endif /* HPOTUNE_FAIL_H */
