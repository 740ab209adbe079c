/*
 * The tuner: asks the strategy, places trials, processes backend events,
 * applies the rules and records each transition before it is executed.
 *
 * A tuner is a cache of the database: close it at any moment, open it again,
 * and it continues from the recorded state.  That is what happens after a kill
 * -9, and also what the server does when a transaction fails.
 */

#ifndef HPOTUNE_TUNER_H
#define HPOTUNE_TUNER_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/log.h"
#include "src/model/trial.h"

struct err;
struct loop;
struct store;
struct study;
struct tuner;

struct tuner_env {
	struct loop *loop;
	struct study *study; /* it may get the strategy of the database */
	const char *db; /* path of NAME.db */
	/* The same, open for writing: the tuner closes it; NULL: it opens db. */
	struct store *store;
	const char *state_dir; /* NAME.d, absolute */
	const char
	    *command; /* JSON list, that of this process; NULL: no provenance */
	int64_t trials; /* instead of limits.trials; 0 = none */
	int64_t parallel; /* instead of limits.parallel; 0 = none */
	bool hold; /* place nothing: a command without a server */
	bool without_backends; /* … and use no backend: ask, tell and judge */
	bool asked; /* a server without backends, for programs that ask */
};

/*
 * Read the database and adopt running attempts.  The caller holds the lock of
 * the study, and frees the tuner with tuner_close.
 */
int tuner_open(struct tuner **, const struct tuner_env *, struct err *);
/*
 * Close and free it.  Trials continue to run; the next tuner_open adopts them.
 */
void tuner_close(struct tuner *);

/*
 * One turn of the loop: collect, judge, place, commit, act. 1: another process
 * holds the lock on the database (ERR_BUSY), nothing was done, and the caller
 * tries again.  -1: the store failed; close the tuner and open it again.
 */
int tuner_turn(struct tuner *, struct err *);

/*
 * Requests of the user between turns; each is recorded in the next turn and
 * answered through reply after the commit.
 */
enum tuner_request_kind {
	TUNER_STOP_TRIAL,
	TUNER_KILL_TRIAL, /* the same without grace time */
	TUNER_PAUSE,
	TUNER_RESUME,
	TUNER_ENQUEUE,
	/* requests.c and request-recorded.c have the params of these. */
	TUNER_UNQUEUE,
	TUNER_NOTE,
	TUNER_TAG,
	TUNER_RETRY,
	TUNER_FORGET,
	TUNER_CONFIRM, /* trial 0: the best setting */
	TUNER_PROPOSE,
	TUNER_PROPOSE_COMMIT,
	TUNER_CLEAN, /* params: {"dry_run": true} */
	TUNER_ASK, /* params: {"count": 1} */
	/*
	 * params: {"lines": ["…"], "strict": true, "end": "done", "why": "…"}:
	 * lines as a trial prints them; strict: each must be a report.
	 */
	TUNER_TELL,
	TUNER_JUDGE,
	/*
	 * Record that a caller has read something; params: {"request": "sql",
	 * "asked": {…}}.
	 */
	TUNER_CALLED
};
/* data is JSON, or NULL: see request-ask.c, request-tell.c. */
typedef void
tuner_reply(void *arg, bool good, const char *text, const char *data);
void tuner_request(struct tuner *, enum tuner_request_kind, int64_t trial,
    const char *params, tuner_reply *, void *arg);
/*
 * The same on behalf of a caller of hpotune mcp: by is JSON (caller.h), or NULL.
 * The request is recorded in view requests, and refused beyond the caller's caps.
 */
void tuner_request_by(struct tuner *, enum tuner_request_kind, int64_t trial,
    const char *params, const char *by, tuner_reply *, void *arg);

/*
 * Stop all trials with their grace time (now: without), to be resumed later.
 * With now, those that end without a server are left to end.
 */
void tuner_shutdown(struct tuner *, bool now);

/*
 * The number of stops not yet delivered to attempts that end by themselves
 * afterwards (backend.slow_end).
 */
int tuner_shutdown_pending(const struct tuner *);
/*
 * Whether some running attempts take minutes to end, without needing the
 * server.
 */
bool tuner_shutdown_is_slow(const struct tuner *);

/*
 * Queue an event of the study, to be recorded in the next turn; it is copied.
 */
void tuner_queue_event(
    struct tuner *, enum log_level, const char *area, const char *text);

/*
 * After the study's end: whether a notice, a hook or the provenance waits for an
 * answer, or for it to be recorded.
 */
bool tuner_announces(const struct tuner *);
/* Record what was answered; -1: a database error. */
int tuner_record_answers(struct tuner *, struct err *);
/* Log the notices that stay due for the next start. */
void tuner_leave_notices(struct tuner *);

/* Whether nothing is left to do. */
bool tuner_done(const struct tuner *);
/* How the study ended. */
struct tuner_end {
	bool failed;
	bool over; /* a limit or the target ended it for good */
	const char *why; /* one clause, "" while it runs */
};
struct tuner_end tuner_end(const struct tuner *);
/*
 * Whether it no longer is what the database says, on request of the user: close
 * it and open it again.
 */
bool tuner_stale(const struct tuner *);
/*
 * Write the view medians again, which a turn without a server does not; -1: a
 * database error.
 */
int tuner_refresh(struct tuner *, struct err *);
/*
 * Place nothing for now (for example on a full disk); running trials continue.
 */
void tuner_hold(struct tuner *, bool);
/* Whether study.json is unchanged since the last start. */
bool tuner_is_current(const struct tuner *);
/* The database, for the progress display between turns. */
struct store *tuner_store(struct tuner *);
/* Whether no trial can be started now, and why: a clause. */
bool tuner_start_blocked(const struct tuner *, char *text, size_t n);
/* What keeps it from working, such as a locked database; "" = nothing. */
const char *tuner_trouble(const struct tuner *);

#endif /* HPOTUNE_TUNER_H */
