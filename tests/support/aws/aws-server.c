/*
 * A scripted server on the loop of its client.  Each step answers one request.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "src/base/loop.h"
#include "tests/support/aws/aws-client.h"
#include "tests/support/http/http-process-server.h"

struct conn {
	struct aws_client *rig;
	struct conn *next, **link;
	struct loop_fd *watch;
	struct buf in, out;
	int fd;
	bool ending; /* once out is written */
};

static void
conn_free(struct conn *c)
{
	*c->link = c->next;
	if (c->next != NULL)
		c->next->link = c->link;
	loop_fd_free(c->watch);
	(void)close(c->fd);
	buf_free(&c->in);
	buf_free(&c->out);
	free(c);
}

static struct step *
step_for(struct aws_client *rig, const char *operation)
{
	static struct step usual = { .status = 200, .body = "{}" };
	struct step *s;

	for (s = rig->steps; s < rig->steps + rig->n_steps; s++)
		if (!s->done && (s->operation == NULL ||
				    strcmp(s->operation, operation) == 0)) {
			s->done = true;
			return s;
		}
	return &usual;
}

static void
put_answer(struct conn *c, const struct step *s, bool bare)
{
	time_t now = time(NULL) + (time_t)c->rig->date_off_s;
	size_t len = s->len;
	char date[64];
	struct tm tm;

	if (len == 0 && s->body != NULL)
		len = strlen(s->body);
	(void)strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT",
	    gmtime_r(&now, &tm));
	buf_printf(&c->out, "HTTP/1.1 %d Text\r\nContent-Length: %zu\r\n%s",
	    s->status, len, s->headers != NULL ? s->headers : "");
	if (!c->rig->no_date)
		buf_printf(&c->out, "Date: %s\r\n", date);
	buf_puts(&c->out, "\r\n");
	if (!bare && len > 0)
		buf_add(&c->out, s->body, len);
}

static void
conn_answer(struct conn *c, const struct asked *q)
{
	struct step decided = { .status = 200, .body = "{}" }, *s = &decided;

	if (c->rig->decide != NULL)
		c->rig->decide(c->rig, q, s);
	else
		s = step_for(c->rig, q->operation);
	switch (s->kind) {
	case STEP_SAY:
		put_answer(c, s, strncmp(q->head, "HEAD ", 5) == 0);
		break;
	case STEP_RAW:
		buf_add(
		    &c->out, s->body, s->len > 0 ? s->len : strlen(s->body));
		c->ending = true;
		break;
	case STEP_CLOSE:
		c->ending = true;
		break;
	case STEP_SILENT:
		break;
	}
}

static const char *
header_of(const char *head, const char *name)
{
	static char value[4096];
	const char *p = head;
	size_t n = strlen(name);

	while ((p = strchr(p, '\n')) != NULL) {
		p++;
		if (strncasecmp(p, name, n) != 0 || p[n] != ':')
			continue;
		p += n + 1 + strspn(p + n + 1, " ");
		(void)snprintf(
		    value, sizeof value, "%.*s", (int)strcspn(p, "\r\n"), p);
		return value;
	}
	return "";
}

const char *
aws_rig_header(const struct aws_client *rig, size_t i, const char *name)
{
	return i < rig->n_asked ? header_of(rig->asked[i].head, name) : "";
}

static void
asked_name(struct asked *q)
{
	const char *dot = strchr(header_of(q->head, "X-Amz-Target"), '.');
	int n = (int)strcspn(q->head, " "), path;

	if (dot != NULL) {
		(void)snprintf(
		    q->operation, sizeof q->operation, "%s", dot + 1);
		return;
	}
	path = (int)strcspn(q->head + n + 1, " ?");
	(void)snprintf(
	    q->operation, sizeof q->operation, "%.*s", n + 1 + path, q->head);
}

/* Take one whole request from what came. */
static bool
conn_take(struct conn *c)
{
	struct aws_client *rig = c->rig;
	const char *end = strstr(buf_str(&c->in), "\r\n\r\n");
	struct asked *q = &rig->asked[rig->n_asked];
	size_t head, body;
	char *rest;

	if (end == NULL)
		return false;
	head = (size_t)(end - c->in.data) + 4;
	q->head = xstrndup(c->in.data, head);
	body = strtoul(header_of(q->head, "Content-Length"), NULL, 10);
	if (c->in.len < head + body ||
	    rig->n_asked + 1 == AWS_CLIENT_REQUESTS) {
		free(q->head);
		return false;
	}
	q->body = xstrndup(c->in.data + head, body);
	q->at_ms = loop_now_ms(rig->loop);
	asked_name(q);
	rig->n_asked++;
	rest = xstrndup(c->in.data + head + body, c->in.len - head - body);
	buf_clear(&c->in);
	buf_puts(&c->in, rest);
	free(rest);
	conn_answer(c, q);
	return true;
}

static void
on_conn(void *arg, int fd, bool readable, bool writable)
{
	struct conn *c = arg;
	char piece[65536];
	ssize_t n;

	(void)writable;
	if (readable) {
		n = read(fd, piece, sizeof piece);
		if (n <= 0) {
			conn_free(c);
			return;
		}
		buf_add(&c->in, piece, (size_t)n);
		while (!c->ending && conn_take(c))
			;
	}
	if (c->out.len > 0) {
		n = send(fd, c->out.data, c->out.len, MSG_NOSIGNAL);
		if (n > 0) {
			memmove(c->out.data, c->out.data + n,
			    c->out.len - (size_t)n);
			c->out.len -= (size_t)n;
		}
	}
	if (c->ending && c->out.len == 0)
		conn_free(c);
	else
		loop_fd_want(c->watch, true, c->out.len > 0);
}

static void
on_listen(void *arg, int fd, bool readable, bool writable)
{
	struct aws_client *rig = arg;
	int one = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct conn *c;

	(void)readable;
	(void)writable;
	if (one == -1)
		return;
	c = xcalloc(1, sizeof *c);
	c->rig = rig;
	c->fd = one;
	c->next = rig->conns;
	c->link = &rig->conns;
	if (c->next != NULL)
		c->next->link = &c->next;
	rig->conns = c;
	c->watch = loop_fd_new(rig->loop, one, on_conn, c);
	loop_fd_want(c->watch, true, false);
}

void
aws_rig_deaf(struct aws_client *rig)
{
	while (rig->conns != NULL)
		conn_free(rig->conns);
	if (rig->listen == NULL)
		return;
	loop_fd_free(rig->listen);
	rig->listen = NULL;
	(void)close(rig->fd);
}

void
aws_rig_listen(struct aws_client *rig)
{
	rig->fd = http_process_server_listen(&rig->port, 128);
	(void)fcntl(rig->fd, F_SETFL, O_NONBLOCK);
	rig->listen = loop_fd_new(rig->loop, rig->fd, on_listen, rig);
	loop_fd_want(rig->listen, true, false);
}
