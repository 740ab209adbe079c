/* What the list of studies says about one of them, as read at a moment. */

#ifndef HPOTUNE_WEB_SUMMARY_H
#define HPOTUNE_WEB_SUMMARY_H

#include <stdint.h>

struct err;

struct web_summary {
	char *name, *state, *goal, *created, *ended;
	int64_t trials, running, completed, stopped, failed, limit;
	int64_t best_trial; /* 0 = none */
	int64_t front; /* trials on it, of several objectives */
	double best, cost;
	double elapsed; /* seconds that servers ran it */
};

/*
 * Read the summary from a database, in a bounded number of steps; call
 * web_summary_fini also after an error.
 */
int web_summary_read(struct web_summary *, const char *db, struct err *);
void web_summary_fini(struct web_summary *);

#endif /* HPOTUNE_WEB_SUMMARY_H */
