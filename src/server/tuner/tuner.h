/*
 * The conductor: asks the strategy, places trials, hears the launchers, judges
 * by the rules and records every move before it is made.
 *
 * A tuner is a cache over the store: close it at any moment, open it again,
 * and it goes on where the store says.  That is what happens after a kill -9,
 * and also what the server does when a transaction fails.
 */

#ifndef HPOTUNE_TUNER_H
#define HPOTUNE_TUNER_H

#include <stdbool.h>
#include <stdint.h>

#include "src/model/trial.h"

struct err;
struct loop;
struct store;
struct study;
struct tuner;

struct tuner_env {
	struct loop *loop;
	const struct study *study;
	const char *db; /* path of NAME.db */
	const char *state_dir; /* NAME.d, absolute */
	int64_t trials; /* instead of limits.trials; 0 = as there */
	int64_t parallel; /* instead of limits.parallel; 0 = as there */
	bool hold; /* place nothing: a command without a server */
	bool
	    without_launchers; /* … that asks no launcher: ask, tell and judge */
};

/*
 * Read the store, find again what was running and get ready.  The caller
 * holds the lock of the study.
 */
int tuner_open(struct tuner **, const struct tuner_env *, struct err *);
/* Let go.  Trials go on running; the next tuner_open finds them. */
void tuner_close(struct tuner *);

/*
 * One turn of the loop: collect, judge, place, commit, act.  -1: the store
 * failed; close the tuner and open it again.
 */
int tuner_turn(struct tuner *, struct err *);

/*
 * What the user asks between turns; each is recorded in the next turn.  A
 * request answers through reply in that turn, after its commit.
 */
enum tuner_request_kind {
	TUNER_STOP_TRIAL,
	TUNER_KILL_TRIAL, /* the same without its grace */
	TUNER_PAUSE,
	TUNER_RESUME,
	TUNER_ENQUEUE,
	TUNER_ASK, /* params: {"count": 1} */
	/*
	 * params: {"lines": ["…"], "strict": true, "end": "done", "why": "…"}:
	 * lines as a trial prints them; strict: each must be a report.
	 */
	TUNER_TELL,
	TUNER_JUDGE
};
/* data is JSON, or NULL: see ask-tell.c. */
typedef void
tuner_reply(void *arg, bool good, const char *text, const char *data);
void tuner_request(struct tuner *, enum tuner_request_kind, int64_t trial,
    const char *params, tuner_reply *, void *arg);

/*
 * End all trials with their grace (now: without it), to be resumed later.
 * With now, those that need nobody for it are left to end by themselves.
 */
void tuner_shutdown(struct tuner *, bool now);

/*
 * Stops that have not reached attempts which end by themselves once told
 * (launcher.slow_end).
 */
int tuner_shutdown_pending(const struct tuner *);
/* Whether some that run take minutes to end, and need nobody for it. */
bool tuner_shutdown_is_slow(const struct tuner *);

/* An event of the study, recorded in the next turn; it is copied. */
void tuner_queue_event(
    struct tuner *, const char *level, const char *area, const char *text);

/*
 * After the end: whether the answer to a notice is awaited or not recorded, then
 * record it; -1: the store failed.  Say that what is due stays so.
 */
bool tuner_telling(const struct tuner *);
int tuner_told(struct tuner *, struct err *);
void tuner_untold(struct tuner *);

/* Whether there is nothing left to do, and how the study stands then. */
bool tuner_done(const struct tuner *);
bool tuner_failed(const struct tuner *);
/* Whether a limit or the target ended the study for good. */
bool tuner_over(const struct tuner *);
/* Place nothing for now (the disk is full, say); what runs goes on. */
void tuner_hold(struct tuner *, bool);
/* Why it ended: one clause, "" while it runs. */
const char *tuner_end_reason(const struct tuner *);
/* Whether study.json is as at the last start. */
bool tuner_is_current(const struct tuner *);
/* For the progress display, between turns. */
struct store *tuner_store(struct tuner *);
/* Whether no trial can be started now, and why: a clause. */
bool tuner_start_blocked(const struct tuner *, char *text, size_t n);
/* "" or what keeps it from working: a locked store, say. */
const char *tuner_trouble(const struct tuner *);

#endif /* HPOTUNE_TUNER_H */
