/*
 * A server that echoes requests and misbehaves on demand, one process for each
 * connection.  The path selects:
 *
 *	/echo: method, number of connection, of request, headers, body
 *	/close: closes the connection without an answer
 *	/silent: never answers
 *	/second-close: as /echo, but /close for the second of a connection
 *	/half: less than announced
 *	/much: a megabyte
 *	/headers: endless headers
 *	/interim: an interim answer first
 *	/moved: a redirect to /echo
 *	/none: 204
 *	/STATUS: that status, three digits
 */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "tests/support/http/http-process-server.h"

struct asked {
	char method[16], path[256];
	char *head; /* all of it */
	size_t body_len;
	uint32_t sum; /* of the bytes of the body */
};

int
http_process_server_listen(int *port, int backlog)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd == -1 || bind(fd, (struct sockaddr *)&a, sizeof a) == -1 ||
	    listen(fd, backlog) == -1 ||
	    getsockname(fd, (struct sockaddr *)&a, &len) == -1)
		abort();
	*port = ntohs(a.sin_port);
	return fd;
}

static void
say(FILE *f, const char *text)
{
	if (fputs(text, f) < 0 || fflush(f) != 0)
		_exit(0);
}

static void
say_body(FILE *f, int status, const char *body)
{
	if (fprintf(f,
		"HTTP/1.1 %d Text\r\nX-Odd-CASE:  a value \r\n"
		"Content-Length: %zu\r\n\r\n%s",
		status, strlen(body), body) < 0 ||
	    fflush(f) != 0)
		_exit(0);
}

/* Whether a whole request came. */
static int
hear(FILE *f, struct asked *q)
{
	struct buf head = { 0 };
	char line[4096];
	size_t len = 0, n;
	int c;

	if (fgets(line, sizeof line, f) == NULL ||
	    sscanf(line, "%15s %255s", q->method, q->path) != 2)
		return 0;
	do {
		buf_puts(&head, line);
		(void)sscanf(line, "Content-Length: %zu", &len);
		if (line[0] == '\r')
			break;
	} while (fgets(line, sizeof line, f) != NULL);
	q->head = buf_take(&head);
	q->body_len = len;
	q->sum = 0;
	for (n = 0; n < len && (c = getc(f)) != EOF; n++)
		q->sum = q->sum * 31 + (unsigned char)c;
	return n == len;
}

static void
echo(FILE *f, const struct asked *q, int connection, int request)
{
	struct buf b = { 0 };

	buf_printf(&b, "%s connection %d request %d body %zu sum %08x\n%s",
	    q->method, connection, request, q->body_len, q->sum, q->head);
	if (strcmp(q->method, "HEAD") == 0)
		say(f, "HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n"
		       "ETag: \"e\"\r\n\r\n");
	else
		say_body(f, 200, buf_str(&b));
	buf_free(&b);
}

static void
much(FILE *f, const char *what, const char *piece, size_t times)
{
	say(f, what);
	while (times-- > 0)
		say(f, piece);
}

/* Whether the connection goes on. */
static int
answer(FILE *f, const struct asked *q, int connection, int request)
{
	const char *p = q->path;

	if (strcmp(p, "/close") == 0 ||
	    (strcmp(p, "/second-close") == 0 && request == 2))
		return 0;
	if (strcmp(p, "/silent") == 0) {
		for (;;)
			pause();
	} else if (strcmp(p, "/half") == 0) {
		say(f, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
		return 0;
	} else if (strcmp(p, "/much") == 0) {
		much(f, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n",
		    "0123456789", 100000);
	} else if (strcmp(p, "/headers") == 0) {
		/* Long ones: newer libcurl reads no more than 5000. */
		much(f, "HTTP/1.1 200 OK\r\n",
		    "X-Again: and again and again and again and again, "
		    "and again and again and again and again\r\n",
		    100000);
	} else if (strcmp(p, "/interim") == 0) {
		say(f, "HTTP/1.1 103 Early Hints\r\nX-Early: yes\r\n\r\n");
		say_body(f, 200, "then this");
	} else if (strcmp(p, "/moved") == 0) {
		say(f, "HTTP/1.1 302 Found\r\nLocation: /echo\r\n"
		       "Content-Length: 0\r\n\r\n");
	} else if (strcmp(p, "/none") == 0) {
		say(f, "HTTP/1.1 204 No Content\r\n\r\n");
	} else if (p[1] >= '1' && p[1] <= '9') {
		say_body(f, atoi(p + 1), "that");
	} else {
		echo(f, q, connection, request);
	}
	return 1;
}

static void
serve(int fd, int connection)
{
	struct asked q;
	FILE *in = fdopen(fd, "r"), *out = fdopen(dup(fd), "w");
	int request = 0;

	if (in == NULL || out == NULL)
		_exit(1);
	while (hear(in, &q) && answer(out, &q, connection, ++request))
		;
	_exit(0);
}

static void
serve_all(int fd)
{
	int connection = 0, one;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGCHLD, SIG_IGN);
	for (;;) {
		one = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		if (one == -1)
			_exit(1);
		connection++;
		if (fork() == 0)
			serve(one, connection);
		(void)close(one);
	}
}

void
http_process_server_start(struct http_process_server *t)
{
	int fd = http_process_server_listen(&t->port, 512);

	t->pid = fork();
	if (t->pid == 0) {
		(void)setpgid(0, 0);
		serve_all(fd);
	}
	(void)setpgid(t->pid, t->pid);
	(void)close(fd);
}

void
http_process_server_stop(struct http_process_server *t)
{
	(void)kill(-t->pid, SIGKILL);
}
