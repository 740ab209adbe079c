/*
 * Sums over sockets.  A rank that exits closes its sockets, so the others
 * detect it at once.
 */

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "examples/fashion-mnist/pack/star.h"

enum { STAR_SECONDS = 60, STAR_PAUSE_MS = 20, STAR_RANKS_MAX = 1024 };

/* The caller's identity: another trial may use the port by mistake. */
struct hello {
	uint32_t rank, ranks;
	uint64_t trial;
};

static double
star_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A number for this attempt of this trial of this study (FNV-1a). */
static uint64_t
star_trial(void)
{
	static const char *const names[] = { "HPOTUNE_STUDY", "HPOTUNE_TRIAL",
		"HPOTUNE_ATTEMPT" };
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	const char *p;
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++) {
		p = getenv(names[i]);
		for (; p != NULL && *p != '\0'; p++)
			h = (h ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
		h = (h ^ '/') * UINT64_C(0x100000001b3);
	}
	return h;
}

static int
number_of(const char *name, size_t *n, size_t most, struct fail *f)
{
	const char *text = getenv(name);
	char *end;

	if (text == NULL)
		return fail_set(f, "$%s is not set", name);
	*n = strtoul(text, &end, 10);
	if (*text == '\0' || *end != '\0' || *n > most)
		return fail_set(
		    f, "$%s is %s, not a number up to %zu", name, text, most);
	return 0;
}

static int
bytes_send(int fd, const void *bytes, size_t n)
{
	const char *at = bytes;
	ssize_t sent;

	while (n > 0) {
		sent = send(fd, at, n, MSG_NOSIGNAL);
		if (sent == -1 && errno == EINTR)
			continue;
		if (sent <= 0)
			return -1;
		at += sent;
		n -= (size_t)sent;
	}
	return 0;
}

static int
bytes_hear(int fd, void *bytes, size_t n)
{
	char *at = bytes;
	ssize_t heard;

	while (n > 0) {
		heard = recv(fd, at, n, 0);
		if (heard == -1 && errno == EINTR)
			continue;
		if (heard <= 0)
			return -1;
		at += heard;
		n -= (size_t)heard;
	}
	return 0;
}

/* A socket at the meeting place: bound and listening, or connected. */
static int
star_socket(size_t rank, struct fail *f)
{
	const char *host = getenv("MASTER_ADDR"), *port = getenv("MASTER_PORT");
	const struct addrinfo want = { .ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM };
	struct addrinfo *at = NULL;
	int fd, e, one = 1;

	host = host != NULL ? host : "127.0.0.1";
	if (port == NULL)
		return fail_set(f, "$MASTER_PORT is not set");
	if ((e = getaddrinfo(host, port, &want, &at)) != 0)
		return fail_set(
		    f, "%s port %s: %s", host, port, gai_strerror(e));
	fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, 0);
	if (fd != -1 && rank == 0) {
		(void)setsockopt(
		    fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
		e = bind(fd, at->ai_addr, at->ai_addrlen) == -1 ||
		    listen(fd, SOMAXCONN) == -1;
	} else if (fd != -1)
		e = connect(fd, at->ai_addr, at->ai_addrlen) == -1;
	if (fd == -1 || e != 0) {
		fail_set(f, "%s port %s: %s", host, port, strerror(errno));
		if (fd != -1)
			close(fd);
		fd = -1;
	}
	freeaddrinfo(at);
	return fd;
}

static void
socket_settle(int fd)
{
	const struct timeval forever = { 0, 0 };
	int one = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof forever);
}

/* Accept a connection, if it is of a rank of this trial. */
static void
star_admit(struct star *s, int door)
{
	const struct timeval soon = { 2, 0 };
	struct hello hello;
	int fd = accept(door, NULL, NULL);

	if (fd == -1)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
	if (bytes_hear(fd, &hello, sizeof hello) == -1 ||
	    hello.trial != star_trial() || hello.ranks != s->ranks ||
	    hello.rank == 0 || hello.rank >= s->ranks ||
	    s->fd[hello.rank] != -1) {
		close(fd);
		return;
	}
	socket_settle(fd);
	s->fd[hello.rank] = fd;
}

static size_t
star_missing(const struct star *s)
{
	size_t i, n = 0;

	for (i = 1; i < s->ranks; i++)
		n += s->fd[i] == -1;
	return n;
}

