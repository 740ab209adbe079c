/*
 * Places where the torture test may delay or kill the program.  The installed
 * programs link fail.c, where a place does nothing; test programs link
 * tests/fail-on.c instead.
 */

#ifndef BASE_FAIL_H
#define BASE_FAIL_H

/* Passing a place named like "tuner.before_commit". */
void fail_point(const char *name);

#endif /* BASE_FAIL_H */
