/*
 * Folders, processes and time for drivers that kill servers: starts and finds
 * the processes of a study.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/scratch.h"
#include "tests/torture/harness.h"

enum {
	SHIMS_MAX = 256,
	LOOK_EACH = 20 /* waits of 5 ms between two looks at all processes */
};

static void __attribute__((noreturn)) die(const char *what)
{
	(void)printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

uint64_t
harness_random(struct harness *r, uint64_t n)
{
	uint64_t z = r->rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31) % n;
}

int64_t
harness_now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#define PATH(r, field, name) \
	(void)snprintf((r)->field, sizeof(r)->field, "%s/" name, (r)->dir)

const char *
harness_top(void)
{
	static char path[512];
	const char *top = getenv("TOP_BUILDDIR");
	ssize_t n;

	if (top != NULL)
		return top;
	n = readlink("/proc/self/exe", path, sizeof path - 1);
	if (n <= 0)
		die("/proc/self/exe");
	path[n] = '\0';
	/* We are TOP/tests/NAME. */
	*strrchr(path, '/') = '\0';
	*strrchr(path, '/') = '\0';
	return path;
}

void
harness_open(struct harness *r, uint64_t seed, const char *members)
{
	const char *tmp = getenv("TMPDIR");
	FILE *f;

	*r = (struct harness){ .rng = seed };
	(void)snprintf(r->dir, sizeof r->dir, "%.40s/hpotune-rig-XXXXXX",
	    tmp != NULL && strlen(tmp) < 40 ? tmp : "/tmp");
	if (mkdtemp(r->dir) == NULL || prctl(PR_SET_CHILD_SUBREAPER, 1) == -1)
		die(r->dir);
	PATH(r, study, "study.json");
	PATH(r, db, "rig.db");
	PATH(r, trials, "rig.d/trials");
	PATH(r, ledger, "ledger");
	PATH(r, fail_log, "fail.log");
	PATH(r, server_log, "server.log");
	PATH(r, promises, "promises");
	PATH(r, hooks, "hooks");
	PATH(r, old, "old.json");
	f = fopen(r->study, "w");
	if (f == NULL ||
	    fprintf(f, "{\n\"study\": \"rig\",\n%s}\n", members) < 0 ||
	    fclose(f) != 0)
		die(r->study);
}

void
harness_command_python(char *text, size_t n, const char *args)
{
	const char *source = getenv("TOP_SRCDIR");

	(void)snprintf(text, n,
	    "[\"python3\", \"-S\", \"-E\", "
	    "\"%s/tests/torture/ledger_exec.py\", "
	    "\"%s/tests/torture/ledger-trial\", %s]",
	    source != NULL ? source : ".", harness_top(), args);
}

void
harness_command(char *text, size_t n, const char *args)
{
	(void)snprintf(text, n, "[\"%s/tests/torture/ledger-trial\", %s]",
	    harness_top(), args);
}

static void __attribute__((noreturn))
serve(struct harness *r, const char *fail, const char *shim, bool traced)
{
	char exe[600], shim_exe[600], seed[32];
	int fd = open(r->server_log, O_WRONLY | O_APPEND | O_CREAT, 0600);
	int null = open("/dev/null", O_RDONLY);

	(void)snprintf(
	    exe, sizeof exe, "%s/tests/torture/hpotune-fail", harness_top());
	(void)snprintf(shim_exe, sizeof shim_exe,
	    "%s/tests/torture/hpotune-shim-fail", harness_top());
	(void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)r->rng);
	if (setenv("HPOTUNE_FAIL", fail != NULL ? fail : "", 1) == -1 ||
	    setenv("HPOTUNE_FAIL_SEED", seed, 1) == -1 ||
	    setenv("HPOTUNE_FAIL_LOG", r->fail_log, 1) == -1 ||
	    setenv("HPOTUNE_SHIM", shim != NULL ? shim : shim_exe, 1) == -1 ||
	    setenv("LEDGER", r->ledger, 1) == -1 || dup2(null, 0) == -1 ||
	    dup2(fd, 1) == -1 || dup2(fd, 2) == -1)
		_exit(125);
	if (traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL) == -1)
		_exit(125);
	(void)execl(exe, exe, "start", r->study, (char *)NULL);
	_exit(125);
}

