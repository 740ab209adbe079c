/* Requests of the user between turns. */

#ifndef HPOTUNE_REQUESTS_H
#define HPOTUNE_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/mem.h"
#include "src/server/tuner/tuner.h"

struct request {
	enum tuner_request_kind ask;
	int64_t trial;
	char *params;
	tuner_reply *reply;
	void *arg;
	bool good;
	bool later; /* the strategy is computing: handle it again next turn */
	int64_t given; /* trials given to a request for several */
	struct buf data; /* JSON */
	char text[192];
};

/* All zero: none.  All files may read it; only requests.c writes it. */
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

#endif /* HPOTUNE_REQUESTS_H */
