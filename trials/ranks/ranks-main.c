/*
 * hpotune-ranks: runs between the supervisor and the processes of one trial.
 * It starts them, forwards SIGTERM to each, and when one fails ends the others,
 * which would otherwise wait in a collective operation until a timeout; then it
 * exits as the failed one did.  It restarts no process.
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/mem.h"
#include "trials/process/args.h"
#include "trials/process/proc.h"
#include "trials/process/transient-error.h"
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

/* Whether its child is a launcher, which starts the ranks. */
static bool
is_launcher(const struct ranks *s)
{
	return s->args.mode == RANKS_LAUNCHER || s->args.mode == RANKS_NODE;
}

/* … also on other nodes: it is asked to forward a signal. */
static bool
is_far(const struct ranks *s)
{
	return s->args.mode == RANKS_LAUNCHER && s->args.nodes > 0;
}

/* ---- arguments ---------------------------------------------------------- */

/* "name=value" arguments up to "--", then the command. */
static bool
start_args(struct ranks_args *a, char **argv)
{
	const struct arg table[] = {
		{ "dir=", &a->dir, NULL },
		{ "processes=", NULL, &a->processes },
		{ "nodes=", NULL, &a->nodes },
		{ "servers=", NULL, &a->servers },
		{ "grace-ms=", NULL, &a->grace_ms },
		{ "ports=", NULL, &a->ports },
		{ "place=", NULL, &a->place },
		{ "slots=", NULL, &a->slots },
		{ "cpus=", NULL, &a->cpus },
		{ "log-cap=", NULL, &a->log_cap },
	};

	a->argv = args_read(argv, table, sizeof table / sizeof table[0]);
	if (a->argv == NULL || a->dir == NULL || a->processes < 1 ||
	    a->servers < 0 || a->place < 0)
		return false;
	return true;
}

static bool
mode_read(enum ranks_mode *mode, const char *word)
{
	static const char *const words[] = { [RANKS_START] = "start",
		[RANKS_LAUNCHER] = "launcher",
		[RANKS_NODE] = "node",
		[RANKS_EACH] = "each" };
	size_t i;

	for (i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(words[i], word) == 0) {
			*mode = (enum ranks_mode)i;
			return true;
		}
	return false;
}

/* Parse a mode, "name=value" words, "--" and the command. */
static bool
ranks_args_read(struct ranks_args *a, char **argv)
{
	*a = (struct ranks_args){ .processes = 1, .slots = 1 };
	return mode_read(&a->mode, argv[0]) && start_args(a, argv + 1);
}

/* ---- output files ------------------------------------------------------- */

/*
 * Output files of the processes.  Rank 0 writes to the log of the trial, each
 * other rank to a file of its own with the same cap.
 */

enum { BLOCK = 65536 /* a hole ends at a multiple of this */ };

void
ranks_output_name(char *text, size_t n, enum rank_role role, int number)
{
	if (role == RANK_SERVER)
		(void)snprintf(text, n, "ps-%d.log", number);
	else if (role == RANK_WORKER && number > 0)
		(void)snprintf(text, n, "rank-%d.log", number);
	else
		(void)snprintf(text, n, "log");
}

/* Redirect stdout and stderr of this process to the rank's file. */
static int
ranks_output_redirect(const struct ranks *s, const struct rank *r)
{
	char name[32];
	int fd, rc;

	/* Rank 0 has the log already, unless a launcher stands between. */
	if (r->role == RANK_LAUNCHER ||
	    (r->role == RANK_WORKER && r->number == 0 &&
		s->args.mode == RANKS_START))
		return 0;
	ranks_output_name(name, sizeof name, r->role, r->number);
	fd = openat(s->dir_fd, name,
	    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return -1;
	rc = dup2(fd, 1) == -1 || dup2(fd, 2) == -1 ? -1 : 0;
	(void)close(fd);
	return rc;
}

/* From its head each time: what is a hole already costs nothing. */
static void
file_punch(int dir_fd, const char *name, int64_t cap)
{
	struct stat st;
	off_t end;
	int fd = openat(
	    dir_fd, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd == -1)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > cap) {
		end = (st.st_size - cap) / BLOCK * BLOCK;
		if (end > 0)
			(void)fallocate(fd,
			    FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, end);
	}
	(void)close(fd);
}

/* Punch out what exceeds the cap. */
static void
ranks_output_check(const struct ranks *s)
{
	const struct ranks_args *a = &s->args;
	char name[32];
	int i;

	for (i = 1; i < a->processes; i++) {
		ranks_output_name(name, sizeof name, RANK_WORKER, i);
		file_punch(s->dir_fd, name, a->log_cap);
	}
	for (i = 0; i < a->servers; i++) {
		ranks_output_name(name, sizeof name, RANK_SERVER, i);
		file_punch(s->dir_fd, name, a->log_cap);
	}
}

