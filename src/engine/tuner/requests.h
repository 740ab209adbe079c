/* Requests of the user between turns. */

#ifndef HPOTUNE_REQUESTS_H
#define HPOTUNE_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/mem.h"
#include "src/engine/tuner/tuner.h"

struct caller;
struct live_trial;

struct request {
	enum tuner_request_kind ask;
	int64_t trial;
	char *params;
	struct caller *by; /* or NULL */
	tuner_reply *reply;
	void *arg;
	bool good;
	bool later; /* the strategy is computing: handle it again next turn */
	int64_t given; /* trials given to a request for several */
	struct buf data; /* JSON */
	char text[192];
};

/* All zero: none.  All files may read it; only requests.c adds and removes. */
struct requests {
	struct request *list;
	size_t n;
	size_t n_served; /* of these, in this turn */
};

/* Execute requests and record them; answers are sent after the commit. */
void requests_serve(struct tuner *);
/* good: the commit was; else the requests are given up. */
void requests_reply_all(struct requests *, bool good);
/* After requests_reply_all. */
void requests_free(struct requests *);

/*
 * request-recorded.c: requests about recorded trials, as requests_serve executes
 * them; the answer is written into the request.
 */
/* The answer where the trial does not run: there is none, or it has ended. */
void request_ended(struct tuner *, struct request *);
/* params: {"text": "…"}; an empty text removes the note. */
void request_note(struct tuner *, struct request *);
/* params: {"tags": ["…"], "remove": ["…"]} */
void request_tag(struct tuner *, struct request *);
/* trial, or 0 with params {"failed": true}: all that have failed. */
void request_retry(struct tuner *, struct request *);
/* Confirm the setting of the trial; 0: the best one. */
void request_confirm(struct tuner *, struct request *);
/* params: {"undo": false} */
void request_forget(struct tuner *, struct request *);
/* trial is an entry of the queue; 0: all that wait. */
void request_unqueue(struct tuner *, struct request *);

/*
 * request-propose.c: params is a partial setting; the rest is as in the baseline.
 * TUNER_PROPOSE_COMMIT: params is {"values": …, "commit": "HASH", "diff": "…"}, of
 * which values is that setting.
 */
void request_propose(struct tuner *, struct request *);

/* request-ask.c, request-tell.c: of programs that run trials themselves. */
void request_ask(struct tuner *, struct request *);
void request_tell(struct tuner *, struct request *);
void request_tell_judge(struct tuner *, struct request *);
/* End a trial as if its program had exited: no report is awaited. */
void request_tell_cancel(struct tuner *, struct live_trial *);
/* In each turn, before requests: end attempts whose process has ended. */
void request_tell_check(struct tuner *);

#endif /* HPOTUNE_REQUESTS_H */
