/* An HTTP server on the test's own loop. */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/base/loop.h"
#include "src/base/mem.h"
#include "tests/support/http/http-loop-server.h"

struct line {
	LIST_ENTRY(line) next;
	struct fake *fake;
	int fd;
	struct loop_fd *watch;
	struct buf in;
};

struct fake {
	struct loop *loop;
	int fd, port;
	struct loop_fd *watch;
	http_loop_server_cb *cb;
	void *arg;
	LIST_HEAD(, line) lines;
};

static void
line_free(struct line *l)
{
	LIST_REMOVE(l, next);
	loop_fd_free(l->watch);
	close(l->fd);
	buf_free(&l->in);
	free(l);
}

char *
http_loop_server_header(
    const struct http_loop_server_request *a, const char *name)
{
	size_t n = strlen(name);
	const char *p = a->head;

	for (; *p != '\0'; p += strcspn(p, "\n"), p += *p == '\n')
		if (strncasecmp(p, name, n) == 0 && p[n] == ':') {
			p += n + 1;
			p += strspn(p, " ");
			return xstrndup(p, strcspn(p, "\r\n"));
		}
	return NULL;
}

/* Whether all of it is there; then *len is the length of the body. */
static int
is_whole(const struct line *l, size_t *body, size_t *len)
{
	const char *text = buf_str(&l->in), *end = strstr(text, "\r\n\r\n");
	struct http_loop_server_request a = { .head = text };
	char *length;

	if (end == NULL)
		return 0;
	length = http_loop_server_header(&a, "Content-Length");
	*len = length != NULL ? strtoul(length, NULL, 10) : 0;
	free(length);
	*body = (size_t)(end - text) + 4;
	return l->in.len >= *body + *len;
}

/* Whether the connection goes on. */
static int
answer(struct line *l, const struct http_loop_server_request *a)
{
	struct buf head = { 0 }, body = { 0 }, all = { 0 };
	int status = l->fake->cb(l->fake->arg, a, &head, &body), good = 1;

	if (status > 0) {
		buf_printf(&all, "HTTP/1.1 %d Text\r\nContent-Length: %zu\r\n",
		    status, body.len);
		buf_printf(&all, "%s\r\n%s", buf_str(&head), buf_str(&body));
		good = write(l->fd, all.data, all.len) == (ssize_t)all.len;
	}
	buf_free(&head);
	buf_free(&body);
	buf_free(&all);
	return good && status != 0;
}

static int
serve(struct line *l, size_t body, size_t len)
{
	char *text = buf_take(&l->in), *path, *head;
	struct http_loop_server_request a = { .method = text, .len = len };
	int good;

	a.body = text + body;
	text[body - 2] = '\0';
	head = strchr(text, '\n') + 1;
	path = strchr(text, ' ');
	*path++ = '\0';
	path[strcspn(path, " ")] = '\0';
	a.path = path;
	a.head = head;
	good = answer(l, &a);
	free(text);
	return good;
}

static void
on_line(void *arg, int fd, bool readable, bool writable)
{
	struct line *l = arg;
	char piece[4096];
	size_t body, len;
	ssize_t n;

	(void)readable;
	(void)writable;
	n = read(fd, piece, sizeof piece);
	if (n <= 0) {
		line_free(l);
		return;
	}
	buf_add(&l->in, piece, (size_t)n);
	if (is_whole(l, &body, &len) && !serve(l, body, len))
		line_free(l);
}

static void
on_knock(void *arg, int fd, bool readable, bool writable)
{
	struct fake *f = arg;
	int one = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	struct line *l;

	(void)readable;
	(void)writable;
	if (one == -1)
		return;
	l = xcalloc(1, sizeof *l);
	l->fake = f;
	l->fd = one;
	l->watch = loop_fd_new(f->loop, one, on_line, l);
	loop_fd_want(l->watch, true, false);
	LIST_INSERT_HEAD(&f->lines, l, next);
}

struct fake *
http_loop_server_new(struct loop *loop, http_loop_server_cb *cb, void *arg)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	struct fake *f = xcalloc(1, sizeof *f);
	socklen_t len = sizeof a;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	f->loop = loop;
	f->cb = cb;
	f->arg = arg;
	f->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (f->fd == -1 || bind(f->fd, (struct sockaddr *)&a, len) == -1 ||
	    listen(f->fd, 64) == -1 ||
	    getsockname(f->fd, (struct sockaddr *)&a, &len) == -1)
		abort();
	f->port = ntohs(a.sin_port);
	f->watch = loop_fd_new(loop, f->fd, on_knock, f);
	loop_fd_want(f->watch, true, false);
	return f;
}

int
http_loop_server_port(const struct fake *f)
{
	return f->port;
}

void
http_loop_server_free(struct fake *f)
{
	struct line *l;

	while ((l = LIST_FIRST(&f->lines)) != NULL)
		line_free(l);
	loop_fd_free(f->watch);
	close(f->fd);
	free(f);
}
