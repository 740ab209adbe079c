/* HTTP against our own server: valid and invalid answers. */

#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "tests/support/http/http-pool.h"
#include "tests/support/tap.h"

static void
test_answers(struct http_pool *g)
{
	struct http_pool_answer h;

	http_pool_ask(g, &h, "GET", "/echo");
	is_int(h.status, 200, "a good answer");
	is_str(h.error, "", "without an error");
	ok(strncmp(h.body, "GET ", 4) == 0 && h.len == strlen(h.body), "body");
	is_str(h.odd, "a value", "a header, whatever its case");
	ok(strstr(h.body, "User-Agent: " PACKAGE_NAME "/") != NULL, "our name");
	ok(strstr(h.body, "Accept-Encoding") == NULL, "nothing is compressed");
	http_pool_answer_free(&h);
	http_pool_ask(g, &h, "HEAD", "/echo");
	is_int(h.status, 200, "HEAD");
	is_int((long long)h.len, 0, "has no body");
	http_pool_answer_free(&h);
	http_pool_ask(g, &h, "GET", "/none");
	is_int(h.status, 204, "204");
	is_str(h.body, "", "is empty");
	http_pool_answer_free(&h);
	http_pool_ask(g, &h, "GET", "/503");
	is_int(h.status, 503, "a status of failure is an answer");
	is_str(h.body, "that", "with its body");
	http_pool_answer_free(&h);
	http_pool_ask(g, &h, "GET", "/moved");
	is_int(h.status, 302, "redirects are not followed");
	http_pool_answer_free(&h);
	http_pool_ask(g, &h, "GET", "/interim");
	is_int(h.status, 200, "interim answers are passed over");
	is_str(h.body, "then this", "to the last");
	http_pool_answer_free(&h);
	http_pool_ask(g, &h, "GET", "/a/../echo/./b");
	ok(strstr(h.body, " /a/../echo/./b HTTP/1.1") != NULL,
	    "a path goes out as it is");
	http_pool_answer_free(&h);
}

static void
test_bodies(struct http_pool *g)
{
	static const char *const lines[] = { "X-One: 1",
		"content-type: application/x-amz-json-1.1", NULL };
	enum { BIG = 5 << 20 };
	char url[128], want[64], *big = xmalloc(BIG);
	struct http_send s = http_pool_request(g, url, "PUT", "/echo");
	struct http_pool_answer h;
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < BIG; i++) {
		big[i] = (char)(i * 2654435761u >> 13);
		sum = sum * 31 + (unsigned char)big[i];
	}
	s.body = big;
	s.body_len = BIG;
	http_pool_start(g, &h, &s);
	memset(big, 0, BIG);
	http_pool_settle(g);
	(void)snprintf(want, sizeof want, "body %d sum %08x\n", BIG, sum);
	ok(strncmp(h.body, "PUT ", 4) == 0 && strstr(h.body, want) != NULL,
	    "five megabytes, copied");
	ok(strstr(h.body, "Expect:") == NULL, "at once");
	ok(strstr(h.body, "Content-Type:") == NULL, "not called a form");
	http_pool_answer_free(&h);
	free(big);
	s = http_pool_request(g, url, "POST", "/echo");
	s.headers = lines;
	s.body = "{}";
	s.body_len = 2;
	http_pool_ask_with(g, &h, &s);
	ok(strncmp(h.body, "POST ", 5) == 0, "POST");
	ok(strstr(h.body, "X-One: 1\r\n") != NULL, "with headers");
	ok(strstr(h.body, "content-type: application/x-amz-json-1.1\r\n") !=
		NULL,
	    "and type");
	http_pool_answer_free(&h);
	s = http_pool_request(g, url, "PUT", "/echo");
	http_pool_ask_with(g, &h, &s);
	ok(strstr(h.body, "Content-Length: 0\r\n") != NULL, "an empty body");
	http_pool_answer_free(&h);
	http_pool_ask(g, &h, "DELETE", "/echo");
	ok(strncmp(h.body, "DELETE ", 7) == 0, "DELETE");
	ok(strstr(h.body, "Content-Length") == NULL, "without a body");
	http_pool_answer_free(&h);
}

static void
test_broken(struct http_pool *g)
{
	char url[128];
	struct http_send s;
	struct http_pool_answer h;

	http_pool_ask(g, &h, "POST", "/close");
	ok(h.status == 0 && h.error[0] != '\0', "no answer: %s", h.error);
	ok(!h.unsent && !h.timeout, "but the request went out");
	http_pool_answer_free(&h);
	http_pool_ask(g, &h, "GET", "/half");
	ok(h.status == 0 && h.len == 0, "half an answer is none: %s", h.error);
	ok(!h.unsent, "and was sent");
	http_pool_answer_free(&h);
	s = http_pool_request(g, url, "GET", "/much");
	s.most = 999999;
	http_pool_ask_with(g, &h, &s);
	is_int(h.status, 0, "a byte too many");
	is_str(
	    h.error, "the answer is longer than 999999 bytes", "is reported");
	http_pool_answer_free(&h);
	s.most = 1000000;
	http_pool_ask_with(g, &h, &s);
	ok(h.status == 200 && h.len == 1000000, "all that is allowed");
	http_pool_answer_free(&h);
	http_pool_ask(g, &h, "GET", "/headers");
	ok(h.status == 0 && strstr(h.error, "longer") != NULL,
	    "headers without an end: %s", h.error);
	http_pool_answer_free(&h);
}

