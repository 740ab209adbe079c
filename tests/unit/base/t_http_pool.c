/* Many requests at once: connections kept, requests cancelled, pools closed. */

#include "src/base/err.h"
#include "tests/support/http/http-pool.h"
#include "tests/support/tap.h"

/* How many connections the server has seen, and the number of the request. */
static void
place(struct http_pool *g, int *connection, int *request)
{
	struct http_pool_answer h;

	http_pool_ask(g, &h, "GET", "/echo");
	if (sscanf(h.body, "GET connection %d request %d", connection,
		request) != 2)
		ok(false, "a place");
	http_pool_answer_free(&h);
}

static void
test_kept(struct http_pool *g)
{
	struct http *before = g->http;
	struct err e = ERR_INIT;
	struct http_pool_answer h;
	int c1, c2, r1, r2;

	ok(http_open(&g->http, g->loop, NULL, &e) == 0, "a fresh pool");
	place(g, &c1, &r1);
	place(g, &c2, &r2);
	ok(c2 == c1 && r2 == r1 + 1, "a connection is used again");
	http_pool_ask(g, &h, "POST", "/close");
	is_int(h.status, 0, "an answer that did not come");
	http_pool_answer_free(&h);

	/* The kept connection dies just when it is used again. */
	http_pool_ask(g, &h, "POST", "/second-close");
	is_int(h.status, 200, "a new connection");
	http_pool_answer_free(&h);
	http_pool_ask(g, &h, "POST", "/second-close");
	ok(h.status == 0 && !h.unsent, "is not silently sent again: %s",
	    h.error);
	http_pool_answer_free(&h);
	http_pool_ask(g, &h, "GET", "/second-close");
	http_pool_answer_free(&h);
	http_pool_ask(g, &h, "GET", "/second-close");
	is_int(h.status, 200, "but what is safe to repeat is");
	http_pool_answer_free(&h);
	http_close(g->http);
	g->http = before;
}

static void
test_many(struct http_pool *g)
{
	enum { MANY = 200 };
	static struct http_pool_answer h[MANY];
	static char body[MANY][32];
	char url[128], want[64];
	struct http_send s = http_pool_request(g, url, "PUT", "/echo");
	int i, good = 0;

	for (i = 0; i < MANY; i++) {
		s.body = body[i];
		s.body_len = (size_t)snprintf(body[i], 32, "%d", i);
		http_pool_start(g, &h[i], &s);
	}
	http_pool_settle(g);
	for (i = 0; i < MANY; i++) {
		uint32_t sum = 0;
		const char *p;

		for (p = body[i]; *p != '\0'; p++)
			sum = sum * 31 + (unsigned char)*p;
		(void)snprintf(want, sizeof want, "sum %08x\n", sum);
		good += h[i].calls == 1 && h[i].status == 200 &&
			strstr(h[i].body, want) != NULL;
		http_pool_answer_free(&h[i]);
	}
	is_int(good, MANY, "many at once, each its own answer");
}

/* Four requests: whose answer comes first cancels the others. */
static struct http_pool_answer race[4];

static void
on_race(void *arg, const struct http_answer *a)
{
	struct http_pool *g = race[0].rig;
	struct http_request *mine = ((struct http_pool_answer *)arg)->request;
	size_t i;

	http_pool_on_answer(arg, a);
	http_cancel(mine);
	for (i = 0; i < 4; i++)
		if (race[i].request != NULL) {
			http_cancel(race[i].request);
			race[i].request = NULL;
			g->open--;
		}
}

static void
test_cancel(struct http_pool *g)
{
	char url[128], silent[128];
	struct http_send s = http_pool_request(g, url, "GET", "/echo");
	struct http_send never = http_pool_request(g, silent, "GET", "/silent");
	struct http_pool_answer h;
	int i, calls = 0;

	http_pool_start(g, &h, &never);
	http_cancel(h.request);
	g->open = 0;
	for (i = 0; i < 4; i++) {
		race[i] = (struct http_pool_answer){ .rig = g };
		race[i].request = http_start(
		    g->http, i == 1 ? &never : &s, on_race, &race[i]);
		g->open++;
	}
	http_pool_settle(g);
	for (i = 0; i < 4; i++) {
		calls += race[i].calls;
		http_pool_answer_free(&race[i]);
	}
	is_int(calls, 1, "the others are cancelled from a callback");
	is_int(h.calls, 0, "a request cancelled at once has no callback");
	http_cancel(NULL);
}

/* Nothing answers before its start returns, so h->request is always known. */
static void
on_answer_again(void *arg, const struct http_answer *a)
{
	struct http_pool_answer *h = arg;
	struct http_pool *g = h->rig;
	char url[128];
	struct http_send s = http_pool_request(g, url, "GET", "/echo");

	(void)a;
	h->calls++;
	if (h->calls < 20)
		(void)http_start(g->http, &s, on_answer_again, h);
	else
		g->open--;
}

static void
test_chain(struct http_pool *g)
{
	char url[128];
	struct http_send s = http_pool_request(g, url, "GET", "/echo");
	struct http_pool_answer h = { .rig = g };

	g->open = 1;
	(void)http_start(g->http, &s, on_answer_again, &h);
	http_pool_settle(g);
	is_int(h.calls, 20, "a callback starts the next");
}

static void
on_answer_close(void *arg, const struct http_answer *a)
{
	struct http_pool_answer *h = arg;

	http_pool_on_answer(arg, a);
	http_close(h->rig->http);
}

static void
test_close(struct http_pool *g)
{
	struct http *before = g->http;
	struct err e = ERR_INIT;
	struct http_pool_answer h[30];
	char url[128];
	struct http_send s = http_pool_request(g, url, "GET", "/silent");
	size_t i;
	int calls = 0;

	ok(http_open(&g->http, g->loop, NULL, &e) == 0, "another pool");
	for (i = 0; i < 30; i++)
		http_pool_start(g, &h[i], &s);
	g->open = 1;
	s = http_pool_request(g, url, "GET", "/echo");
	race[0] = (struct http_pool_answer){ .rig = g };
	(void)http_start(g->http, &s, on_answer_close, &race[0]);
	http_pool_settle(g);
	for (i = 0; i < 30; i++)
		calls += h[i].calls;
	is_int(race[0].calls, 1, "closed from inside a callback");
	is_int(
	    calls, 0, "with others in flight, whose callbacks are not called");
	http_pool_answer_free(&race[0]);

	ok(http_open(&g->http, g->loop, NULL, &e) == 0, "a third");
	http_pool_start(g, &h[0], &s);
	g->open = 0;
	http_close(g->http);
	is_int(h[0].calls, 0, "closed before anything went out");
	http_close(NULL);
	g->http = before;
}

int
main(void)
{
	struct http_pool g = { 0 };

	http_rig_open(&g);
	test_kept(&g);
	test_many(&g);
	test_cancel(&g);
	test_chain(&g);
	test_close(&g);
	is_int(g.wrong, 0, "one answer each, not from inside http_start");
	http_rig_close(&g);
	return done_testing();
}
