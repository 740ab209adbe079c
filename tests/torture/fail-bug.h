/*
 * Seeded bugs, which only copies of the programs have: see seeded-bugs.  The
 * programs of the torture test ask $HPOTUNE_FAIL (fault-injection.c), the
 * simulator the study that it runs.
 */

#ifndef HPOTUNE_FAIL_BUG_H
#define HPOTUNE_FAIL_BUG_H

#include <stdbool.h>

/* Whether the seeded bug name, such as "bug.no_claim_check", is switched on. */
bool fail_bug(const char *name);

#endif /* HPOTUNE_FAIL_BUG_H */