static int64_t
now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void
test_timeouts(struct http_pool *g)
{
	char url[128];
	struct http_send s = http_pool_request(g, url, "POST", "/silent");
	struct http_pool_answer h;
	int64_t began = now_ms();
	int fd, port, held[4], i;
	struct sockaddr_in a = { .sin_family = AF_INET };

	/* For longer, where it was not sent by then. */
	s.timeout_ms = 1000;
	http_pool_ask_with(g, &h, &s);
	while (h.unsent && s.timeout_ms < 30000) {
		http_pool_answer_free(&h);
		s.timeout_ms *= 4;
		began = now_ms();
		http_pool_ask_with(g, &h, &s);
	}
	ok(h.status == 0 && h.timeout, "time runs out: %s", h.error);
	ok(!h.unsent, "after the request went out");
	ok(now_ms() - began >= s.timeout_ms, "not before");
	http_pool_answer_free(&h);

	/* A queue of connections that is full. */
	fd = http_process_server_listen(&port, 0);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.sin_port = htons((uint16_t)port);
	for (i = 0; i < 4; i++) {
		held[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)connect(held[i], (struct sockaddr *)&a, sizeof a);
	}
	(void)snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
	s.timeout_ms = 0;
	s.connect_ms = 150;
	http_pool_ask_with(g, &h, &s);
	ok(h.status == 0 && h.timeout, "no connection in time: %s", h.error);
	ok(h.unsent, "the request counts as unsent");
	http_pool_answer_free(&h);
	for (i = 0; i < 4; i++)
		(void)close(held[i]);
	(void)close(fd);
}

static void
unsent(struct http_pool *g, const struct http_send *s, const char *what)
{
	struct http_pool_answer h;

	http_pool_ask_with(g, &h, s);
	ok(h.status == 0 && h.unsent, "%s: %s", what, h.error);
	ok((h.error[0] < 'A' || h.error[0] > 'Z' || h.error[1] < 'a') &&
		strchr(h.error, '\n') == NULL,
	    "a clause");
	http_pool_answer_free(&h);
}

static void
test_unsent(struct http_pool *g)
{
	char url[128];
	struct http_send s = http_pool_request(g, url, "POST", "/echo");
	int port, fd = http_process_server_listen(&port, 1);
	int64_t began;

	s.plain = false;
	unsent(g, &s, "plain where it is not allowed");
	s.plain = true;
	(void)close(fd);
	(void)snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
	unsent(g, &s, "nobody listens");
	s.url = "ftp://127.0.0.1/x";
	unsent(g, &s, "another protocol");
	s.url = "file:///etc/passwd";
	unsent(g, &s, "a file");
	s.url = "http://[nonsense/";
	unsent(g, &s, "no address");
	s.url = "http://name:word@127.0.0.1/";
	unsent(g, &s, "a user in the address");
	s.url = "http://hpotune-has-no-such-host.invalid/";
	s.timeout_ms = 1000;
	began = now_ms();
	unsent(g, &s, "no such host");
	ok(now_ms() - began < 20 * 1000, "the resolver is not waited for");
	s.timeout_ms = 0;
	/* The server speaks no TLS. */
	(void)snprintf(url, sizeof url, "https://127.0.0.1:%d/", g->there.port);
	s.url = url;
	s.timeout_ms = 500;
	unsent(g, &s, "no TLS");
}

static void
test_proxy(struct http_pool *g)
{
	char url[128];
	struct http_send s = http_pool_request(g, url, "GET", "/echo");
	struct http_pool_answer h;

	setenv("http_proxy", "http://127.0.0.1:1", 1);
	unsent(g, &s, "a proxy that is not there");
	s.direct = true;
	http_pool_ask_with(g, &h, &s);
	is_int(h.status, 200, "directly");
	http_pool_answer_free(&h);
	unsetenv("http_proxy");
}

static void
test_encoding(void)
{
	struct buf b = { 0 };

	http_put_encoded(&b, "a b/\xc3\xa9~-_.Z9+=\0x", 16, false);
	is_str(buf_str(&b), "a%20b%2F%C3%A9~-_.Z9%2B%3D%00x", "encoded");
	buf_clear(&b);
	http_put_encoded(&b, "a/b c", 5, true);
	is_str(buf_str(&b), "a/b%20c", "with slashes left");
	buf_free(&b);
}

int
main(void)
{
	struct http_pool g = { 0 };

	http_rig_open(&g);
	test_answers(&g);
	test_bodies(&g);
	test_broken(&g);
	test_timeouts(&g);
	test_unsent(&g);
	test_proxy(&g);
	test_encoding();
	is_int(g.wrong, 0, "one answer each, not from inside http_start");
	http_rig_close(&g);
	return done_testing();
}
