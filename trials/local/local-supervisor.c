/*
 * Supervisors that have no attempt: those that were started ahead and wait for
 * one, so that a start need not execute a program, and those whose attempt has
 * ended while they still write its records to the disk.
 *
 * One that waits reads a socket, gets its arguments, its environment and its
 * locks in one message, and never waits for this process again.  If the server
 * ends before, the socket does, and so does the supervisor (shim-wait.c).
 */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/loop.h"
#include "src/base/spawn.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"
#include "trials/shim/shim.h"
#include "trials/warm/waiting-sockets.h"
#include "trials/warm/waiting-words.h"

enum {
	WAIT_MS = 20, /* after a start, which is to be disturbed by nothing */
	REAP_MS = 100, /* when nothing else happens */
	LATE_TRIES = 400, /* of LATE_MS each, for all that still write */
	LATE_MS = 5
};

static void
waiting_add(struct local *l)
{
	struct local_supervisors *v = &l->supervisors;
	struct local_waiting *one = &v->waiting[v->n];
	char **argv, **env;
	int s[2], r = 0;

	*one = (struct local_waiting){ .fd = -1 };
	v->off = true;
	if (waiting_sockets_open(s) != 0)
		return;
	argv = waiting_words_argv("hpotune-shim");
	env = waiting_words_env(environ);
	if (local_warm_usable(l))
		one->pid = local_warm_fork(l, argv, env, s[1]);
	if (one->pid == 0)
		r = spawn_session(&one->pid, l->shim, argv, env, &s[1], 1);
	strv_free(argv);
	strv_free(env);
	(void)close(s[1]);
	if (r != 0) {
		(void)close(s[0]);
		return;
	}
	one->fd = s[0];
	v->off = false;
	v->n++;
}

static void
late_add(struct local_supervisors *v, pid_t pid)
{
	XGROW(v->late, v->n_late, v->cap);
	v->late[v->n_late++] = pid;
}

/*
 * End a supervisor that waited and got no attempt: the attempt that it was
 * started for has another one.
 */
static void
supervisor_waiting_end(
    struct local_supervisors *v, const struct local_waiting *one)
{
	(void)close(one->fd);
	(void)kill(one->pid, SIGKILL);
	late_add(v, one->pid);
}

/* End those of a warm process that is not the one of now. */
static void
supervisor_renew(struct local *l)
{
	struct local_supervisors *v = &l->supervisors;

	if (!l->warm.process.renewed)
		return;
	l->warm.process.renewed = false;
	while (v->n > 0)
		supervisor_waiting_end(v, &v->waiting[--v->n]);
	if (v->timer != NULL)
		local_supervisor_wait(l);
}

static void
supervisor_on_wait(void *arg)
{
	struct local *l = arg;
	struct local_supervisors *v = &l->supervisors;
	int want = l->slots < LOCAL_WAITING_MAX ? l->slots : LOCAL_WAITING_MAX;

	supervisor_renew(l);
	while (v->n < want && !v->off)
		waiting_add(l);
}

/* The turn that follows reaps them. */
static void
on_reap(void *arg)
{
	(void)arg;
}

void
local_supervisor_wait(struct local *l)
{
	struct local_supervisors *v = &l->supervisors;

	if (v->timer == NULL)
		v->timer = loop_timer_new(l->loop, supervisor_on_wait, l);
	if (!v->off && !loop_timer_pending(v->timer))
		loop_timer_set(v->timer, WAIT_MS);
}

void
local_supervisor_leave(struct local *l, pid_t pid)
{
	late_add(&l->supervisors, pid);
}

void
local_supervisor_reap(struct local *l)
{
	struct local_supervisors *v = &l->supervisors;
	size_t i, kept = 0;
	int status;

	supervisor_renew(l);
	for (i = 0; i < v->n_late; i++)
		if (waitpid(v->late[i], &status, WNOHANG) == 0)
			v->late[kept++] = v->late[i];
	v->n_late = kept;
	if (kept > 0 && v->reaper == NULL)
		v->reaper = loop_timer_new(l->loop, on_reap, l);
	if (kept > 0 && !loop_timer_pending(v->reaper))
		loop_timer_set(v->reaper, REAP_MS);
}

/*
 * Ends those that wait.  The others have a moment: the study is over when its
 * output is on the disk.
 */
void
local_supervisor_close(struct local *l)
{
	struct local_supervisors *v = &l->supervisors;
	int i;

	while (v->n > 0)
		supervisor_waiting_end(v, &v->waiting[--v->n]);
	for (i = 0; i < LATE_TRIES; i++) {
		local_supervisor_reap(l);
		if (v->n_late == 0)
			break;
		(void)poll(NULL, 0, LATE_MS);
	}
	free(v->late);
	loop_timer_free(v->timer);
	loop_timer_free(v->reaper);
}

static bool
job_send(int fd, char *text, size_t len, const struct local_gpu_lock_fds *locks)
{
	_Alignas(struct cmsghdr) char
	    control[CMSG_SPACE(sizeof(int) * SHIM_JOB_FDS)] = { 0 };
	struct iovec io = { .iov_base = text, .iov_len = len };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (locks->n > 0) {
		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * locks->n);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * locks->n);
		memcpy(CMSG_DATA(c), locks->fd, sizeof(int) * locks->n);
	}
	return sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;
}

bool
local_supervisor_give(struct local *l, char *const *argv, char *const *env,
    const struct local_gpu_lock_fds *locks, pid_t *pid, int *fd)
{
	struct local_supervisors *v = &l->supervisors;
	struct local_waiting one;
	char *text;
	size_t len;

	supervisor_renew(l);
	if (local_warm_usable(l) && !warm_process_fits(&l->warm.process, env))
		return false;
	if (local_warm_usable(l) && v->n == 0)
		waiting_add(l);
	if (v->n == 0 || locks->n > SHIM_JOB_FDS)
		return false;
	text = xcalloc(1, SHIM_JOB_MAX);
	len = waiting_words_job(text, argv, env);
	*pid = 0;
	while (*pid == 0 && len > 0 && v->n > 0) {
		one = v->waiting[--v->n];
		fail_point("local.before_give");
		if (job_send(one.fd, text, len, locks)) {
			*pid = one.pid;
			*fd = one.fd;
		} else
			supervisor_waiting_end(v, &one);
	}
	fail_point("local.after_give");
	free(text);
	return *pid != 0;
}
