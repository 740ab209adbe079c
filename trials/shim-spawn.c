/*
 * From supervisor to trial: the fork, everything the child sets up for
 * itself, and the search along PATH.  Never a shell: a file the kernel cannot
 * execute is an error.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "trials/cgroup.h"
#include "trials/proc.h"
#include "trials/shim.h"

enum {
	LOCK_FD = 100, /* out of the way of scripts that count from 3 */
	OOM_SCORE = 500 /* a trial dies before the server */
};

/* Raising it needs no privilege; one that is higher already stays. */
static void
oom_score_raise(void)
{
	char text[16] = "";
	int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);

	if (fd == -1)
		return;
	if (read(fd, text, sizeof text - 1) > 0 &&
	    strtol(text, NULL, 10) < OOM_SCORE) {
		(void)snprintf(text, sizeof text, "%d", OOM_SCORE);
		if (pwrite(fd, text, strlen(text), 0) == -1)
			(void)0;
	}
	(void)close(fd);
}

/* As execvp, without its fall back to a shell; returns an errno. */
static int
exec_search(char **argv)
{
	const char *dirs = getenv("PATH"), *end;
	char path[PATH_MAX];
	int error = ENOENT;

	if (strchr(argv[0], '/') != NULL) {
		(void)execve(argv[0], argv, environ);
		return errno;
	}
	if (dirs == NULL)
		dirs = "/usr/local/bin:/usr/bin:/bin";
	for (;; dirs = end + 1) {
		end = strchrnul(dirs, ':');
		if (snprintf(path, sizeof path, "%.*s%s%s", (int)(end - dirs),
			dirs, end > dirs ? "/" : "./", argv[0]) < PATH_MAX) {
			(void)execve(path, argv, environ);
			if (errno == EACCES)
				error = EACCES;
			else if (errno != ENOENT && errno != ENOTDIR)
				return errno;
		}
		if (*end == '\0')
			return error;
	}
}

static int
child_redirect(const struct shim *s)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (null == -1 || dup2(null, 0) == -1 || dup2(s->log.fd, 1) == -1 ||
	    dup2(s->log.fd, 2) == -1)
		return -1;
	if (fcntl(s->lock_fd, F_DUPFD, LOCK_FD) == -1 &&
	    fcntl(s->lock_fd, F_DUPFD, 3) == -1)
		return -1;
	return 0;
}

static void __attribute__((noreturn))
child_run(const struct shim *s, pid_t shim, int out)
{
	struct shim_exec_error why = { 0 };
	sigset_t none;

	/* The kernel ends us with the supervisor; unless it ended already. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid() != shim)
		_exit(127);
	(void)setpgid(0, 0);
	oom_score_raise();
	if (*s->cgroup != '\0')
		(void)cgroup_enter(s->cgroup);
	if (child_redirect(s) == -1)
		why.error = errno;
	else if (chdir(s->workdir) == -1) {
		why.error = errno;
		why.in_chdir = true;
	} else {
		(void)sigemptyset(&none);
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		fail_point("shim.before_exec");
		why.error = exec_search(s->argv);
	}
	if (write(out, &why, sizeof why) == -1)
		_exit(126);
	_exit(127);
}

int
shim_spawn(struct shim *s)
{
	struct shim_exec_error why = { 0 };
	pid_t self = getpid();
	int p[2];

	s->exit.started_us = shim_wall_us();
	s->started_ms = shim_clock_ms();
	if (pipe2(p, O_CLOEXEC | O_NONBLOCK) == -1) {
		why.error = errno;
		shim_spawn_failed(s, &why);
		return -1;
	}
	s->pid = fork();
	if (s->pid == 0)
		child_run(s, self, p[1]);
	why.error = errno;
	(void)close(p[1]);
	if (s->pid == -1) {
		(void)close(p[0]);
		shim_spawn_failed(s, &why);
		return -1;
	}
	s->exec_fd = p[0];
	fail_point("shim.after_fork");
	return 0;
}

void
shim_spawn_failed(struct shim *s, const struct shim_exec_error *why)
{
	s->exit.ran = false;
	s->exit.exit_code = -1;
	s->exit.ended_us = shim_ended_us(s);
	(void)snprintf(s->exit.why, sizeof s->exit.why, "cannot %s %.100s: %s",
	    why->in_chdir ? "enter" : "run",
	    why->in_chdir ? s->workdir : s->argv[0], strerror(why->error));
}
