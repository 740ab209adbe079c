/*
 * hpotune-shim: the supervisor of one attempt.  Everything it needs comes in
 * its arguments and its environment, which becomes the trial's.  It claims the
 * attempt, starts the trial, stops it on request or when its time is over,
 * kills what is left of it, and records its end.  SIGTERM: stop with grace.
 * SIGUSR1: kill now.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "trials/process/args.h"
#include "trials/process/cgroup.h"
#include "trials/process/exec-path.h"
#include "trials/process/proc.h"
#include "trials/process/transient-error.h"
#include "trials/shim/shim.h"

enum {
	SWEEP_MIN_MS = 5,
	SWEEP_MAX_MS = 1000,
	STUCK_MS = 60000 /* SIGKILL without effect for so long is news */
};

/*
 * The end time: start time plus elapsed time, so that a clock adjustment does
 * not change the duration.
 */
static int64_t
shim_ended_us(const struct shim *s)
{
	return s->exit.started_us + (clock_boot_ms() - s->started_ms) * 1000;
}

/* "name=value" arguments up to "--", then the command. */
static bool
shim_args(struct shim *s, char **argv)
{
	const struct arg table[] = {
		{ "dir=", &s->dir, NULL },
		{ "uuid=", &s->uuid, NULL },
		{ "workdir=", &s->workdir, NULL },
		{ "cgroup=", &s->cgroup, NULL },
		{ "from=", &s->from, NULL },
		{ "cpus=", &s->cpus, NULL },
		{ "from-trial=", NULL, &s->from_trial },
		{ "grace-ms=", NULL, &s->grace_ms },
		{ "max-run-ms=", NULL, &s->max_run_ms },
		{ "memory=", NULL, &s->memory },
		{ "log-cap=", NULL, &s->log_cap },
		{ "hold-fds=", NULL, &s->hold_fds },
		{ "shared=", NULL, &s->shared },
		{ "made=", NULL, &s->made },
	};

	s->argv = args_read(argv, table, sizeof table / sizeof table[0]);
	if (s->argv == NULL || s->dir == NULL || s->uuid == NULL ||
	    strlen(s->uuid) != RECORD_UUID || s->workdir == NULL ||
	    strlen(s->cgroup) >= RECORD_PATH)
		return false;
	return true;
}

static void
locks_hold(const struct shim *s)
{
	int64_t i;

	for (i = 0; i < s->hold_fds; i++)
		(void)fcntl(3 + (int)i, F_SETFD, FD_CLOEXEC);
}

static int
ears_open(struct shim *s, const sigset_t *set)
{
	s->signal_fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
	s->timer_fd =
	    timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->signal_fd == -1 || s->timer_fd == -1 ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1) == -1)
		return errno;
	return 0;
}

/* ---- starting the trial: the fork, and the setup in the child ----------- */

/* Message of a child that could not execute the trial, through exec_fd. */
struct shim_exec_error {
	int error; /* errno */
	bool in_chdir;
};

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

/* Bind to the allowed subset of cores, "0-3,8", unless it is empty. */
static void
cpus_bind(const char *list)
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
	if (sched_getaffinity(0, sizeof may, &may) == -1)
		return;
	CPU_AND(&want, &want, &may);
	if (CPU_COUNT(&want) > 0)
		(void)sched_setaffinity(0, sizeof want, &want);
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
	cpus_bind(s->cpus);
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

static void
shim_spawn_failed(struct shim *s, const struct shim_exec_error *why)
{
	s->exit.ran = false;
	s->exit.error = why->error;
	s->exit.exit_code = -1;
	s->exit.ended_us = shim_ended_us(s);
	(void)snprintf(s->exit.why, sizeof s->exit.why,
	    "cannot %s %.100s: %s%s", why->in_chdir ? "enter" : "run",
	    why->in_chdir ? s->workdir : s->argv[0], strerror(why->error),
	    why->error == ENOEXEC
		? " (the first line of a script is like #!/bin/sh)"
		: "");
	start_plan(s, why->error);
}

