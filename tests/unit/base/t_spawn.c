/* Both ways to start a program leave it the same. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/spawn-internal.h"
#include "tests/support/tap.h"

/* A line of shell that prints which descriptors it has. */
#define HIS                                       \
	"for f in 0 1 2 3 4 5 6 7 8 9 40 41; do " \
	"[ ! -e /proc/$$/fd/$f ] || printf '%s ' $f; done; echo; "

typedef int way(pid_t *, const struct spawn_child *);

static const struct {
	const char *name;
	way *start;
} ways[] = { { "posix_spawn", spawn_posix }, { "fork", spawn_fork } };

/* What a line of shell prints. */
static const char *
printed(way *start, struct spawn_child c, const int *given, size_t n,
    const char *line)
{
	static char text[4096];
	char *const argv[] = { "sh", "-c", (char *)line, NULL };
	char *const env[] = { "X=of the child", "PATH=/usr/bin:/bin", NULL };
	int p[2], fds[8] = { -1, -1, -1 }, status = -1, r;
	size_t len = 0, i;
	ssize_t got;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC) == -1)
		return "no pipe";
	fds[1] = p[1];
	for (i = 0; i < n; i++)
		fds[3 + i] = given[i];
	c.argv = argv;
	c.env = env;
	c.fds = fds;
	c.n = 3 + n;
	c.path = c.search ? "sh" : "/bin/sh";
	r = start(&pid, &c);
	(void)close(p[1]);
	while (r == 0 && len < sizeof text - 1 &&
	       (got = read(p[0], text + len, sizeof text - 1 - len)) > 0)
		len += (size_t)got;
	(void)close(p[0]);
	text[len] = '\0';
	if (r != 0)
		return strerror(r);
	(void)waitpid(pid, &status, 0);
	return status == 0 ? text : "it failed";
}

static void
same(const char *name, const char *got, const char *want, const char *what)
{
	char text[128];

	(void)snprintf(text, sizeof text, "%s: %s", name, what);
	is_str(got, want, text);
}

static void
test_child(const char *name, way *start)
{
	struct spawn_child search = { .search = true, .dir = "/usr" };
	struct spawn_child session = { .session = true };
	int file = open("/etc/passwd", O_RDONLY), high;

	/* Neither of them is the child's. */
	high = fcntl(file, F_DUPFD, 40);
	same(name, printed(start, search, NULL, 0, "pwd; echo $X; echo $HOME"),
	    "/usr\nof the child\n\n", "folder and environment");
	same(name, printed(start, search, NULL, 0, HIS "true"), "0 1 2 \n",
	    "no other descriptors");
	same(name,
	    printed(start, search, NULL, 0,
		/* Two signals are the C library's. */
		"sed -n 's/^\\(Sig[BI][lg][kn]\\).*\\(.......\\)$/\\1 \\2/p' "
		"/proc/self/status"),
	    "SigBlk 0000000\nSigIgn 0000000\n",
	    "no signal is blocked or ignored");
	same(name,
	    printed(start, search, NULL, 0,
		"read pid x x x group x </proc/self/stat; "
		"[ $group = $$ ] && echo own"),
	    "own\n", "a process group");
	same(name,
	    printed(start, session, NULL, 0,
		"read pid x x x group session x </proc/self/stat; "
		"[ $session = $$ ] && echo own"),
	    "own\n", "a session");
	same(name, printed(start, session, &high, 1, HIS "head -c 4 <&3"),
	    "0 1 2 3 \nroot", "a descriptor that it is given");
	same(name,
	    printed(
		start, search, NULL, 0, "cat; echo lost >&2 && echo written"),
	    "written\n", "/dev/null is read and written");
	(void)close(high);
	(void)close(file);
}

static void
test_errors(const char *name, way *start)
{
	char *const argv[] = { "hpotune-no-such-program", NULL };
	char *const env[] = { NULL };
	const int fds[] = { -1, -1, -1 };
	struct spawn_child c = { .argv = argv, .env = env, .fds = fds, .n = 3 };
	pid_t pid;

	c.path = argv[0];
	c.search = true;
	ok(start(&pid, &c) == ENOENT, "%s: a program that is not there", name);
	c.path = "/etc/passwd";
	c.search = false;
	ok(start(&pid, &c) == EACCES, "%s: no program", name);
	c.path = "/bin/true";
	c.dir = "/no/such/folder";
	ok(start(&pid, &c) == ENOENT, "%s: a folder that is not there", name);
	ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD,
	    "%s: nothing is left to reap", name);
}

int
main(void)
{
	sigset_t some;
	size_t i;

	(void)sigemptyset(&some);
	(void)sigaddset(&some, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &some, NULL);
	(void)signal(SIGINT, SIG_IGN);
	for (i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		test_child(ways[i].name, ways[i].start);
		test_errors(ways[i].name, ways[i].start);
	}
	return done_testing();
}