static int
star_gather(struct star *s, const volatile sig_atomic_t *signal, struct fail *f)
{
	double end = star_clock() + STAR_SECONDS;
	int door = star_socket(0, f);
	struct pollfd p = { .fd = door, .events = POLLIN };

	if (door == -1)
		return -1;
	while (star_missing(s) > 0 && !*signal && star_clock() < end) {
		if (poll(&p, 1, 200) > 0)
			star_admit(s, door);
	}
	close(door);
	if (star_missing(s) > 0)
		return fail_set(f, "%zu of %zu ranks did not connect",
		    star_missing(s), s->ranks);
	return 0;
}

/* Rank 0 may need a while until it listens. */
static int
star_join(struct star *s, const volatile sig_atomic_t *signal, struct fail *f)
{
	struct hello hello = { (uint32_t)s->rank, (uint32_t)s->ranks,
		star_trial() };
	double end = star_clock() + STAR_SECONDS;

	while ((s->fd[0] = star_socket(s->rank, f)) == -1) {
		if (*signal || star_clock() >= end)
			return -1;
		(void)poll(NULL, 0, STAR_PAUSE_MS);
	}
	socket_settle(s->fd[0]);
	if (bytes_send(s->fd[0], &hello, sizeof hello) == -1)
		return fail_set(f, "rank 0 has exited");
	return 0;
}

int
star_open(struct star *s, const volatile sig_atomic_t *signal, struct fail *f)
{
	size_t i, places;

	memset(s, 0, sizeof *s);
	s->ranks = 1;
	if (getenv("WORLD_SIZE") == NULL)
		return 0;
	if (number_of("WORLD_SIZE", &s->ranks, STAR_RANKS_MAX, f) == -1)
		return -1;
	if (s->ranks <= 1)
		return 0;
	if (number_of("RANK", &s->rank, s->ranks - 1, f) == -1)
		return -1;
	places = s->rank == 0 ? s->ranks : 1;
	s->fd = mem_zero(places, sizeof *s->fd);
	for (i = 0; i < places; i++)
		s->fd[i] = -1;
	return s->rank == 0 ? star_gather(s, signal, f)
			    : star_join(s, signal, f);
}

void
star_close(struct star *s)
{
	size_t i, places = s->rank == 0 ? s->ranks : 1;

	for (i = 0; s->fd != NULL && i < places; i++)
		if (s->fd[i] != -1)
			close(s->fd[i]);
	free(s->fd);
	free(s->part);
	memset(s, 0, sizeof *s);
}

/* Rank 0 receives all parts and sends the sum. */
static int
star_middle(struct star *s, float *x, size_t n)
{
	size_t i, k;

	if (s->part_room < n) {
		free(s->part);
		s->part = mem_zero(n, sizeof *s->part);
		s->part_room = n;
	}
	for (k = 1; k < s->ranks; k++) {
		if (bytes_hear(s->fd[k], s->part, n * sizeof *x) == -1)
			return -1;
		for (i = 0; i < n; i++)
			x[i] += s->part[i];
	}
	for (k = 1; k < s->ranks; k++)
		if (bytes_send(s->fd[k], x, n * sizeof *x) == -1)
			return -1;
	return 0;
}

int
star_sum(void *ctx, float *x, size_t n)
{
	struct star *s = ctx;

	if (s->rank == 0)
		return star_middle(s, x, n);
	if (bytes_send(s->fd[0], x, n * sizeof *x) == -1)
		return -1;
	return bytes_hear(s->fd[0], x, n * sizeof *x);
}

int
star_share(struct star *s, void *bytes, size_t n)
{
	size_t k;

	if (s->rank > 0)
		return bytes_hear(s->fd[0], bytes, n);
	for (k = 1; k < s->ranks; k++)
		if (bytes_send(s->fd[k], bytes, n) == -1)
			return -1;
	return 0;
}

int
star_broken(const struct star *s)
{
	size_t i, places = s->rank == 0 ? s->ranks : 1;
	struct pollfd p = { .events = POLLIN };

	for (i = s->rank == 0 ? 1 : 0; i < places; i++) {
		p.fd = s->fd[i];
		if (poll(&p, 1, 0) > 0)
			return 1;
	}
	return 0;
}