/* Run a study in which nothing fails to its end: its results are OLD.db. */
void
harness_learn(struct harness *r, const char *members)
{
	FILE *f = fopen(r->old, "w");
	char command[900];

	(void)snprintf(command, sizeof command,
	    "'%s/hpotune' start --quiet '%s' >/dev/null 2>&1", harness_top(),
	    r->old);
	if (f == NULL ||
	    fprintf(f, "{\n\"study\": \"old\",\n%s}\n", members) < 0 ||
	    fclose(f) != 0 || system(command) != 0)
		die(r->old);
}

pid_t
harness_serve(
    struct harness *r, const char *fail, const char *shim, bool traced)
{
	pid_t pid;

	(void)harness_random(r, 2);
	pid = fork();
	if (pid == -1)
		die("fork");
	if (pid == 0)
		serve(r, fail, shim, traced);
	return pid;
}

bool
harness_reap(pid_t except)
{
	siginfo_t si = { .si_pid = 0 };
	int n;

	/* Looked at first: the server's status is for harness_wait. */
	while ((n = waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT)) == 0 &&
	       si.si_pid != 0 && si.si_pid != except) {
		(void)waitpid(si.si_pid, NULL, WNOHANG);
		si.si_pid = 0;
	}
	return n == 0 || errno != ECHILD;
}

bool
harness_wait(pid_t pid, int64_t us, int *status)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };
	struct pollfd p = { .events = POLLIN };
	int n;

	p.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (p.fd == -1)
		die("pidfd_open");
	do
		n = ppoll(&p, 1, us < 0 ? NULL : &t, NULL);
	while (n == -1 && errno == EINTR);
	(void)close(p.fd);
	if (n > 0 && waitpid(pid, status, 0) != pid)
		die("waitpid");
	return n > 0;
}

/* The first bytes of a file of /proc; "" when it is gone. */
static size_t
proc_read(long pid, const char *name, char *buf, size_t size)
{
	char path[64];
	size_t len = 0;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%ld/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd != -1 && len < size - 1 &&
	       (n = read(fd, buf + len, size - 1 - len)) > 0)
		len += (size_t)n;
	if (fd != -1)
		(void)close(fd);
	buf[len] = '\0';
	return len;
}

/* Calls fn for every process; sums what it answers. */
static int
each_process(const struct harness *r,
    int (*fn)(const struct harness *, long pid, void *), void *arg)
{
	DIR *dir = opendir("/proc");
	const struct dirent *d;
	int sum = 0;

	if (dir == NULL)
		die("/proc");
	while ((d = readdir(dir)) != NULL)
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			sum += fn(r, strtol(d->d_name, NULL, 10), arg);
	(void)closedir(dir);
	return sum;
}

struct shims {
	long pid[SHIMS_MAX];
	size_t n;
};

static bool
is_shim(const struct harness *r, long pid, char *args, size_t size)
{
	size_t name, len = proc_read(pid, "cmdline", args, size);

	name = strlen(args) + 1;
	return len > name && strncmp(args + name, "dir=", 4) == 0 &&
	       strncmp(args + name + 4, r->trials, strlen(r->trials)) == 0;
}

static int
shim_add(const struct harness *r, long pid, void *arg)
{
	struct shims *s = arg;
	char args[512];

	if (s->n < SHIMS_MAX && is_shim(r, pid, args, sizeof args))
		s->pid[s->n++] = pid;
	return 0;
}

