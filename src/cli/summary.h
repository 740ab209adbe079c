/* What a study says when it ends. */

#ifndef HPOTUNE_SUMMARY_H
#define HPOTUNE_SUMMARY_H

struct cli;
struct err;

/* The end of the study, its best trial, its parameters, what was saved. */
int summary_print(struct cli *, const char *db, struct err *);

#endif /* HPOTUNE_SUMMARY_H */
