/*
 * hpotune-ranks: runs between the supervisor and the processes of one trial.
 * It starts them, forwards SIGTERM to each, and when one fails ends the others,
 * which would otherwise wait in a collective operation until a timeout; then it
 * exits as the failed one did.  It restarts no process.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/mem.h"
#include "trials/process/exec-why.h"
#include "trials/process/proc.h"
#include "trials/ranks/ranks-args.h"
#include "trials/ranks/ranks-output.h"
#include "trials/ranks/ranks-spawn.h"
#include "trials/ranks/ranks-wrapper.h"
#include "trials/ranks/ranks.h"

enum {
	/* limit for the remaining processes after a failure */
	GRACE_MS = 10000,
	LINGER_MS = 2000, /* for workers after the chief's end */
	AGAIN_MS = 1000, /* SIGKILL is repeated */
	OUTPUT_MS = 250, /* interval of checks of the output files */
	TELL_MS = 50, /* interval of searches for ranks of a launcher */
	TELL_MOST_MS = 5000,
	/* … of other nodes, whose files are seen later */
	TELL_FAR_MS = 30000,
	CAUSE_MS = 500
};

/* List the ranks that are begun here. */
static void
ranks_list(struct ranks *s, int number)
{
	const struct ranks_args *a = &s->args;
	bool all = a->mode == RANKS_START;
	size_t i, workers = all ? (size_t)a->processes : 1;

	s->n = workers + (all ? (size_t)a->servers : 0);
	s->rank = xcalloc(s->n, sizeof *s->rank);
	for (i = 0; i < s->n; i++)
		s->rank[i] = (struct rank){ .role = i < workers ? RANK_WORKER
								: RANK_SERVER,
			.number = (int)(i < workers ? i : i - workers) };
	if (ranks_args_is_launcher(s))
		s->rank[0].role = RANK_LAUNCHER;
	if (a->mode == RANKS_EACH)
		s->rank[0].number = number;
}

static void
rank_signal(const struct rank *r, int sig)
{
	if (r->pid == 0)
		return;
	/*
	 * The rank is not reaped: the number is its own, and so is the group.
	 */
	if (sig == SIGKILL)
		(void)kill(-r->pid, sig);
	(void)kill(r->pid, sig);
	proc_continue_child(r->pid);
}

static void
all_signal(const struct ranks *s, int sig)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		rank_signal(&s->rank[i], sig);
}

/*
 * SIGTERM goes to the main process of each rank: it may need its workers to save
 * a checkpoint.  What stands before a program is known to the tree.
 */
static void
ranks_stop(struct ranks *s, int64_t grace_ms)
{
	pid_t *pid = xcalloc(s->n, sizeof *pid);
	size_t i;

	for (i = 0; i < s->n; i++)
		pid[i] = s->rank[i].pid;
	stop_tree_begin(s->stop_tree, pid, s->n, grace_ms, clock_boot_ms());
	free(pid);
}

static void
end_begin(struct ranks *s)
{
	int64_t grace =
	    s->args.grace_ms < GRACE_MS ? s->args.grace_ms : GRACE_MS;

	if (s->ending)
		return;
	s->ending = true;
	s->servers_at_ms = -1;
	s->kill_at_ms = clock_boot_ms() + grace;
	if (s->told)
		return;
	if (ranks_args_is_far(s))
		all_signal(s, SIGUSR2);
	else if (ranks_args_is_launcher(s))
		all_signal(s, SIGTERM);
	else
		ranks_stop(s, grace);
}

static void
rank_over(struct ranks *s, struct rank *r, int status)
{
	r->pid = 0;
	r->status = status;
	r->bad = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	if (!r->bad || s->told || (s->ending && !ranks_args_is_far(s)))
		return;
	s->cause = r;
	/* A rank that it has started was the first. */
	if (s->ending)
		return;
	ranks_first_failure(s, r);
	end_begin(s);
}

/* True when no child is left, and no orphan. */
static bool
ranks_children_reap(struct ranks *s)
{
	int status;
	pid_t pid;
	size_t i;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (i = 0; i < s->n; i++)
			if (s->rank[i].pid == pid)
				rank_over(s, &s->rank[i], status);
	return pid == -1 && errno == ECHILD;
}

static size_t
alive(const struct ranks *s, enum rank_role role)
{
	size_t i, n = 0;

	for (i = 0; i < s->n; i++)
		n += s->rank[i].pid != 0 && s->rank[i].role == role;
	return n;
}

/*
 * Parameter servers wait for ever, and so do the workers of a chief that
 * distributes the work; workers that train on their own end by themselves.
 */
static void
servers_end(struct ranks *s)
{
	if (s->args.servers == 0 || s->ending || s->rank[0].pid != 0)
		return;
	if (alive(s, RANK_WORKER) == 0)
		end_begin(s);
	else if (s->told)
		return;
	else if (s->servers_at_ms < 0)
		s->servers_at_ms = clock_boot_ms() + LINGER_MS;
	else if (clock_boot_ms() >= s->servers_at_ms)
		end_begin(s);
}

