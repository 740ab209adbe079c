/*
 * A server: one study, one process, from the lock of its state directory to
 * the last row.  Opens the tuner again when the store failed under it.
 */

#ifndef HPOTUNE_SERVER_H
#define HPOTUNE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "src/server/tuner/tuner.h"

struct control_answer;
struct err;
struct store;
struct study;

struct server_env {
	const struct study *study;
	const char *db; /* NAME.db, absolute */
	const char *state_dir; /* NAME.d, absolute */
	int64_t trials, parallel; /* instead of the study's; 0 = as there */
	bool network_fs; /* a shared file system is accepted */
	bool visits; /* … as it was when the study that lies there was made */
	/*
	 * Called some times a second between turns and once at the end; store
	 * is NULL while it cannot be read.  May be NULL.
	 */
	void (*display)(void *arg, struct store *, const char *trouble);
	/* Called once when the study is open and its lock is held; or NULL. */
	void (*ready)(void *arg);
	void *arg;
};

enum server_end { SERVER_FINISHED, SERVER_FAILED, SERVER_INTERRUPTED };

/* Create or resume the study and run it to its limits. */
int server_run(const struct server_env *, enum server_end *, struct err *);

/*
 * The same request as over the control socket, for a study that no server
 * has: recorded, done, and left.  Stopping trial 0 stops all.
 */
int offline_run(const struct server_env *, enum tuner_request_kind,
    int64_t trial, const char *params, struct control_answer *, struct err *);

/*
 * ask, tell and judge for a study that no server has; ask makes it where it is
 * not.  ERR_BUSY: somebody has it at this moment.
 */
int oneshot_run(const struct server_env *, enum tuner_request_kind,
    int64_t trial, const char *params, struct control_answer *, struct err *);

#endif /* HPOTUNE_SERVER_H */