/*
 * Fork the trial.  If that or its exec fails, schedule a retry (start_at_ms),
 * or fill the exit record.
 */
static void
shim_spawn(struct shim *s)
{
	struct shim_exec_error why = { 0 };
	pid_t self = getpid();
	int p[2];

	s->start_at_ms = -1;
	s->exit.started_us = clock_wall_us();
	s->started_ms = s->now_ms = clock_boot_ms();
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

/* ---- the limit of the disk space of the output -------------------------- */

/*
 * Punches holes at the head of a file, so that offsets, the writer and the
 * reader's position stay valid.  Without support of the file system it does
 * nothing.
 */

enum {
	BLOCK = 65536, /* a hole ends at a multiple of this */
	WAIT_MIN_MS = 5,
	WAIT_MAX_MS = 500,
	FAST = 1 << 20 /* bytes between two checks that shorten the interval */
};

/* Whether it grew fast. */
static bool
output_punch(struct shim_log *o, int64_t cap)
{
	struct stat st;
	bool fast;
	off_t end;

	if (fstat(o->fd, &st) == -1)
		return false;
	fast = st.st_size - o->size > FAST;
	o->size = st.st_size;
	end = (st.st_size - cap) / BLOCK * BLOCK;
	if (end > o->punched &&
	    fallocate(o->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		o->punched, end - o->punched) == 0)
		o->punched = end;
	return fast;
}

/* Punch out what exceeds the cap; sets output_at_ms. */
static void
shim_log_cap_check(struct shim *s)
{
	bool fast;

	if (s->log_cap <= 0) {
		s->output_at_ms = -1;
		return;
	}
	fast = output_punch(&s->log, s->log_cap);
	fast |= output_punch(&s->metrics, s->log_cap);
	s->output_wait_ms = fast ? WAIT_MIN_MS : s->output_wait_ms * 2;
	if (s->output_wait_ms < WAIT_MIN_MS)
		s->output_wait_ms = WAIT_MIN_MS;
	if (s->output_wait_ms > WAIT_MAX_MS)
		s->output_wait_ms = WAIT_MAX_MS;
	s->output_at_ms = s->now_ms + s->output_wait_ms;
}

/* ---- from the fork until no process of the trial is left ---------------- */

static void
kill_begin(struct shim *s)
{
	if (s->phase == SHIM_KILLING)
		return;
	s->phase = SHIM_KILLING;
	s->exit.killed |= !s->reaped;
	s->kill_began_ms = s->sweep_at_ms = s->now_ms;
	s->sweep_wait_ms = SWEEP_MIN_MS;
	s->kill_at_ms = s->run_until_ms = -1;
}

/* Whether the main process has ended, although it was not reaped. */
static bool
main_ended(const struct shim *s)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)s->pid, &info,
		   WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == s->pid;
}

/* The result of exec: the pipe closed without data on success. */
static void
exec_heard(struct shim *s)
{
	struct shim_exec_error why;
	struct proc_stat st;
	ssize_t n = read(s->exec_fd, &why, sizeof why);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	(void)close(s->exec_fd);
	s->exec_fd = -1;
	if (n == sizeof why) {
		shim_spawn_failed(s, &why);
		return;
	}
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
}

static void
main_over(struct shim *s, int status)
{
	/* The message of exec was written before the exit. */
	if (s->exec_fd != -1)
		exec_heard(s);
	s->reaped = true;
	if (s->start_at_ms >= 0)
		return;
	s->exit.ended_us = shim_ended_us(s);
	if (WIFEXITED(status))
		s->exit.exit_code = WEXITSTATUS(status);
	else {
		s->exit.exit_code = -1;
		s->exit.signal = WTERMSIG(status);
	}
	if (s->exit.signal == SIGKILL && !s->exit.killed &&
	    s->exit.why[0] == '\0') {
		s->exit.oom = *s->cgroup != '\0' && cgroup_oom(s->cgroup);
		if (!s->exit.oom)
			(void)snprintf(s->exit.why, sizeof s->exit.why,
			    "killed from outside, possibly out of memory");
	}
	kill_begin(s);
}

