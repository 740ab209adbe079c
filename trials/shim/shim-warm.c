/*
 * The child of a supervisor that a warm process has made: it waits until the
 * attempt is known, and is the program from its answer on.  Before that it can be
 * replaced by a program that is executed.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "trials/process/args.h"
#include "trials/process/proc.h"
#include "trials/shim/shim.h"

enum { LOOK_MS = 50 /* whether a stop has come meanwhile */ };

pid_t
shim_warm_child(const char *word)
{
	struct proc_stat st;
	pid_t pid;

	if (word == NULL || strncmp(word, SHIM_WARM, sizeof SHIM_WARM - 1) != 0)
		return 0;
	/* The program that the server starts must not have it. */
	if (fcntl(SHIM_WARM_FD, F_SETFD, FD_CLOEXEC) == -1)
		return 0;
	pid = (pid_t)strtol(word + sizeof SHIM_WARM - 1, NULL, 10);
	/* A program between us and the warm process is its parent. */
	return proc_stat(pid, &st) && st.ppid == getpid() ? pid : 0;
}

/* The message: its length, or 0 when it is too long. */
static size_t
shim_warm_job_put(const struct shim *s, char *text)
{
	char workdir[SHIM_JOB_MAX / 4], skip[24];
	char *first[] = { workdir, skip, NULL };
	struct shim_job job = { 0 };
	size_t at = sizeof job;

	if (snprintf(workdir, sizeof workdir, "%s", s->workdir) >=
	    (int)sizeof workdir)
		return 0;
	(void)snprintf(skip, sizeof skip, "%lld", (long long)s->warm_skip);
	at = args_put(text, SHIM_JOB_MAX, at, first, &job.argc);
	if (at <= SHIM_JOB_MAX)
		at = args_put(text, SHIM_JOB_MAX, at, s->argv, &job.argc);
	if (at <= SHIM_JOB_MAX)
		at = args_put(text, SHIM_JOB_MAX, at, environ, &job.envc);
	memcpy(text, &job, sizeof job);
	return at <= SHIM_JOB_MAX ? at : 0;
}

static bool
shim_warm_job_send(const struct shim *s)
{
	static char text[SHIM_JOB_MAX];
	const int fds[] = { s->log.fd, s->lock_fd };
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof fds)] = { 0 };
	struct iovec io = { .iov_base = text,
		.iov_len = shim_warm_job_put(s, text) };
	struct msghdr m = { .msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	if (io.iov_len == 0) {
		errno = EMSGSIZE;
		return false;
	}
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof fds);
	memcpy(CMSG_DATA(c), fds, sizeof fds);
	return sendmsg(SHIM_WARM_FD, &m, MSG_NOSIGNAL) == (ssize_t)io.iov_len;
}

static bool
shim_warm_stop_waits(void)
{
	sigset_t set;

	return sigpending(&set) == 0 && (sigismember(&set, SIGTERM) == 1 ||
					    sigismember(&set, SIGUSR1) == 1);
}

/*
 * Wait for the answer.  With a stop that has come first the child counts as the
 * program, which it may be in this moment.
 */
static bool
shim_warm_answer_read(char answer[SHIM_WARM_ANSWER])
{
	struct pollfd p = { .fd = SHIM_WARM_FD, .events = POLLIN };
	ssize_t n;

	answer[0] = SHIM_WARM_NO;
	(void)snprintf(answer + 1, SHIM_WARM_ANSWER - 1, "its process ended");
	while (poll(&p, 1, LOOK_MS) == 0)
		if (shim_warm_stop_waits()) {
			answer[0] = SHIM_WARM_GO;
			answer[1] = '\0';
			return true;
		}
	n = recv(SHIM_WARM_FD, answer, SHIM_WARM_ANSWER - 1, MSG_DONTWAIT);
	if (n > 0)
		answer[n] = '\0';
	return n > 0 && answer[0] == SHIM_WARM_GO;
}

bool
shim_warm_begin(struct shim *s)
{
	char answer[SHIM_WARM_ANSWER] = { SHIM_WARM_NO };
	pid_t pid = s->warm;
	bool begun;

	s->warm = 0;
	fail_point("shim.before_warm");
	if (shim_warm_job_send(s))
		begun = shim_warm_answer_read(answer);
	else {
		(void)snprintf(answer + 1, sizeof answer - 1,
		    "its process cannot be told: %s", strerror(errno));
		begun = false;
	}
	fail_point("shim.after_warm");
	(void)close(SHIM_WARM_FD);
	if (s->server_fd != -1)
		(void)send(s->server_fd, answer, strlen(answer),
		    MSG_DONTWAIT | MSG_NOSIGNAL);
	if (begun) {
		s->pid = pid;
		s->reaped = false;
		return true;
	}
	/* The child has told that it is not the program, or it has ended. */
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
		;
	return false;
}
