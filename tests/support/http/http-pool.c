/* A pool, a server, and recorded answers. */

#include <stdio.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "tests/support/http/http-pool.h"

static void
http_rig_wrong(struct http_pool *g, const char *what)
{
	printf("# %s\n", what);
	g->wrong++;
}

static void
http_rig_bail(const char *why)
{
	printf("Bail out! %s\n", why);
	exit(1);
}

static void
on_guard(void *arg)
{
	struct http_pool *g = arg;

	g->late = true;
}

void
http_rig_open(struct http_pool *g)
{
	struct err e = ERR_INIT;

	unsetenv("http_proxy");
	unsetenv("https_proxy");
	unsetenv("all_proxy");
	unsetenv("HTTPS_PROXY");
	unsetenv("ALL_PROXY");
	http_process_server_start(&g->there);
	if (loop_open(&g->loop, LOOP_REAL, &e) == -1 ||
	    http_open(&g->http, g->loop, NULL, &e) == -1)
		http_rig_bail(e.text);
	g->guard = loop_timer_new(g->loop, on_guard, g);
}

void
http_rig_close(struct http_pool *g)
{
	loop_timer_free(g->guard);
	http_close(g->http);
	loop_close(g->loop);
	http_process_server_stop(&g->there);
}

static void
on_turn(void *arg)
{
	struct http_pool *g = arg;

	if (g->open == 0 || g->late)
		loop_stop(g->loop);
}

void
http_pool_settle(struct http_pool *g)
{
	g->late = false;
	loop_timer_set(g->guard, 60 * 1000);
	loop_run(g->loop, on_turn, g);
	loop_timer_stop(g->guard);
	if (g->late)
		http_rig_wrong(g, "not all is answered in time");
	g->open = 0;
}

void
http_pool_on_answer(void *arg, const struct http_answer *a)
{
	struct http_pool_answer *h = arg;
	const char *odd = http_header(a, "x-odd-case");

	h->calls++;
	h->inside = h->rig->starting;
	h->status = a->status;
	h->unsent = a->unsent;
	h->timeout = a->timeout;
	h->body = xstrndup(a->body, a->len);
	h->len = a->len;
	h->error = xstrdup(a->error);
	h->odd = odd != NULL ? xstrdup(odd) : NULL;
	h->request = NULL;
	if (a->body[a->len] != '\0')
		http_rig_wrong(h->rig, "no NUL follows the body");
	h->rig->open--;
}

void
http_pool_answer_free(struct http_pool_answer *h)
{
	free(h->body);
	free(h->error);
	free(h->odd);
	*h = (struct http_pool_answer){ .rig = h->rig };
}

struct http_send
http_pool_request(const struct http_pool *g, char url[static 128],
    const char *method, const char *path)
{
	(void)snprintf(url, 128, "http://127.0.0.1:%d%s", g->there.port, path);
	return (
	    struct http_send){ .method = method, .url = url, .plain = true };
}

void
http_pool_start(
    struct http_pool *g, struct http_pool_answer *h, const struct http_send *s)
{
	*h = (struct http_pool_answer){ .rig = g };
	g->starting = true;
	g->open++;
	h->request = http_start(g->http, s, http_pool_on_answer, h);
	g->starting = false;
}

void
http_pool_ask_with(
    struct http_pool *g, struct http_pool_answer *h, const struct http_send *s)
{
	http_pool_start(g, h, s);
	http_pool_settle(g);
	if (h->calls != 1)
		http_rig_wrong(g, "not one answer");
	if (h->inside)
		http_rig_wrong(g, "an answer from inside http_start");
}

void
http_pool_ask(struct http_pool *g, struct http_pool_answer *h,
    const char *method, const char *path)
{
	char url[128];
	struct http_send s = http_pool_request(g, url, method, path);

	http_pool_ask_with(g, h, &s);
}
