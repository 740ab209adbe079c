/*
 * What a user asks of a running server while it is being killed, and whether
 * it was promised: a promise outlives the server.
 */

#ifndef TESTS_ASKS_H
#define TESTS_ASKS_H

#include <sys/types.h>

struct rig;
struct store;

struct ask {
	pid_t pid; /* the command, or 0 */
	long stop; /* the trial to stop, or 0 */
	long tag; /* of the setting to try, or 0 */
};

/* Ask something of the server, if it listens. */
void ask_begin(struct ask *, struct rig *, int trials);
/* Wait for the answer and write down what was promised. */
void ask_end(struct ask *, struct rig *);
/* How many promises the store does not keep; each is printed. */
int asks_broken(const struct rig *, struct store *, int *promises);

#endif /* TESTS_ASKS_H */
