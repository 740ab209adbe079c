/* hpotune web as a child of a server: started with it, ended with it. */

#ifndef HPOTUNE_WEB_CHILD_H
#define HPOTUNE_WEB_CHILD_H

#include <sys/types.h>

struct web_child {
	pid_t pid; /* 0 = none */
	int end_fd; /* readable when it has ended */
	int hold_fd; /* it ends when this is closed, by us or by our death */
};

/*
 * Start the server of the pages for a database; port NULL: on the socket of the
 * study.  It prints its address to our stderr, and to tell_fd unless that is
 * -1, which it closes then.  A failure is a warning: the study runs without.
 */
void web_child_start(
    struct web_child *, const char *db, const char *port, int tell_fd);
/* Let the server of the pages end, and wait for it. */
void web_child_end(struct web_child *);

#endif /* HPOTUNE_WEB_CHILD_H */
