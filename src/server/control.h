/*
 * The control socket: NAME.d/control, mode 0600, same user only.  One JSON
 * object per line in, one out:
 *	{"command": "stop", "trial": 3}
 *	{"ok": true, "text": "trial 3 is being stopped"}
 *
 * A request of a caller of hpotune mcp has "by": who it is, and its caps
 * (src/engine/callers/caller.h).  An answer may have data: the result of ask, tell or judge.  stop without a
 * trial asks the server to shut down; that connection stays open until it has.
 */

#ifndef HPOTUNE_CONTROL_H
#define HPOTUNE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "src/engine/tuner/tuner.h"

struct control;
struct err;
struct loop;
struct state_dir;

struct control_hooks {
	/* Pass a request to the current tuner; by: see tuner_request_by. */
	void (*request)(void *arg, enum tuner_request_kind, int64_t trial,
	    const char *params, const char *by, tuner_reply *, void *reply_arg);
	/* Shut down; now: without the grace time of the trials. */
	void (*leave)(void *arg, bool now);
	void *arg;
};

int control_open(struct control **, struct loop *, const struct state_dir *,
    const struct control_hooks *, struct err *);
/*
 * Stop accepting and reading, and remove the socket; call while the lock is
 * held, so that it is our socket.  Clients that wait for the shutdown stay
 * connected.
 */
void control_retire(struct control *);
/*
 * Disconnect all clients.  Call after tuner_close, which answers pending
 * requests.
 */
void control_close(struct control *);

/*
 * Client side: send one line and return the answer; prints nothing. 1: no
 * server listens.  With wait, return when the server has shut down.
 */
struct control_answer {
	bool ok;
	char text[256];
	char *data; /* JSON, the caller frees it; NULL = none */
	bool lost; /* with -1: the server has died, perhaps after it was done */
};
int control_call(const struct state_dir *, const char *line, bool wait,
    struct control_answer *, struct err *);

#endif /* HPOTUNE_CONTROL_H */
