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
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "trials/process/args.h"
#include "trials/process/cgroup.h"
#include "trials/process/proc.h"
#include "trials/process/slurm-step.h"
#include "trials/shim/shim.h"

enum {
	SWEEP_MIN_MS = 5,
	SWEEP_MAX_MS = 1000,
	STUCK_MS = 60000 /* SIGKILL without effect for so long is news */
};

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
		{ "source=", &s->source, NULL },
		{ "commit=", &s->commit, NULL },
		{ "source-refs=", &s->source_refs, NULL },
		{ "source-base=", &s->source_base, NULL },
		{ "source-drop=", NULL, &s->source_drop },
		{ "from-trial=", NULL, &s->from_trial },
		{ "grace-ms=", NULL, &s->grace_ms },
		{ "max-run-ms=", NULL, &s->max_run_ms },
		{ "memory=", NULL, &s->memory },
		{ "log-cap=", NULL, &s->log_cap },
		{ "hold-fds=", NULL, &s->hold_fds },
		{ "shared=", NULL, &s->shared },
		{ "preempt-ms=", NULL, &s->preempt.every_ms },
		{ "preempt-last=", NULL, &s->preempt.last },
		{ "made=", NULL, &s->made },
		{ "warm-skip=", NULL, &s->warm_skip },
		{ "node-fd=", NULL, &s->node_fd },
	};

	s->argv = args_read(argv, table, sizeof table / sizeof table[0]);
	if (s->argv == NULL || s->dir == NULL || s->uuid == NULL ||
	    strlen(s->uuid) != RECORD_UUID || s->workdir == NULL ||
	    strlen(s->cgroup) >= RECORD_PATH ||
	    (s->source != NULL && s->commit == NULL))
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
shim_main_ears_open(struct shim *s, const sigset_t *set)
{
	s->signal_fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
	s->timer_fd =
	    timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->signal_fd == -1 || s->timer_fd == -1 ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1) == -1)
		return errno;
	return 0;
}

static void
kill_begin(struct shim *s)
{
	if (s->phase == SHIM_KILLING)
		return;
	s->exit.killed |= !s->reaped || s->phase == SHIM_STOPPING;
	s->phase = SHIM_KILLING;
	s->steps = slurm_step_runs(getpid());
	s->kill_began_ms = s->sweep_at_ms = s->now_ms;
	s->sweep_wait_ms = SWEEP_MIN_MS;
	s->kill_at_ms = s->run_until_ms = -1;
	shim_preempt_end(&s->preempt);
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
	ssize_t n = read(s->exec_fd, &why, sizeof why);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	(void)close(s->exec_fd);
	s->exec_fd = -1;
	if (n == sizeof why) {
		shim_spawn_failed(s, &why);
		return;
	}
	shim_spawn_done(s);
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
	/* In a stop the program may be one that this one has started. */
	if (s->phase != SHIM_STOPPING)
		kill_begin(s);
}

/*
 * SIGTERM goes to the main process: it may need its workers to save a
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
	shim_preempt_end(&s->preempt);
	if (!s->reaped) {
		fail_point("shim.before_stop");
		stop_tree_begin(
		    s->stop_tree, &s->pid, 1, s->grace_ms, s->now_ms);
		/* A stopped process may block others. */
		proc_continue_group(s->pid);
	}
}

static void
usage_add(struct shim *s, const struct rusage *u)
{
	if ((int64_t)u->ru_maxrss * 1024 > s->exit.max_rss)
		s->exit.max_rss = (int64_t)u->ru_maxrss * 1024;
	s->exit.cpu_us +=
	    (int64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000 +
	    u->ru_utime.tv_usec + u->ru_stime.tv_usec;
}

/* Reap all ended children; true when no child is left. */
static bool
shim_main_children_reap(struct shim *s)
{
	struct rusage u;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &u)) > 0) {
		if (pid == s->preempt.pid) {
			shim_preempt_reaped(&s->preempt, pid);
			continue;
		}
		usage_add(s, &u);
		/* After a stop the last one counts. */
		if (s->exit.stopped)
			s->exit.ended_us = shim_ended_us(s);
		if (pid == s->pid)
			main_over(s, status);
	}
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
	if (s->steps)
		slurm_step_kill();
	(void)proc_kill_descendants(getpid());
}

/* A stop that is asked for by a file. */
static void
shared_run(struct shim *s)
{
	enum shim_wish wish = shim_shared_look(s);

	if (wish == SHIM_WISH_PREEMPT &&
	    (s->phase == SHIM_STARTING || s->phase == SHIM_RUNNING)) {
		s->exit.preempted = true;
		stop_begin(s);
	}
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
	shim_preempt_run(&s->preempt, s->now_ms);
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
		s->sweep_at_ms, s->start_at_ms, s->shared_at_ms,
		s->preempt.at_ms,
		s->phase == SHIM_STOPPING ? s->stop_tree->look_at_ms : -1 };
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
		{ .fd = s->preempt.fd, .events = POLLIN },
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
		if (shim_preempt_heard(&s->preempt, s->now_ms)) {
			s->exit.preempted = true;
			stop_begin(s);
		}
		alone = shim_main_children_reap(s);
		if (alone && s->exec_fd == -1 && !start_again(s))
			break;
		timers_run(s);
		if (s->phase == SHIM_STOPPING)
			stop_tree_look(s->stop_tree, s->now_ms);
		wait_for_something(s);
	}
}

int
main(int argc, char **argv)
{
	static const char ahead[] = "ahead=", wait[] = SHIM_WAIT;
	static struct stop_tree stop_tree;
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
		.preempt = { .at_ms = -1, .fd = -1 },
		.stop_tree = &stop_tree,
		.reaped = true,
		.output_at_ms = 0 };
	sigset_t set;
	int r = EINVAL;

	stop_tree_init(&stop_tree);
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
	if (argc >= 2 && strncmp(argv[1], wait, sizeof wait - 1) == 0) {
		s.warm = shim_warm_child(argv[2]);
		argv = shim_wait(argv, &s.server_fd, &r);
		if (argv == NULL)
			return r;
	}
	if (argc < 2 || !shim_args(&s, argv + 1)) {
		(void)dprintf(2,
		    "hpotune-shim: is started by hpotune, for one attempt\n");
		return EINVAL;
	}
	/* The one that is handed over to has the cores of the place, too. */
	if (s.node_fd > 0 && s.server_fd != -1)
		shim_spawn_bind(0, s.cpus);
	else if (s.node_fd > 0 && shim_hand_over(s.node_fd, argv))
		return 0;
	/* A job of several trials has the steps of others, too. */
	stop_tree.own_job = s.shared != 0 && getenv("HPOTUNE_PLACE") == NULL;
	locks_hold(&s);
	r = shim_main_ears_open(&s, &set);
	if (r == 0)
		r = shim_record_claim(&s);
	if (r != 0)
		return r;
	s.now_ms = clock_boot_ms();
	if (s.shared != 0)
		shared_run(&s);
	if (shim_checkpoint_copy(&s) == 0 && shim_source_make(&s) == 0) {
		shim_spawn(&s);
		supervise(&s);
	}
	shim_log_cap_check(&s);
	if (!s.exit.stopped && shim_preempt_last(&s.preempt))
		s.exit.preempted = true;
	/* How the child ended that failed to become the trial is no news. */
	if (!s.exit.ran) {
		s.exit.exit_code = -1;
		s.exit.signal = 0;
	}
	if (*s.cgroup != '\0')
		cgroup_remove(s.cgroup);
	r = shim_record_exit(&s);
	shim_source_drop(&s);
	return r;
}