/*
 * We signal the ranks of a launcher directly, because the launcher would not
 * wait for them; it is signalled only if they cannot be found.
 */
static void
backend_signal(struct ranks *s)
{
	int64_t now = clock_boot_ms();

	s->signal_at_ms = -1;
	if (ranks_args_is_far(s) ? ranks_wrapper_all(s)
				 : ranks_wrapper_signal(s)) {
		if (ranks_args_is_far(s))
			all_signal(s, SIGUSR2);
		return;
	}
	if (now >= s->signal_until_ms)
		all_signal(s, SIGTERM);
	else
		s->signal_at_ms = now + TELL_MS;
}

static void
end_received(struct ranks *s)
{
	if (s->told)
		return;
	s->told = true;
	if (s->ending)
		return;
	s->signal_until_ms =
	    clock_boot_ms() +
	    (ranks_args_is_far(s) ? TELL_FAR_MS : TELL_MOST_MS);
	if (ranks_args_is_launcher(s))
		backend_signal(s);
	else
		ranks_stop(s, s->args.grace_ms);
}

static void
ranks_signals_heard(struct ranks *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof info) == sizeof info)
		if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGUSR2)
			end_received(s);
}

static int
ranks_wait_ms(const struct ranks *s)
{
	const int64_t at[] = { s->kill_at_ms, s->servers_at_ms, s->output_at_ms,
		s->signal_at_ms, s->cause_at_ms, s->stop_tree->look_at_ms };
	int64_t first = clock_first(at, sizeof at / sizeof at[0]), ms;

	if (first < 0)
		return -1;
	ms = first - clock_boot_ms();
	return ms < 0 ? 0 : (int)ms;
}

/* A rank of some node has failed: its launcher does not end the others. */
static void
cause_look(struct ranks *s)
{
	char text[4];

	if (s->told || s->ending ||
	    file_read(s->dir_fd, RANKS_CAUSE_FILE, text, sizeof text) <= 0)
		return;
	s->far_failed = true;
	end_begin(s);
}

static void
ranks_timers_run(struct ranks *s)
{
	int64_t now = clock_boot_ms();

	if (s->cause_at_ms >= 0 && now >= s->cause_at_ms) {
		cause_look(s);
		s->cause_at_ms = s->ending ? -1 : now + CAUSE_MS;
	}
	if (s->kill_at_ms >= 0 && now >= s->kill_at_ms) {
		/* SIGKILL would leave the ranks of other nodes. */
		all_signal(s, ranks_args_is_far(s) && !s->ending_told
				  ? SIGTERM
				  : SIGKILL);
		if (s->stop_tree->look_at_ms >= 0)
			(void)proc_kill_descendants(getpid());
		if (ranks_args_is_far(s) && !s->ending_told)
			now += GRACE_MS;
		s->ending_told = true;
		s->kill_at_ms = now + AGAIN_MS;
	}
	if (s->signal_at_ms >= 0 && now >= s->signal_at_ms)
		backend_signal(s);
	if (s->output_at_ms >= 0 && now >= s->output_at_ms) {
		ranks_output_check(s);
		s->output_at_ms = now + OUTPUT_MS;
	}
}

/* Run until no process is left; in a stop also none that a rank has started. */
static void
watch(struct ranks *s)
{
	struct pollfd p = { .fd = s->signal_fd, .events = POLLIN };
	bool alone;

	for (;;) {
		ranks_signals_heard(s);
		alone = ranks_children_reap(s);
		servers_end(s);
		if (alive(s, RANK_WORKER) + alive(s, RANK_SERVER) +
			    alive(s, RANK_LAUNCHER) ==
			0 &&
		    (alone || s->stop_tree->look_at_ms < 0))
			break;
		ranks_timers_run(s);
		stop_tree_look(s->stop_tree, clock_boot_ms());
		(void)poll(&p, 1, ranks_wait_ms(s));
	}
	if (s->output_at_ms >= 0)
		ranks_output_check(s);
}

/* If a start fails, the supervisor kills the processes started before. */
static int
all_spawn(struct ranks *s)
{
	char why[RANKS_CAUSE];
	int error;
	size_t i;

	for (i = 0; i < s->n; i++) {
		error = ranks_spawn(s, &s->rank[i]);
		if (error == 0)
			continue;
		exec_why_text(why, sizeof why, NULL, s->args.argv[0], error);
		ranks_first_failure_start(s, why);
		all_signal(s, SIGKILL);
		return error == EAGAIN || error == ENOMEM ? RANKS_NO_START
							  : RANKS_NO_EXEC;
	}
	return 0;
}

static int
dir_open(struct ranks *s)
{
	s->dir_fd =
	    open(s->args.dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->dir_fd == -1)
		(void)dprintf(
		    2, "hpotune-ranks: %s: %s\n", s->args.dir, strerror(errno));
	return s->dir_fd;
}

