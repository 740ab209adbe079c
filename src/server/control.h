/*
 * The control socket: NAME.d/control, mode 0600, same user only.  One JSON
 * object per line in, one out:
 *	{"command": "stop", "trial": 3}
 *	{"ok": true, "text": "trial 3 is being stopped"}
 * An answer may have data: what ask, tell and judge found.
 * stop without a trial asks the server to leave; that connection stays open
 * until it has left.
 */

#ifndef HPOTUNE_CONTROL_H
#define HPOTUNE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "src/server/tuner/tuner.h"

struct control;
struct err;
struct loop;
struct state_dir;

struct control_hooks {
	/* Hand a request to the tuner of the moment. */
	void (*request)(void *arg, enum tuner_request_kind, int64_t trial,
	    const char *params, tuner_reply *, void *reply_arg);
	/* Leave; now: without the grace of the trials. */
	void (*leave)(void *arg, bool now);
	void *arg;
};

int control_open(struct control **, struct loop *, const struct state_dir *,
    const struct control_hooks *, struct err *);
/*
 * Hear nobody any more and take the socket away: while the lock is held, so
 * that the one taken away is ours.  Those who wait for the end go on waiting.
 */
void control_retire(struct control *);
/* Hang up on everybody.  After tuner_close, which answers what was asked. */
void control_close(struct control *);

/*
 * The other side: send one line, print nothing, return the answer.  1: no
 * server listens there.  With wait, return when the server has left.
 */
struct control_answer {
	bool ok;
	char text[256];
	char *data; /* JSON, the caller's to free; NULL = none */
};
int control_call(const struct state_dir *, const char *line, bool wait,
    struct control_answer *, struct err *);

#endif /* HPOTUNE_CONTROL_H */
