/*
 * Leases ports.  "Bind 0, close, use it" is a race: another process may get the
 * port.  So a block is locked against other trials of ours first, and then
 * checked against other programs by binding each port without SO_REUSEADDR,
 * which also fails for a connection in TIME_WAIT.
 */

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/base/err.h"
#include "trials/process/lock-folder.h"
#include "trials/process/port-lease.h"

enum {
	EPHEMERAL_LOW = 32768, /* default of the kernel */
	EPHEMERAL_HIGH = 60999,
	UNPRIVILEGED = 1024,
	PORT_END = 65536,
	FEW_BLOCKS = 8 /* fewer are no room */
};

struct port_lease_range
port_lease_range_of(int low, int high, int unprivileged)
{
	struct port_lease_range r;
	int below = (low - unprivileged) / PORT_BLOCK;
	int above = (PORT_END - (high + 1)) / PORT_BLOCK;

	if (below >= FEW_BLOCKS || below >= above)
		r.blocks = below;
	else
		r.blocks = above;
	if (r.blocks > PORT_BLOCKS_MAX)
		r.blocks = PORT_BLOCKS_MAX;
	if (r.blocks < FEW_BLOCKS) {
		/* All ports are the kernel's: what is bound is still ours. */
		r.blocks = PORT_BLOCKS_MAX;
		r.first = EPHEMERAL_LOW - PORT_BLOCKS_MAX * PORT_BLOCK;
	} else if (r.blocks <= below)
		r.first = low - r.blocks * PORT_BLOCK;
	else
		r.first = PORT_END - r.blocks * PORT_BLOCK;
	return r;
}

static void
port_lease_numbers_read(const char *path, int *a, int *b)
{
	char text[64] = "", *end;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return;
	if (read(fd, text, sizeof text - 1) > 0) {
		*a = (int)strtol(text, &end, 10);
		if (b != NULL)
			*b = (int)strtol(end, NULL, 10);
	}
	(void)close(fd);
}

struct port_lease_range
port_lease_range_here(void)
{
	int low = EPHEMERAL_LOW, high = EPHEMERAL_HIGH, own = UNPRIVILEGED;

	port_lease_numbers_read(
	    "/proc/sys/net/ipv4/ip_local_port_range", &low, &high);
	port_lease_numbers_read(
	    "/proc/sys/net/ipv4/ip_unprivileged_port_start", &own, NULL);
	/* What is below 1024 has names. */
	return port_lease_range_of(
	    low, high, own < UNPRIVILEGED ? UNPRIVILEGED : own);
}

/* Lock a block; -1: it is in use. */
static int
block_lock(int dir, int first)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct err unsaid = ERR_INIT;
	char name[32], text[64];
	int fd, n;

	(void)snprintf(name, sizeof name, "ports-%d", first);
	fd = lock_folder_file_create(dir, name, &unsaid);
	if (fd == -1)
		return -1;
	if (fcntl(fd, F_OFD_SETLK, &lock) == -1) {
		(void)close(fd);
		return -1;
	}
	/* For people; only the lock counts. */
	n = snprintf(text, sizeof text, "pid %d user %u\n", (int)getpid(),
	    (unsigned)getuid());
	if (ftruncate(fd, 0) == -1 || pwrite(fd, text, (size_t)n, 0) != n)
		(void)0;
	return fd;
}

static bool
family_free(int family, int port)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)port) };
	const int yes = 1;
	bool is_free;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd == -1)
		return true;
	if (family == AF_INET)
		is_free = bind(fd, (struct sockaddr *)&in, sizeof in) == 0;
	else {
		(void)setsockopt(
		    fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
		is_free = bind(fd, (struct sockaddr *)&in6, sizeof in6) == 0 ||
			  errno != EADDRINUSE;
	}
	(void)close(fd);
	return is_free;
}

static bool
port_lease_block_free(int first)
{
	int port;

	for (port = first; port < first + PORT_BLOCK; port++)
		if (!family_free(AF_INET, port) || !family_free(AF_INET6, port))
			return false;
	return true;
}

static bool
lease_try(struct port_lease *l, int dir, int first, int blocks)
{
	int i, at, fd;

	*l = (struct port_lease){ .first = first, .n = blocks * PORT_BLOCK };
	for (i = 0; i < blocks; i++) {
		at = first + i * PORT_BLOCK;
		fd = dir == -1 ? -1 : block_lock(dir, at);
		if (fd != -1)
			l->fd[l->n_fds++] = fd;
		if ((dir != -1 && fd == -1) || !port_lease_block_free(at)) {
			port_lease_drop(l);
			return false;
		}
	}
	return true;
}

int
port_lease_take(struct port_lease *l, int preferred, int n, struct err *e)
{
	struct port_lease_range r = port_lease_range_here();
	int blocks = (n + PORT_BLOCK - 1) / PORT_BLOCK, places, i, at;
	struct err unsaid = ERR_INIT;
	/* Without the folder a lease is what no other program has bound. */
	int dir = lock_folder_create(&unsaid);
	bool done = false;

	places = r.blocks - blocks + 1;
	if (blocks > PORT_LEASE_MAX || places < 1)
		places = 0;
	for (i = 0; i < places && !done; i++) {
		at = (preferred % places + i) % places;
		done = lease_try(l, dir, r.first + at * PORT_BLOCK, blocks);
	}
	if (dir != -1)
		(void)close(dir);
	if (done)
		return 0;
	return err_set(e, ERR_BUSY, "no %d ports from %d to %d are free", n,
	    r.first, r.first + r.blocks * PORT_BLOCK - 1);
}

void
port_lease_drop(struct port_lease *l)
{
	size_t i;

	for (i = 0; i < l->n_fds; i++)
		(void)close(l->fd[i]);
	l->n_fds = 0;
}