/* ---- ranks of a launcher ------------------------------------------------ */

/*
 * Ranks started by an external launcher.  Each has a wrapper that records how
 * it ends and registers its pid, so that a stop reaches the ranks directly:
 * launchers would kill them after a second, or thirty.
 */

/* Register the pid of a rank; pid 0: it has ended. */
static void
ranks_wrapper_register(int dir_fd, int rank, pid_t pid)
{
	char name[32], text[32];
	int fd, n;

	(void)snprintf(name, sizeof name, "rank-%d.pid", rank);
	n = snprintf(text, sizeof text, "%d\n", (int)pid);
	fd = openat(dir_fd, name,
	    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return;
	if (write(fd, text, (size_t)n) != n)
		(void)unlinkat(dir_fd, name, 0);
	(void)close(fd);
}

/* Whether the signal was sent, or is not needed. */
static bool
rank_forward_signal(int dir_fd, int rank)
{
	char name[32], text[32];
	long pid;

	(void)snprintf(name, sizeof name, "rank-%d.pid", rank);
	if (file_read(dir_fd, name, text, sizeof text) <= 0)
		return false;
	pid = strtol(text, NULL, 10);
	if (pid == 0)
		return true;
	(void)snprintf(name, sizeof name, "/proc/%ld/comm", pid);
	/* Pids are reused. */
	if (file_read(AT_FDCWD, name, text, sizeof text) > 0 &&
	    strcmp(text, "hpotune-ranks\n") == 0)
		(void)kill((pid_t)pid, SIGTERM);
	return true;
}

/*
 * Send SIGTERM to each rank of a launcher: false when some have not registered
 * yet.
 */
static bool
ranks_wrapper_signal(const struct ranks *s)
{
	int n = (int)ranks_env_per_node(&s->args), first = s->node * n, i;
	bool all = true;

	for (i = first; i < first + n; i++)
		all &= rank_forward_signal(s->dir_fd, i);
	return all;
}

/* Whether the ranks of all nodes have registered, and handle the signal. */
static bool
ranks_wrapper_all(const struct ranks *s)
{
	char name[32], text[32];
	int i;

	for (i = 0; i < s->args.processes; i++) {
		(void)snprintf(name, sizeof name, "rank-%d.pid", i);
		if (file_read(s->dir_fd, name, text, sizeof text) <= 0)
			return false;
	}
	return true;
}

static void
ranks_wrapper_forget(const struct ranks *s)
{
	char name[32];
	int i;

	for (i = 0; i < s->args.processes; i++) {
		(void)snprintf(name, sizeof name, "rank-%d.pid", i);
		(void)unlinkat(s->dir_fd, name, 0);
	}
}

/* ---- one process: the setup in the child -------------------------------- */

/* Writes an errno to out; nothing on success. */
static void __attribute__((noreturn))
child_run(const struct ranks *s, const struct rank *r, pid_t parent, int out)
{
	sigset_t none;
	int error;

	/*
	 * The kernel kills us when the parent dies; check that it has not
	 * already.
	 */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid() != parent)
		_exit(127);
	(void)setpgid(0, 0);
	/* srun sends what it forwards to all processes of a task. */
	if (s->args.nodes > 0 && !is_far(s))
		(void)signal(SIGUSR2, SIG_IGN);
	if (s->args.mode == RANKS_START)
		ranks_env_rank(&s->args, s->lease.first, r->role, r->number);
	if (ranks_output_redirect(s, r) == -1)
		error = errno;
	else {
		(void)sigemptyset(&none);
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		error = transient_error_retry_exec(s->args.argv);
	}
	if (write(out, &error, sizeof error) == -1)
		_exit(126);
	_exit(127);
}

/* Read the child's error; EOF after its exec. */
static int
child_heard(int in)
{
	int error = 0;
	ssize_t n;

	do
		n = read(in, &error, sizeof error);
	while (n == -1 && errno == EINTR);
	return n == sizeof error ? error : 0;
}

/* Start a process: 0, or an errno. */
static int
ranks_spawn(struct ranks *s, struct rank *r)
{
	pid_t self = getpid();
	int p[2], error;

	if (pipe2(p, O_CLOEXEC) == -1)
		return errno;
	r->pid = fork();
	if (r->pid == 0)
		child_run(s, r, self, p[1]);
	error = r->pid == -1 ? errno : 0;
	(void)close(p[1]);
	if (r->pid == -1)
		r->pid = 0;
	else {
		/* By both, so that it is done for either. */
		(void)setpgid(r->pid, r->pid);
		error = child_heard(p[0]);
	}
	(void)close(p[0]);
	return error;
}

/* ---- from the first start until no process is left ---------------------- */

/* Those that are begun here. */
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
	if (is_launcher(s))
		s->rank[0].role = RANK_LAUNCHER;
	if (a->mode == RANKS_EACH)
		s->rank[0].number = number;
}

