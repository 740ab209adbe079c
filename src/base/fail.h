/*
 * Places where the torture test may delay or kill the program, and bugs it
 * may ask for to see that it would catch them.  The installed programs link
 * fail.c, where a place does nothing and there are no bugs; test programs
 * link tests/torture/fault-injection.c instead.
 */

#ifndef HPOTUNE_FAIL_H
#define HPOTUNE_FAIL_H

#include <stdbool.h>

/* Passing a place named like "tuner.before_commit". */
void fail_point(const char *name);
/* Whether to behave as if the bug "bug.no_claim_check" were there. */
bool fail_bug(const char *name);

#endif /* HPOTUNE_FAIL_H */
