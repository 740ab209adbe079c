/*
 * A server: one study, one process, from the lock of its state directory to the
 * last row.  Opens the tuner again after a database error.
 */

#ifndef HPOTUNE_SERVER_H
#define HPOTUNE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "src/engine/tuner/tuner.h"

struct control_answer;
struct err;
struct process_mark;
struct store;
struct study;

struct server_env {
	struct study *study; /* it may get the strategy of the database */
	const char *db; /* NAME.db, absolute */
	const char *state_dir; /* NAME.d, absolute */
	const char
	    *command; /* JSON list, that of this process; NULL: no provenance */
	int64_t trials, parallel; /* instead of the study's limits; 0 = none */
	bool take_over; /* from a server of another machine */
	bool asked; /* start no trials: answer programs that ask for them */
	/* Shut down when this process has ended; NULL: no such process. */
	const struct process_mark *until;
	bool network_fs; /* a shared file system is allowed */
	bool temporary; /* the database is for us alone: no copy of it */
	/*
	 * For one command: its lock says so, and a shared file system is
	 * allowed as when the existing study was created.
	 */
	bool visits;
	/* On whose behalf, as tuner_request_by: for one command; or NULL */
	const char *by;
	/*
	 * Called some times per second between turns and once at the end; store
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
 * Execute a request of the control socket for a study without a server: record
 * it, execute it and return.  Stopping trial 0 stops all.
 */
int oneshot_control(const struct server_env *, enum tuner_request_kind,
    int64_t trial, const char *params, struct control_answer *, struct err *);

/*
 * Execute ask, tell or judge for a study without a server; ask creates the
 * study if needed.  ERR_BUSY: another process has it open.
 */
int oneshot_run(const struct server_env *, enum tuner_request_kind,
    int64_t trial, const char *params, struct control_answer *, struct err *);

#endif /* HPOTUNE_SERVER_H */
