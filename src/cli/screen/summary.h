/* The summary printed when a study ends. */

#ifndef HPOTUNE_SUMMARY_H
#define HPOTUNE_SUMMARY_H

struct cli;
struct err;

/*
 * Print the end of the study, its best trial with parameters, and the savings.
 */
int summary_print(struct cli *, const char *db, struct err *);

#endif /* HPOTUNE_SUMMARY_H */
