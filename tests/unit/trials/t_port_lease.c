/* Leases of ports: their range, exclusive use, and skipping of ports in use. */

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/err.h"
#include "tests/support/tap.h"
#include "trials/process/port-lease.h"

static char dir[] = "/tmp/t_port_lease.XXXXXX";
/* Blocks from here on, where no other test tries the same at the moment. */
static int base;

static void
test_range(void)
{
	struct port_lease_range r;

	r = port_lease_range_of(32768, 60999, 1024);
	ok(r.first == 24576 && r.blocks == 512, "below the kernel's own ports");
	r = port_lease_range_of(10000, 65535, 1024);
	ok(r.first == 1808 && r.blocks == 512, "as high as it can be");
	r = port_lease_range_of(2048, 65535, 1024);
	ok(r.first == 1024 && r.blocks == 64, "above those with names");
	r = port_lease_range_of(1024, 60000, 1024);
	ok(r.first == 65536 - 345 * 16 && r.blocks == 345,
	    "above the kernel's where nothing is below");
	r = port_lease_range_of(1024, 65535, 1024);
	ok(r.first == 24576 && r.blocks == 512,
	    "among them where they are all there are");
	r = port_lease_range_of(32768, 60999, 32768);
	ok(r.first >= 61000 && r.first + r.blocks * PORT_BLOCK <= 65536,
	    "not below what needs a privilege");
}

static void
test_take(void)
{
	struct port_lease_range r = port_lease_range_here();
	struct port_lease a, b, c, far;
	struct err e = ERR_INIT;

	is_int(port_lease_take(&a, base, 1, &e), 0, "a lease");
	ok(a.n == PORT_BLOCK && (a.first - r.first) % PORT_BLOCK == 0,
	    "is a block");
	is_int(port_lease_take(&b, base, 16, &e), 0, "the same again");
	ok(b.first >= a.first + PORT_BLOCK, "is another block");
	is_int(port_lease_take(&c, base, 17, &e), 0, "one of 17 ports");
	ok(c.n == 2 * PORT_BLOCK && c.n_fds == 2 && c.first > b.first,
	    "is two blocks side by side");
	is_int(port_lease_take(&far, r.blocks * 3 + 7, 1, &e), 0,
	    "a preference beyond all");
	ok(far.first >= r.first &&
		far.first + far.n <= r.first + r.blocks * PORT_BLOCK,
	    "is one of them");
	port_lease_drop(&a);
	is_int(port_lease_take(&far, (a.first - r.first) / PORT_BLOCK, 1, &e),
	    0, "a block that was dropped can be leased again");
	is_int(far.first, a.first, "may be had again");
	is_int(port_lease_take(&far, base, 100000, &e), -1, "too many");
	ok(strncmp(e.text, "no 100000 ports from ", 21) == 0, "are refused");
	port_lease_drop(&b);
	port_lease_drop(&c);
}

/* A lock of another process, which ends with it however it ends. */
static void
test_others(void)
{
	struct port_lease a, b;
	struct err e = ERR_INIT;
	int p[2], first = 0;
	pid_t pid;

	if (pipe(p) == -1)
		abort();
	pid = fork();
	if (pid == 0) {
		if (port_lease_take(&a, base + 20, 1, &e) == 0 &&
		    write(p[1], &a.first, sizeof a.first) == sizeof a.first)
			for (;;)
				(void)pause();
		_exit(1);
	}
	if (read(p[0], &first, sizeof first) != sizeof first)
		abort();
	is_int(
	    port_lease_take(&b, base + 20, 1, &e), 0, "beside another process");
	ok(b.first > first, "its block is passed by");
	port_lease_drop(&b);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	is_int(port_lease_take(&b, base + 20, 1, &e), 0, "after kill -9 of it");
	is_int(b.first, first, "the block is free");
	port_lease_drop(&b);
}

static int
listener(int family, int port)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)port),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT };
	const int yes = 1;
	int fd = socket(family, SOCK_STREAM, 0), r;

	if (fd == -1)
		return -1;
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	/* As a careless server does it. */
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	r = family == AF_INET ? bind(fd, (struct sockaddr *)&in, sizeof in)
			      : bind(fd, (struct sockaddr *)&in6, sizeof in6);
	if (r == 0 && listen(fd, 1) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

static void
test_listened(int family, int offset, const char *what)
{
	struct port_lease a, b;
	struct err e = ERR_INIT;
	int fd;

	(void)port_lease_take(&a, base + 40, 1, &e);
	port_lease_drop(&a);
	fd = listener(family, a.first + offset);
	if (fd == -1) {
		skip(what, "this machine has no such address");
		return;
	}
	(void)port_lease_take(&b, base + 40, 1, &e);
	ok(b.first > a.first, "%s is passed by", what);
	port_lease_drop(&b);
	(void)close(fd);
}

static void
test_folder(void)
{
	struct port_lease a;
	struct err e = ERR_INIT;
	struct stat st;
	char path[64];

	(void)snprintf(path, sizeof path, "%s/new", dir);
	(void)setenv("HPOTUNE_GPU_LOCKS", path, 1);
	(void)umask(077);
	is_int(port_lease_take(&a, base + 60, 1, &e), 0, "a folder is made");
	(void)umask(022);
	ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 01777,
	    "for everybody, whatever the mask");
	(void)snprintf(path, sizeof path, "%s/new/ports-%d", dir, a.first);
	ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0666,
	    "the lock files are writable for everybody");
	port_lease_drop(&a);
	(void)unlink(path);
	is_int(
	    symlink("/etc/hostname", path), 0, "a trap where a file is to be");
	(void)port_lease_take(
	    &a, (a.first - port_lease_range_here().first) / 16, 1, &e);
	ok(strtol(strrchr(path, '-') + 1, NULL, 10) != a.first,
	    "is stepped over");
	port_lease_drop(&a);
	(void)unlink(path);
	(void)setenv("HPOTUNE_GPU_LOCKS", "/no/such/folder", 1);
	is_int(port_lease_take(&a, base + 60, 1, &e), 0, "without a folder");
	ok(a.n_fds == 0 && a.first > 0, "only the ports themselves are tried");
}

int
main(void)
{
	char command[128];

	if (mkdtemp(dir) == NULL)
		abort();
	base = 100 + getpid() % 300;
	(void)setenv("HPOTUNE_GPU_LOCKS", dir, 1);
	test_range();
	test_take();
	test_others();
	test_listened(AF_INET, 0, "a port that is listened on");
	test_listened(AF_INET, 15, "the last one, too,");
	test_listened(AF_INET6, 7, "a listener on ::1");
	test_folder();
	(void)snprintf(command, sizeof command, "rm -rf %s", dir);
	if (system(command) != 0)
		(void)0;
	return done_testing();
}
