/*
 * Requests of a user to a server that is being killed, and whether they were
 * promised: a promise outlives the server.
 */

#ifndef HPOTUNE_ASKS_H
#define HPOTUNE_ASKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct harness;
struct store;

struct ask {
	pid_t pid; /* the command, or 0 */
	long stop; /* the trial to stop, or 0 */
	long tag; /* of the setting to try, or of the value to tell; or 0 */
	bool tells; /* it asks for a trial, runs it, and tells its value */
	bool leaves; /* it does not tell, and is gone */
	bool proposes; /* the tag is that of a proposal */
	long dies_us; /* it is killed so long after its start; 0 = it is not */
};

/* Whether there is a server that listens. */
bool asks_server_listens(const struct harness *);
/*
 * Ask it something; tells: perhaps for a trial that it does not run; proposes: to
 * judge a proposal, instead of a setting of the queue; most proposers are killed
 * within dies_us.
 */
void asks_begin(struct ask *, struct harness *, bool tells, bool proposes,
    uint64_t dies_us);
/* Wait for the answer and write down what was promised: whether it was killed. */
bool asks_end(struct ask *, struct harness *);
/* One number that a query with one argument gives; -1 = none. */
long asks_number(struct store *, const char *sql, long arg);
/* How many promises the store does not keep; each is printed. */
int asks_broken(const struct harness *, struct store *, int *promises);

#endif /* HPOTUNE_ASKS_H */