static void
rank_signal(const struct rank *r, int sig)
{
	if (r->pid == 0)
		return;
	/* It is not reaped: the number is its own.  So is its group. */
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
 * SIGTERM goes to main processes only: they may need their workers to save a
 * checkpoint.
 */
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
	if (!s->told)
		all_signal(s, is_far(s) ? SIGUSR2 : SIGTERM);
}

static void
rank_over(struct ranks *s, struct rank *r, int status)
{
	r->pid = 0;
	r->status = status;
	r->bad = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	if (!r->bad || s->told || (s->ending && !is_far(s)))
		return;
	s->cause = r;
	/* A rank that it has started was the first. */
	if (s->ending)
		return;
	ranks_first_failure(s, r);
	end_begin(s);
}

static void
children_reap(struct ranks *s)
{
	int status;
	pid_t pid;
	size_t i;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (i = 0; i < s->n; i++)
			if (s->rank[i].pid == pid)
				rank_over(s, &s->rank[i], status);
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
launcher_signal(struct ranks *s)
{
	int64_t now = clock_boot_ms();

	s->signal_at_ms = -1;
	if (is_far(s) ? ranks_wrapper_all(s) : ranks_wrapper_signal(s)) {
		if (is_far(s))
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
	    clock_boot_ms() + (is_far(s) ? TELL_FAR_MS : TELL_MOST_MS);
	if (is_launcher(s))
		launcher_signal(s);
	else
		all_signal(s, SIGTERM);
}

static void
signals_heard(struct ranks *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof info) == sizeof info)
		if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGUSR2)
			end_received(s);
}

static int
wait_ms(const struct ranks *s)
{
	const int64_t at[] = { s->kill_at_ms, s->servers_at_ms, s->output_at_ms,
		s->signal_at_ms, s->cause_at_ms };
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
timers_run(struct ranks *s)
{
	int64_t now = clock_boot_ms();

	if (s->cause_at_ms >= 0 && now >= s->cause_at_ms) {
		cause_look(s);
		s->cause_at_ms = s->ending ? -1 : now + CAUSE_MS;
	}
	if (s->kill_at_ms >= 0 && now >= s->kill_at_ms) {
		/* SIGKILL would leave the ranks of other nodes. */
		all_signal(s, is_far(s) && !s->ending_told ? SIGTERM : SIGKILL);
		if (is_far(s) && !s->ending_told)
			now += GRACE_MS;
		s->ending_told = true;
		s->kill_at_ms = now + AGAIN_MS;
	}
	if (s->signal_at_ms >= 0 && now >= s->signal_at_ms)
		launcher_signal(s);
	if (s->output_at_ms >= 0 && now >= s->output_at_ms) {
		ranks_output_check(s);
		s->output_at_ms = now + OUTPUT_MS;
	}
}

/* Run until no process is left. */
static void
watch(struct ranks *s)
{
	struct pollfd p = { .fd = s->signal_fd, .events = POLLIN };

	for (;;) {
		signals_heard(s);
		children_reap(s);
		servers_end(s);
		if (alive(s, RANK_WORKER) + alive(s, RANK_SERVER) +
			alive(s, RANK_LAUNCHER) ==
		    0)
			break;
		timers_run(s);
		(void)poll(&p, 1, wait_ms(s));
	}
	if (s->output_at_ms >= 0)
		ranks_output_check(s);
}

/* If a start fails, the supervisor kills the processes started before. */
static int
all_spawn(struct ranks *s)
{
	struct err e = ERR_INIT;
	int error;
	size_t i;

	for (i = 0; i < s->n; i++) {
		error = ranks_spawn(s, &s->rank[i]);
		if (error == 0)
			continue;
		(void)err_set(&e, ERR_LAUNCH, RANKS_CANNOT "%s: %s",
		    s->args.argv[0], strerror(error));
		ranks_first_failure_start(s, e.text);
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

/* 0, or an exit status. */
static int
start(struct ranks *s)
{
	struct err e = ERR_INIT;

	if (dir_open(s) == -1)
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
	if (is_far(s))
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

	if (dir_open(s) == -1)
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
static void __attribute__((noreturn)) end(const struct ranks *s)
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
	struct ranks s = { .kill_at_ms = -1,
		.output_at_ms = -1,
		.servers_at_ms = -1,
		.signal_at_ms = -1,
		.cause_at_ms = -1 };
	int r;

	if (argc < 3 || !ranks_args_read(&s.args, argv + 1)) {
		(void)dprintf(
		    2, "hpotune-ranks: is started by hpotune, for one trial\n");
		return RANKS_USAGE;
	}
	s.signal_fd = signals_open();
	if (s.signal_fd == -1)
		return RANKS_NO_START;
	r = s.args.mode == RANKS_EACH ? start_each(&s) : start(&s);
	if (r != 0) {
		free(s.rank);
		return r;
	}
	watch(&s);
	end(&s);
}