/*
 * SIGTERM goes to the main process only: it may need its workers to save a
 * checkpoint.  If it has ended by itself, the stop had no effect.
 */
static void
stop_begin(struct shim *s)
{
	if (s->exec_fd != -1)
		exec_heard(s);
	if (s->phase != SHIM_STARTING && s->phase != SHIM_RUNNING)
		return;
	/* A child that could not become the trial has ended, too. */
	if (s->exit.ran && !s->reaped && main_ended(s))
		return;
	s->phase = SHIM_STOPPING;
	s->exit.stopped = true;
	s->run_until_ms = -1;
	s->kill_at_ms = s->now_ms + s->grace_ms;
	if (!s->reaped) {
		fail_point("shim.before_stop");
		(void)kill(s->pid, SIGTERM);
		/* A stopped process handles no signals and may block others. */
		proc_continue_child(s->pid);
		proc_continue_group(s->pid);
	}
}

/* Reap all ended children; true when no child is left. */
static bool
children_reap(struct shim *s)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == s->pid)
			main_over(s, status);
	return pid == -1 && errno == ECHILD;
}

static void
signals_heard(struct shim *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof info) == sizeof info) {
		if (info.ssi_signo == SIGTERM)
			stop_begin(s);
		if (info.ssi_signo == SIGUSR1)
			kill_begin(s);
	}
}

static void
kill_all(struct shim *s)
{
	if (*s->cgroup != '\0')
		(void)cgroup_kill(s->cgroup);
	/* The pid of our own child is certain until we reap it. */
	if (!s->reaped) {
		(void)kill(-s->pid, SIGKILL);
		(void)kill(s->pid, SIGKILL);
	}
	(void)proc_kill_descendants(getpid());
}

/* A stop that is asked for by a file. */
static void
shared_run(struct shim *s)
{
	enum shim_wish wish = shim_shared_look(s);

	if (wish == SHIM_WISH_STOP)
		stop_begin(s);
	if (wish == SHIM_WISH_KILL)
		kill_begin(s);
}

static void
timers_run(struct shim *s)
{
	if (s->run_until_ms >= 0 && s->now_ms >= s->run_until_ms) {
		s->exit.timeout = true;
		stop_begin(s);
	}
	if (s->kill_at_ms >= 0 && s->now_ms >= s->kill_at_ms)
		kill_begin(s);
	if (s->output_at_ms >= 0 && s->now_ms >= s->output_at_ms)
		shim_log_cap_check(s);
	if (s->shared_at_ms >= 0 && s->now_ms >= s->shared_at_ms)
		shared_run(s);
	if (s->sweep_at_ms < 0 || s->now_ms < s->sweep_at_ms)
		return;
	kill_all(s);
	s->sweep_at_ms = s->now_ms + s->sweep_wait_ms;
	s->sweep_wait_ms = s->sweep_wait_ms * 2 < SWEEP_MAX_MS
			       ? s->sweep_wait_ms * 2
			       : SWEEP_MAX_MS;
	if (s->now_ms - s->kill_began_ms >= STUCK_MS &&
	    s->claim.kind == CLAIM_STARTED)
		shim_record_update(s, CLAIM_STUCK);
}

static void
timer_arm(const struct shim *s)
{
	const int64_t at[] = { s->run_until_ms, s->kill_at_ms, s->output_at_ms,
		s->sweep_at_ms, s->start_at_ms, s->shared_at_ms };
	int64_t first = clock_first(at, sizeof at / sizeof at[0]);
	struct itimerspec t = { 0 };

	if (first >= 0) {
		t.it_value.tv_sec = (time_t)(first / 1000);
		t.it_value.tv_nsec = (long)(first % 1000) * 1000000;
	}
	(void)timerfd_settime(s->timer_fd, TFD_TIMER_ABSTIME, &t, NULL);
}