/* Where the program of the trial is to run. */
static int
workdir_enter(const struct ranks *s)
{
	const char *dir = s->args.workdir;

	if (dir == NULL || chdir(dir) == 0)
		return 0;
	(void)dprintf(
	    2, "hpotune-ranks: cannot enter %s: %s\n", dir, strerror(errno));
	return -1;
}

/* 0, or an exit status. */
static int
ranks_start(struct ranks *s)
{
	struct err e = ERR_INIT;

	if (dir_open(s) == -1 || workdir_enter(s) == -1)
		return RANKS_NO_START;
	if (s->args.ports > 0 && port_lease_take(&s->lease, (int)s->args.place,
				     (int)s->args.ports, &e) != 0) {
		ranks_first_failure_start(s, e.text);
		return RANKS_NO_START;
	}
	ranks_env_all(&s->args, s->lease.first);
	if (s->args.mode == RANKS_LAUNCHER)
		ranks_env_launcher(s->lease.first);
	s->node = s->args.mode == RANKS_NODE ? ranks_env_node() : 0;
	if (s->node < 0) {
		ranks_first_failure_start(s, "Slurm has set no SLURM_NODEID");
		return RANKS_NO_START;
	}
	if (ranks_args_is_far(s))
		s->cause_at_ms = clock_boot_ms() + CAUSE_MS;
	if (s->args.log_cap > 0)
		s->output_at_ms = clock_boot_ms() + OUTPUT_MS;
	ranks_list(s, 0);
	return all_spawn(s);
}

static int
start_each(struct ranks *s)
{
	int number = ranks_env_translate(&s->args);

	if (dir_open(s) == -1 || workdir_enter(s) == -1)
		return RANKS_NO_START;
	if (number < 0) {
		ranks_first_failure_start(
		    s, "its launcher sets no variable with its rank");
		return RANKS_NO_START;
	}
	if (number > 0)
		(void)unsetenv("HPOTUNE_METRICS");
	ranks_wrapper_register(s->dir_fd, number, getpid());
	ranks_list(s, number);
	return all_spawn(s);
}

/* End like that process, so that the supervisor sees the same status. */
static void __attribute__((noreturn)) end_as(int status)
{
	const struct rlimit none = { 0 };
	sigset_t set;
	int sig;

	if (WIFEXITED(status))
		exit(WEXITSTATUS(status));
	sig = WTERMSIG(status);
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(sig, SIG_DFL);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, sig);
	(void)kill(getpid(), sig);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	exit(128 + sig);
}

/* Exit with the result of the trial. */
static void __attribute__((noreturn)) ranks_main_end(const struct ranks *s)
{
	if (s->args.mode == RANKS_EACH) {
		ranks_wrapper_register(s->dir_fd, s->rank[0].number, 0);
		/*
		 * The launcher would kill the other ranks after any other
		 * status.
		 */
		if (s->told)
			exit(0);
	}
	if (s->args.mode == RANKS_LAUNCHER)
		ranks_wrapper_forget(s);
	/* srun would report that the node failed. */
	if (s->args.mode == RANKS_NODE && s->told)
		exit(0);
	if (s->cause != NULL)
		end_as(s->cause->status);
	/* The launcher may not pass on how that rank has ended. */
	if (s->far_failed)
		exit(EXIT_FAILURE);
	/* After a stop, the status of rank 0 is the result. */
	if (s->told)
		end_as(s->rank[0].status);
	exit(0);
}

static int
signals_open(void)
{
	static const int all[] = { SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR2 };
	sigset_t set;
	size_t i;

	(void)sigemptyset(&set);
	for (i = 0; i < sizeof all / sizeof all[0]; i++)
		(void)sigaddset(&set, all[i]);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int
main(int argc, char **argv)
{
	static struct stop_tree stop_tree;
	struct ranks s = { .kill_at_ms = -1,
		.output_at_ms = -1,
		.servers_at_ms = -1,
		.signal_at_ms = -1,
		.cause_at_ms = -1,
		.stop_tree = &stop_tree };
	int r;

	if (argc < 3 || !ranks_args_read(&s.args, argv + 1)) {
		(void)dprintf(
		    2, "hpotune-ranks: is started by hpotune, for one trial\n");
		return RANKS_USAGE;
	}
	stop_tree_init(&stop_tree);
	/*
	 * This program gets the orphans of ranks, but not those of a launcher.
	 */
	if (!ranks_args_is_launcher(&s))
		(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	s.signal_fd = signals_open();
	if (s.signal_fd == -1)
		return RANKS_NO_START;
	r = s.args.mode == RANKS_EACH ? start_each(&s) : ranks_start(&s);
	if (r != 0) {
		free(s.rank);
		return r;
	}
	watch(&s);
	ranks_main_end(&s);
}
