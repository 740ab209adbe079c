/*
 * The start of a child by fork and exec.  Older C libraries cannot enter a
 * folder or close descriptors in posix_spawn: glibc before 2.34.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/spawn-internal.h"

/* From this descriptor on. */
static void
spawn_fork_close(int from)
{
	long end = sysconf(_SC_OPEN_MAX), fd;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, (unsigned)from, ~0U, 0) == 0)
		return;
#endif
	for (fd = from; fd < end; fd++)
		(void)close((int)fd);
}

static int
spawn_fork_descriptor(int fd, int as)
{
	if (fd == as)
		return fcntl(fd, F_SETFD, 0);
	if (fd >= 0)
		return dup2(fd, as);
	fd = open("/dev/null", O_RDWR);
	if (fd == -1 || fd == as)
		return fd;
	if (dup2(fd, as) == -1)
		return -1;
	return close(fd);
}

/*
 * Between fork and exec: only what a signal handler may call.  Returns with
 * errno, which is to be written to *report.
 */
static void
spawn_fork_child(const struct spawn_child *c, int *report)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t none;
	size_t i;
	int signo, last = (int)c->n;

	if ((c->session ? setsid() : setpgid(0, 0)) == -1)
		return;
	for (signo = 1; signo < NSIG; signo++)
		(void)sigaction(signo, &usual, NULL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	for (i = 0; i < c->n; i++)
		if (spawn_fork_descriptor(c->fds[i], (int)i) == -1)
			return;
	if (dup3(*report, last, O_CLOEXEC) == -1)
		return;
	*report = last;
	spawn_fork_close(last + 1);
	if (c->dir != NULL && chdir(c->dir) == -1)
		return;
	if (c->search)
		(void)execvpe(c->argv[0], c->argv, c->env);
	else
		(void)execve(c->path, c->argv, c->env);
}

/* An errno that the child wrote; 0: the program runs. */
static int
spawn_fork_error(pid_t pid, int fd)
{
	int error = 0;
	ssize_t n;

	do
		n = read(fd, &error, sizeof error);
	while (n == -1 && errno == EINTR);
	if (n != sizeof error)
		return 0;
	while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
		;
	return error;
}

int
spawn_fork(pid_t *pid, const struct spawn_child *c)
{
	sigset_t all, old;
	int p[2], report, error;

	if (pipe2(p, O_CLOEXEC) == -1)
		return errno;
	/* Out of the way of the descriptors of the child. */
	report = fcntl(p[1], F_DUPFD_CLOEXEC, (int)c->n + 1);
	error = errno;
	(void)close(p[1]);
	if (report == -1) {
		(void)close(p[0]);
		return error;
	}
	/* A handler of this process must not run in the child. */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &old);
	*pid = fork();
	if (*pid == 0) {
		spawn_fork_child(c, &report);
		error = errno;
		(void)!write(report, &error, sizeof error);
		_exit(127);
	}
	error = errno;
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	(void)close(report);
	if (*pid != -1)
		error = spawn_fork_error(*pid, p[0]);
	(void)close(p[0]);
	return error;
}