bool
harness_kill_shim(struct harness *r)
{
	struct shims s = { .n = 0 };
	char args[512], line[600];
	const char *dir;
	long pid;
	int fd, pidfd;

	(void)each_process(r, shim_add, &s);
	if (s.n == 0)
		return false;
	pid = s.pid[harness_random(r, s.n)];
	pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (pidfd == -1)
		return false;
	if (!is_shim(r, pid, args, sizeof args)) {
		(void)close(pidfd);
		return false;
	}
	dir = args + strlen(args) + 1;
	fd = open(r->fail_log, O_WRONLY | O_APPEND | O_CREAT, 0600);
	(void)snprintf(line, sizeof line, "outside %ld %s\n", pid, dir);
	if (fd == -1 || write(fd, line, strlen(line)) == -1)
		die(r->fail_log);
	(void)close(fd);
	(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	(void)close(pidfd);
	return true;
}

/* One that was started with the path of our ledger, and is no zombie. */
static int
is_ours(const struct harness *r, long pid, void *arg)
{
	static char block[262144];
	char word[128], *at;
	size_t len = proc_read(pid, "environ", block, sizeof block);
	int *signo = arg;

	(void)snprintf(word, sizeof word, "LEDGER=%s", r->ledger);
	for (at = block; at < block + len; at += strlen(at) + 1)
		if (strcmp(at, word) == 0) {
			if (*signo != 0)
				(void)kill((pid_t)pid, *signo);
			return 1;
		}
	return 0;
}

struct victims {
	const char *word; /* of their arguments */
	long pid[SHIMS_MAX];
	unsigned long long began[SHIMS_MAX]; /* clock ticks after the boot */
	size_t n;
};

static unsigned long long
began_at(long pid)
{
	char text[1024];
	const char *at;
	int field;

	(void)proc_read(pid, "stat", text, sizeof text);
	at = strrchr(text, ')');
	/* starttime is the 22nd field, and the name that ends here the second. */
	for (field = 2; at != NULL && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at != NULL ? strtoull(at, NULL, 10) : 0;
}

/* One of the study with this word in its arguments, which is no supervisor. */
static bool
is_victim(const struct harness *r, long pid, const char *word)
{
	char args[1024];
	size_t i, len;
	int signo = 0;

	if (is_shim(r, pid, args, sizeof args))
		return false;
	len = proc_read(pid, "cmdline", args, sizeof args);
	for (i = 0; i < len; i++)
		if (args[i] == '\0')
			args[i] = ' ';
	return strstr(args, word) != NULL && is_ours(r, pid, &signo) == 1;
}

static int
victim_add(const struct harness *r, long pid, void *arg)
{
	struct victims *v = arg;

	if (v->n == SHIMS_MAX || !is_victim(r, pid, v->word))
		return 0;
	v->began[v->n] = began_at(pid);
	v->pid[v->n++] = pid;
	return 0;
}

bool
harness_kill_one(struct harness *r, const char *word, bool oldest)
{
	struct victims v = { .word = word };
	size_t i, one = 0;
	int pidfd;
	bool killed;

	(void)each_process(r, victim_add, &v);
	if (v.n == 0)
		return false;
	for (i = 1; oldest && i < v.n; i++)
		if (v.began[i] < v.began[one])
			one = i;
	if (!oldest)
		one = harness_random(r, v.n);
	pidfd = (int)syscall(SYS_pidfd_open, (pid_t)v.pid[one], 0);
	if (pidfd == -1)
		return false;
	killed = is_victim(r, v.pid[one], word) &&
		 began_at(v.pid[one]) == v.began[one] &&
		 syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) == 0;
	(void)close(pidfd);
	return killed;
}

int
harness_alive(const struct harness *r)
{
	int signo = 0;

	return each_process(r, is_ours, &signo);
}

bool
harness_wait_quiet(const struct harness *r, int ms)
{
	int64_t until = harness_now_ms() + ms;
	int n = 0;

	/* Without a child there is no descendant either: we are the subreaper.
	 * A look at each process of the machine takes milliseconds. */
	while (harness_reap(0)) {
		if (++n % LOOK_EACH == 0 && harness_alive(r) == 0)
			return true;
		if (harness_now_ms() >= until)
			return harness_alive(r) == 0;
		(void)poll(NULL, 0, 5);
	}
	return true;
}

void
harness_close(struct harness *r, bool keep)
{
	int signo = SIGKILL;

	while (harness_reap(0) && each_process(r, is_ours, &signo) > 0)
		(void)poll(NULL, 0, 5);
	(void)harness_reap(0);
	if (keep) {
		printf("# kept: %s\n", r->dir);
		return;
	}
	if (scratch_delete(r->dir) != 0)
		printf("# left: %s\n", r->dir);
}
