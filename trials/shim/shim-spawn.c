/* Starts the trial: the fork, and the setup in the child. */

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "trials/process/cgroup.h"
#include "trials/process/exec-path.h"
#include "trials/process/exec-why.h"
#include "trials/process/proc.h"
#include "trials/process/transient-error.h"
#include "trials/shim/shim.h"

int64_t
shim_ended_us(const struct shim *s)
{
	return s->exit.started_us + (clock_boot_ms() - s->started_ms) * 1000;
}

enum {
	LOCK_FD = 100, /* out of the way of scripts that count from 3 */
	OOM_SCORE = 500 /* a trial dies before the server */
};

/* Raising it needs no privilege; one that is higher already stays. */
static void
oom_score_raise(pid_t pid)
{
	char path[64], text[16] = "";
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
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

void
shim_spawn_bind(pid_t pid, const char *list)
{
	cpu_set_t may, want;
	const char *p = list;
	long first, last;
	char *end;

	CPU_ZERO(&want);
	while (*p != '\0') {
		first = last = strtol(p, &end, 10);
		if (end == p)
			return;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (; first <= last && first < CPU_SETSIZE; first++)
			CPU_SET((size_t)first, &want);
		p = end + (*end == ',');
		if (p == end && *end != '\0')
			return;
	}
	if (sched_getaffinity(pid, sizeof may, &may) == -1)
		return;
	CPU_AND(&want, &want, &may);
	if (CPU_COUNT(&want) > 0)
		(void)sched_setaffinity(pid, sizeof want, &want);
}

/* The limits of a process that will be the program. */
static void
spawn_limit(const struct shim *s, pid_t pid)
{
	oom_score_raise(pid);
	shim_spawn_bind(pid, s->cpus);
	if (*s->cgroup != '\0')
		(void)cgroup_enter(s->cgroup, pid);
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
	spawn_limit(s, getpid());
	if (child_redirect(s) == -1)
		why.error = errno;
	else if (chdir(s->workdir) == -1) {
		why.error = errno;
		why.in_chdir = true;
	} else {
		(void)sigemptyset(&none);
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		fail_point("shim.before_exec");
		why.error = exec_path(s->argv);
	}
	if (write(out, &why, sizeof why) == -1)
		_exit(126);
	_exit(127);
}

/* Schedule a retry if the error is temporary and no stop is pending. */
static void
start_plan(struct shim *s, int error)
{
	if (s->start_until_ms < 0) {
		s->start_until_ms = s->now_ms + TRANSIENT_TRY_MS;
		s->start_wait_ms = TRANSIENT_MIN_MS;
	}
	if (s->phase != SHIM_STARTING || !transient_error_exec(error) ||
	    s->now_ms >= s->start_until_ms)
		return;
	s->start_at_ms = s->now_ms + s->start_wait_ms;
	s->start_wait_ms = s->start_wait_ms * 2 < TRANSIENT_MAX_MS
			       ? s->start_wait_ms * 2
			       : TRANSIENT_MAX_MS;
}

void
shim_spawn_failed(struct shim *s, const struct shim_exec_error *why)
{
	s->exit.ran = false;
	s->exit.error = why->error;
	s->exit.exit_code = -1;
	s->exit.ended_us = shim_ended_us(s);
	if (why->in_chdir)
		(void)snprintf(s->exit.why, sizeof s->exit.why,
		    "cannot enter %.100s: %s", s->workdir,
		    strerror(why->error));
	else
		exec_why_text(s->exit.why, sizeof s->exit.why, s->workdir,
		    s->argv[0], why->error);
	start_plan(s, why->error);
}

void
shim_spawn_done(struct shim *s)
{
	struct proc_stat st;

	/* From here on only the trial holds its lock. */
	(void)close(s->lock_fd);
	s->exit.ran = true;
	s->exit.error = 0;
	s->exit.why[0] = '\0';
	s->claim.trial_pid = s->pid;
	s->claim.started_us = s->exit.started_us;
	if (!s->reaped && proc_stat(s->pid, &st))
		s->claim.trial_start = st.start;
	shim_record_update(s, CLAIM_STARTED);
	if (s->phase != SHIM_STARTING)
		return;
	s->phase = SHIM_RUNNING;
	if (s->max_run_ms > 0)
		s->run_until_ms = s->now_ms + s->max_run_ms;
	shim_preempt_begin(&s->preempt, s->now_ms);
}

/* Let the child that a warm process has made be the program, if there is one. */
static bool
spawn_warm(struct shim *s)
{
	if (s->warm == 0)
		return false;
	spawn_limit(s, s->warm);
	if (!shim_warm_begin(s))
		return false;
	shim_spawn_done(s);
	return true;
}

void
shim_spawn(struct shim *s)
{
	struct shim_exec_error why = { 0 };
	pid_t self = getpid();
	int p[2];

	s->start_at_ms = -1;
	s->exit.started_us = clock_wall_us();
	s->started_ms = s->now_ms = clock_boot_ms();
	if (spawn_warm(s))
		return;
	if (pipe2(p, O_CLOEXEC | O_NONBLOCK) == -1) {
		why.error = errno;
		shim_spawn_failed(s, &why);
		return;
	}
	s->pid = fork();
	if (s->pid == 0)
		child_run(s, self, p[1]);
	why.error = errno;
	(void)close(p[1]);
	if (s->pid == -1) {
		(void)close(p[0]);
		shim_spawn_failed(s, &why);
		return;
	}
	s->reaped = false;
	s->exec_fd = p[0];
	fail_point("shim.after_fork");
}
