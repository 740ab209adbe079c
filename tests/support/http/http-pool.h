/* Shared by the tests of http: a pool, a server, and recorded answers. */

#ifndef HPOTUNE_HTTP_POOL_H
#define HPOTUNE_HTTP_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/http/http.h"
#include "tests/support/http/http-process-server.h"

struct http_pool {
	struct loop *loop;
	struct http *http;
	struct http_process_server there;
	struct loop_timer *guard;
	int open; /* requests under way */
	bool starting, late;
	int wrong; /* what must hold of every answer did not */
};

/* A received answer. */
struct http_pool_answer {
	struct http_pool *rig;
	struct http_request *request;
	int calls, status;
	bool unsent, timeout, inside;
	char *body, *error, *odd;
	size_t len;
};

/* A server, a loop and a pool; no proxy. */
void http_rig_open(struct http_pool *);
void http_rig_close(struct http_pool *);
/* A request to the server; url is where its address is put. */
struct http_send http_pool_request(const struct http_pool *,
    char url[static 128], const char *method, const char *path);
void http_pool_start(
    struct http_pool *, struct http_pool_answer *, const struct http_send *);
/* Until all that was started is answered. */
void http_pool_settle(struct http_pool *);
void http_pool_on_answer(void *heard, const struct http_answer *);
void http_pool_answer_free(struct http_pool_answer *);
/* start, settle, and what must hold of every answer. */
void http_pool_ask_with(
    struct http_pool *, struct http_pool_answer *, const struct http_send *);
void http_pool_ask(struct http_pool *, struct http_pool_answer *,
    const char *method, const char *path);

#endif /* HPOTUNE_HTTP_POOL_H */
