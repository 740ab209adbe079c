/*
 * Points where the torture test may delay or kill the program.  The installed
 * programs link fail.c, where they do nothing; test programs link
 * tests/torture/fault-injection.c instead.
 */

#ifndef HPOTUNE_FAIL_H
#define HPOTUNE_FAIL_H

/*
 * Mark that the program reaches the point name, such as "tuner.before_commit".
 */
void fail_point(const char *name);

#endif /* HPOTUNE_FAIL_H */
