/* What a study says when it ends. */

#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

struct cli;
struct err;

/* The end of the study, its best trial, its parameters, what was saved. */
int summary_print(struct cli *, const char *db, struct err *);

#endif /* CLI_SUMMARY_H */
