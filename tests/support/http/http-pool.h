/* What the tests of http share: a pool, a server, and what was heard. */

#ifndef HPOTUNE_HTTP_POOL_H
#define HPOTUNE_HTTP_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/http/http.h"
#include "tests/support/http/http-process-server.h"

struct rig {
	struct loop *loop;
	struct http *http;
	struct there there;
	struct loop_timer *guard;
	int open; /* requests under way */
	bool starting, late;
	int wrong; /* what must hold of every answer did not */
};

/* What an answer said. */
struct heard {
	struct rig *rig;
	struct http_request *request;
	int calls, status;
	bool unsent, timeout, inside;
	char *body, *error, *odd;
	size_t len;
};

/* A server, a loop and a pool; no proxy. */
void http_rig_open(struct rig *);
void http_rig_close(struct rig *);
/* A request to the server; url is where its address is put. */
struct http_send to(const struct rig *, char url[static 128],
    const char *method, const char *path);
void start(struct rig *, struct heard *, const struct http_send *);
/* Until all that was started is answered. */
void settle(struct rig *);
void on_answer(void *heard, const struct http_answer *);
void heard_free(struct heard *);
/* start, settle, and what must hold of every answer. */
void ask_with(struct rig *, struct heard *, const struct http_send *);
void ask(struct rig *, struct heard *, const char *method, const char *path);

#endif /* HPOTUNE_HTTP_POOL_H */