static void
wait_for_something(struct shim *s)
{
	struct pollfd p[] = {
		{ .fd = s->signal_fd, .events = POLLIN },
		{ .fd = s->timer_fd, .events = POLLIN },
		{ .fd = s->exec_fd, .events = POLLIN },
	};
	uint64_t ticks;

	timer_arm(s);
	(void)poll(p, sizeof p / sizeof p[0], -1);
	if (read(s->timer_fd, &ticks, sizeof ticks) == -1)
		ticks = 0;
	s->now_ms = clock_boot_ms();
}

/*
 * Whether a program that could not be executed is to be tried again, which is
 * done when it is due.  A stop in between is the end.
 */
static bool
start_again(struct shim *s)
{
	if (s->start_at_ms >= 0 && s->phase != SHIM_STARTING)
		s->start_at_ms = -1;
	if (s->start_at_ms >= 0 && s->now_ms >= s->start_at_ms)
		shim_spawn(s);
	return s->start_at_ms >= 0 || s->exec_fd != -1;
}

static void
supervise(struct shim *s)
{
	bool alone;

	for (;;) {
		/* Signals first: SIGCHLD stays noted for the next wait. */
		signals_heard(s);
		if (s->exec_fd != -1)
			exec_heard(s);
		alone = children_reap(s);
		if (alone && s->exec_fd == -1 && !start_again(s))
			break;
		timers_run(s);
		wait_for_something(s);
	}
}

static void
usage_add(struct shim *s)
{
	struct rusage u;

	if (getrusage(RUSAGE_CHILDREN, &u) == -1)
		return;
	s->exit.max_rss = (int64_t)u.ru_maxrss * 1024;
	s->exit.cpu_us =
	    (int64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
	    u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

int
main(int argc, char **argv)
{
	static const char ahead[] = "ahead=", wait[] = SHIM_WAIT;
	struct shim s = { .cgroup = "",
		.cpus = "",
		.server_fd = -1,
		.exec_fd = -1,
		.run_until_ms = -1,
		.kill_at_ms = -1,
		.sweep_at_ms = -1,
		.start_at_ms = -1,
		.start_until_ms = -1,
		.shared_at_ms = -1,
		.beat_at_ms = -1,
		.reaped = true,
		.output_at_ms = 0 };
	sigset_t set;
	int r = EINVAL;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGUSR1);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGHUP);
	/* A limit on files is an error of the write; the trial gets it whole. */
	(void)sigaddset(&set, SIGXFSZ);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	fail_point("shim.begin");
	if (argc > 2 && strncmp(argv[1], ahead, sizeof ahead - 1) == 0)
		return shim_ahead(argv[1] + sizeof ahead - 1, argv + 2);
	if (argc == 2 && strncmp(argv[1], wait, sizeof wait - 1) == 0) {
		argv = shim_wait(argv, &s.server_fd, &r);
		if (argv == NULL)
			return r;
	}
	if (argc < 2 || !shim_args(&s, argv + 1)) {
		(void)dprintf(2,
		    "hpotune-shim: is started by hpotune, for one attempt\n");
		return EINVAL;
	}
	locks_hold(&s);
	r = ears_open(&s, &set);
	if (r == 0)
		r = shim_record_claim(&s);
	if (r != 0)
		return r;
	s.now_ms = clock_boot_ms();
	if (s.shared != 0)
		shared_run(&s);
	if (shim_checkpoint_copy(&s) == 0) {
		shim_spawn(&s);
		supervise(&s);
	}
	shim_log_cap_check(&s);
	usage_add(&s);
	/* How the child ended that failed to become the trial is no news. */
	if (!s.exit.ran) {
		s.exit.exit_code = -1;
		s.exit.signal = 0;
	}
	if (*s.cgroup != '\0')
		cgroup_remove(s.cgroup);
	return shim_record_exit(&s);
}
