/*
 * The server of one place: takes the lock, accepts members, and owns the user's
 * program while it is needed.  It outlives the server and all supervisors.  The
 * user's program: start, pipes, end, and killing what it leaves.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "trials/metric-line/metric-line.h"
#include "trials/pack/pack.h"
#include "trials/process/attempt-record.h"
#include "trials/process/cgroup.h"
#include "trials/process/proc-environ.h"
#include "trials/process/proc.h"
#include "trials/process/transient-error.h"

static void pack_log_raw(struct pack_log *, const char *, size_t);

enum { SWEEP_MIN_MS = 5, SWEEP_MAX_MS = 1000 };

/* Message of a child that could not execute the program. */
struct exec_error {
	int error;
	bool in_chdir;
};

static void
files_restore(const struct pack *p)
{
	struct rlimit files;

	if (p->files == 0 || getrlimit(RLIMIT_NOFILE, &files) == -1)
		return;
	files.rlim_cur = p->files;
	(void)setrlimit(RLIMIT_NOFILE, &files);
}

static void __attribute__((noreturn))
child_run(const struct pack *p, pid_t serve, const int fd[3], int out)
{
	struct exec_error why = { 0 };
	sigset_t none;
	int i;

	/* The kernel ends us with our parent; unless it ended already. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid() != serve)
		_exit(127);
	(void)setpgid(0, 0);
	files_restore(p);
	if (*p->cgroup != '\0')
		(void)cgroup_enter(p->cgroup);
	for (i = 0; i < 3 && why.error == 0; i++)
		if (dup2(fd[i], i) == -1)
			why.error = errno;
	if (why.error == 0 && chdir(p->workdir) == -1) {
		why.error = errno;
		why.in_chdir = true;
	}
	if (why.error == 0) {
		(void)signal(SIGPIPE, SIG_DFL);
		(void)sigemptyset(&none);
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		why.error = transient_error_retry_exec(p->argv);
	}
	if (write(out, &why, sizeof why) == -1)
		_exit(126);
	_exit(127);
}

static int
pipes_open(int pipes[4][2])
{
	int i, error;

	for (i = 0; i < 4; i++)
		pipes[i][0] = pipes[i][1] = -1;
	for (i = 0; i < 4; i++)
		if (pipe2(pipes[i], O_CLOEXEC) == -1) {
			error = errno;
			for (i = 0; i < 4; i++) {
				(void)close(pipes[i][0]);
				(void)close(pipes[i][1]);
			}
			return error;
		}
	return 0;
}

/* Its standard files and the pipe of the exec: the child's ends and ours. */
static void
pipes_keep(struct pack_program *g, int pipes[4][2])
{
	(void)close(pipes[0][0]);
	(void)close(pipes[1][1]);
	(void)close(pipes[2][1]);
	(void)close(pipes[3][1]);
	pack_line_io_open(&g->in, pipes[0][1], 0);
	pack_line_io_open(&g->out, pipes[1][0], METRIC_LINE_MAX);
	pack_line_io_open(&g->err, pipes[2][0], METRIC_LINE_MAX);
	(void)fcntl(pipes[3][0], F_SETFL, O_NONBLOCK);
	g->exec_fd = pipes[3][0];
}

static void
not_run(struct pack *p, int error)
{
	struct pack_program *g = &p->program;
	char why[256];

	(void)snprintf(why, sizeof why, "cannot %s %.150s: %s",
	    g->in_chdir ? "enter" : "run",
	    g->in_chdir ? p->workdir : p->argv[0], strerror(error));
	pack_log_note(p, "%s", why);
	pack_members_end(p, PACK_END_NOT_RUN, 0, why);
}

static void
greet(struct pack *p)
{
	struct buf b = { 0 };

	buf_printf(
	    &b, "{\"hpotune\":1,\"places\":%lld}\n", (long long)p->places);
	pack_line_io_put(&p->program.in, b.data, b.len);
	buf_free(&b);
}

static void
pack_program_start(struct pack *p)
{
	struct pack_program *g = &p->program;
	size_t starts = g->starts + 1;
	pid_t self = getpid();
	int pipes[4][2], error;

	*g = (struct pack_program){ .exec_fd = -1,
		.kill_at_ms = -1,
		.sweep_at_ms = -1,
		.in.fd = -1,
		.out.fd = -1,
		.err.fd = -1,
		.starts = starts };
	if (*p->cgroup != '\0' && cgroup_make(p->cgroup, 0) == -1)
		p->cgroup = "";
	error = pipes_open(pipes);
	if (error != 0) {
		not_run(p, error);
		return;
	}
	g->pid = fork();
	if (g->pid == 0)
		child_run(p, self,
		    (const int[]){ pipes[0][0], pipes[1][1], pipes[2][1] },
		    pipes[3][1]);
	error = errno;
	pipes_keep(g, pipes);
	if (g->pid == -1) {
		pack_line_io_close(&g->in);
		pack_line_io_close(&g->out);
		pack_line_io_close(&g->err);
		(void)close(g->exec_fd);
		g->exec_fd = -1;
		not_run(p, error);
		return;
	}
	g->phase = PACK_UP;
	pack_log_note(
	    p, "start %zu: %s, pid %d", g->starts, p->argv[0], (int)g->pid);
	greet(p);
}

static void
pack_program_end(struct pack *p)
{
	struct pack_program *g = &p->program;

	if (g->phase != PACK_UP)
		return;
	g->phase = PACK_ENDING;
	g->kill_at_ms = p->now_ms + p->grace_ms;
	pack_line_io_flush(&g->in);
	pack_line_io_close(&g->in);
	if (!g->reaped) {
		(void)kill(g->pid, SIGTERM);
		proc_continue_child(g->pid);
	}
}

static void
kill_begin(struct pack *p)
{
	struct pack_program *g = &p->program;

	g->phase = PACK_KILLING;
	g->kill_at_ms = -1;
	g->sweep_at_ms = p->now_ms;
	g->sweep_wait_ms = SWEEP_MIN_MS;
	pack_line_io_close(&g->in);
}

/* Close its input and send SIGTERM; SIGKILL after the grace. */
static void
pack_program_kill(struct pack *p)
{
	if (p->program.phase == PACK_NONE || p->program.phase == PACK_KILLING)
		return;
	p->program.killed = !p->program.reaped;
	kill_begin(p);
}

static void
sweep(struct pack *p)
{
	struct pack_program *g = &p->program;

	if (*p->cgroup != '\0')
		(void)cgroup_kill(p->cgroup);
	if (!g->reaped) {
		(void)kill(-g->pid, SIGKILL);
		(void)kill(g->pid, SIGKILL);
	}
	(void)proc_kill_descendants(getpid());
	g->sweep_at_ms = p->now_ms + g->sweep_wait_ms;
	g->sweep_wait_ms = g->sweep_wait_ms * 2 < SWEEP_MAX_MS
			       ? g->sweep_wait_ms * 2
			       : SWEEP_MAX_MS;
}

/* Reap all ended children; true when no child is left. */
static bool
children_reap(struct pack *p)
{
	struct pack_program *g = &p->program;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == g->pid && !g->reaped) {
			g->reaped = true;
			g->status = status;
			if (g->phase != PACK_KILLING)
				kill_begin(p);
		}
	return pid == -1 && errno == ECHILD;
}

static void
exec_heard(struct pack_program *g)
{
	struct exec_error why;
	ssize_t n = read(g->exec_fd, &why, sizeof why);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	(void)close(g->exec_fd);
	g->exec_fd = -1;
	if (n == sizeof why) {
		g->exec_error = why.error;
		g->in_chdir = why.in_chdir;
	}
}

/* Read each pipe once; true if there was data. */
static bool
output_read(struct pack *p)
{
	struct pack_program *g = &p->program;
	size_t len, had = g->out.skipped;
	bool any = false;
	char *line;

	pack_line_io_read(&g->out);
	while ((line = pack_line_io_next(&g->out, &len)) != NULL) {
		any = true;
		pack_members_on_line(p, line, len);
	}
	if (g->out.skipped > had)
		pack_log_note(p, "skipped: a line of more than %d bytes",
		    METRIC_LINE_MAX);
	pack_line_io_read(&g->err);
	if (g->err.in.len > 0) {
		any = true;
		pack_log_raw(&p->log, g->err.in.data, g->err.in.len);
		buf_clear(&g->err.in);
	}
	return any;
}

/* How it ended, for its trials and for the log. */
static void
tell_end(struct pack *p)
{
	struct pack_program *g = &p->program;
	char why[256];

	if (g->exec_error != 0) {
		not_run(p, g->exec_error);
		return;
	}
	if (g->killed) {
		(void)snprintf(why, sizeof why,
		    "its program did not answer and was ended");
		pack_members_end(p, PACK_END_OURS, 0, why);
	} else if (WIFEXITED(g->status)) {
		(void)snprintf(why, sizeof why,
		    "its program ended with exit status %d",
		    WEXITSTATUS(g->status));
		pack_members_end(p, PACK_END_CODE, WEXITSTATUS(g->status), why);
	} else if (WTERMSIG(g->status) == SIGKILL && *p->cgroup != '\0' &&
		   cgroup_oom(p->cgroup)) {
		(void)snprintf(why, sizeof why,
		    "the kernel killed its program for lack of memory");
		pack_members_end(p, PACK_END_OOM, 0, why);
	} else {
		(void)snprintf(why, sizeof why,
		    "its program ended by signal %d (%s)", WTERMSIG(g->status),
		    strsignal(WTERMSIG(g->status)));
		pack_members_end(p, PACK_END_SIGNAL, WTERMSIG(g->status), why);
	}
	pack_log_note(p, "%s", why);
}

/* No process of it is left: process its last output, and its end. */
static void
program_over(struct pack *p)
{
	struct pack_program *g = &p->program;

	while (output_read(p))
		;
	if (g->exec_fd != -1)
		exec_heard(g);
	tell_end(p);
	if (g->exec_fd != -1)
		(void)close(g->exec_fd);
	g->exec_fd = -1;
	pack_line_io_close(&g->in);
	pack_line_io_close(&g->out);
	pack_line_io_close(&g->err);
	if (*p->cgroup != '\0')
		cgroup_remove(p->cgroup);
	g->phase = PACK_NONE;
	g->kill_at_ms = g->sweep_at_ms = -1;
}

static void
pack_program_turn(struct pack *p)
{
	struct pack_program *g = &p->program;

	if (g->phase == PACK_NONE)
		return;
	if (g->exec_fd != -1)
		exec_heard(g);
	(void)output_read(p);
	if (g->kill_at_ms >= 0 && p->now_ms >= g->kill_at_ms)
		pack_program_kill(p);
	if (children_reap(p)) {
		program_over(p);
		return;
	}
	if (g->sweep_at_ms >= 0 && p->now_ms >= g->sweep_at_ms)
		sweep(p);
	pack_line_io_flush(&g->in);
}

/* Once per iteration: reap children, read output, check times. */
static int64_t
pack_program_next_ms(const struct pack *p)
{
	const struct pack_program *g = &p->program;

	return g->sweep_at_ms >= 0 ? g->sweep_at_ms : g->kill_at_ms;
}

/* The log of a place: two files of bounded size; the older one is replaced. */

#define LOG_OLD PACK_LOG ".old"

enum { LOG_MAX = 4 << 20 /* bytes of one file */ };

static void
pack_log_open(struct pack_log *log, int dir_fd)
{
	struct stat st;

	log->dir_fd = dir_fd;
	log->size = 0;
	log->fd = openat(dir_fd, PACK_LOG,
	    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (log->fd != -1 && fstat(log->fd, &st) == 0)
		log->size = st.st_size;
}

static void
pack_log_raw(struct pack_log *log, const char *text, size_t n)
{
	ssize_t r;

	if (log->size > LOG_MAX) {
		(void)close(log->fd);
		(void)renameat(log->dir_fd, PACK_LOG, log->dir_fd, LOG_OLD);
		pack_log_open(log, log->dir_fd);
	}
	/* What does not fit on the disk is dropped. */
	if (log->fd != -1 && (r = write(log->fd, text, n)) > 0)
		log->size += r;
}

void
pack_log_note(struct pack *p, const char *fmt, ...)
{
	struct buf b = { 0 };
	char text[512], date[32];
	struct tm tm;
	time_t now = time(NULL);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	(void)strftime(
	    date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	buf_printf(&b, "%s hpotune-pack: %s\n", date, text);
	pack_log_raw(&p->log, b.data, b.len);
	buf_free(&b);
}

enum {
	LINGER_MS = 5000, /* before a program without trials is ended */
	AGAIN_MS = 100, /* between two tries at the lock of a place */
	FILES_EACH = 3,
	FILES_OTHER = 64,
	/* limit of another server's answer about its program */
	ANSWER_MS = 10000
};

/* Whether another server of the same program accepts members. */
static bool
is_served(const struct pack *p)
{
	char text[PACK_KEY + 64], answer[4] = "";
	struct pollfd poll_fd = { .events = POLLIN };
	bool is = false;
	int n;

	poll_fd.fd = pack_connect(p->dir_fd);
	if (poll_fd.fd == -1)
		return false;
	n = snprintf(text, sizeof text, "a %s %lld %lld\n", p->key,
	    (long long)p->trial, (long long)p->attempt);
	if (write(poll_fd.fd, text, (size_t)n) == n &&
	    poll(&poll_fd, 1, ANSWER_MS) == 1)
		is = read(poll_fd.fd, answer, sizeof answer - 1) > 0 &&
		     answer[0] == 'w';
	(void)close(poll_fd.fd);
	return is;
}

/* 1: the place is ours; 0: another one serves it; -1 with errno. */
static int
place_take(struct pack *p)
{
	p->lock_fd = openat(p->dir_fd, PACK_LOCK,
	    O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (p->lock_fd == -1)
		return -1;
	while (attempt_record_lock(p->lock_fd) == -1) {
		if (errno != EAGAIN)
			return -1;
		/* Wait for a server that is starting or exiting. */
		if (is_served(p))
			return 0;
		(void)poll(NULL, 0, AGAIN_MS);
	}
	return 1;
}

/* The folder is entered for a moment: a name of a socket must be short. */
static int
door_open(struct pack *p)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX,
		.sun_path = PACK_SOCKET };

	p->listen_fd =
	    socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p->listen_fd == -1 || fchdir(p->dir_fd) == -1)
		return -1;
	(void)unlink(PACK_SOCKET);
	if (bind(p->listen_fd, (struct sockaddr *)&name, sizeof name) == -1)
		return -1;
	return listen(p->listen_fd, PACK_PLACES_MAX);
}

static void
door_close(struct pack *p)
{
	struct pack_member *m;

	if (p->leaving)
		return;
	p->leaving = true;
	(void)unlinkat(p->dir_fd, PACK_SOCKET, 0);
	/*
	 * Waiting connections fail, and their members connect to the next
	 * server.
	 */
	(void)close(p->listen_fd);
	p->listen_fd = -1;
	p->accept_try_ms = -1;
	for (m = p->members; m != NULL; m = m->next)
		if (m->state == PACK_WAITING)
			m->io.over = true;
}

static int
ears_open(struct pack *p)
{
	sigset_t set;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGXFSZ);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	p->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (p->signal_fd == -1)
		return -1;
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void
signals_heard(struct pack *p)
{
	struct signalfd_siginfo info;

	while (read(p->signal_fd, &info, sizeof info) == sizeof info)
		if (info.ssi_signo == SIGTERM && !p->leaving) {
			pack_log_note(p, "it was stopped");
			door_close(p);
			pack_program_end(p);
		}
}

static bool
anybody_waits(const struct pack *p)
{
	const struct pack_member *m;

	for (m = p->members; m != NULL; m = m->next)
		if (m->state == PACK_WAITING)
			return true;
	return false;
}

/* End a program that is not needed or does not respond. */
static void
program_mind(struct pack *p)
{
	bool idle = p->n_members == 0 && p->n_seats == 0;

	if (p->program.phase == PACK_NONE && !p->leaving && anybody_waits(p))
		pack_program_start(p);
	if (pack_members_deaf(p))
		pack_program_kill(p);
	if (!idle) {
		p->leave_at_ms = -1;
		return;
	}
	if (p->leave_at_ms < 0 || p->hasty)
		p->leave_at_ms = p->now_ms + (p->hasty ? 0 : LINGER_MS);
	if (pack_arrivals_until(p) > p->leave_at_ms)
		p->leave_at_ms = pack_arrivals_until(p);
	if (p->now_ms >= p->leave_at_ms) {
		door_close(p);
		pack_program_end(p);
	}
}

/* Milliseconds to the next thing that is to be done; -1 = nothing. */
static int
wait_ms(const struct pack *p)
{
	const int64_t at[] = { p->leaving ? -1 : p->leave_at_ms, p->lock_try_ms,
		p->accept_try_ms, pack_members_next_ms(p),
		pack_program_next_ms(p) };
	int64_t first = clock_first(at, sizeof at / sizeof at[0]);

	if (first < 0)
		return -1;
	return first <= p->now_ms ? 0 : (int)(first - p->now_ms);
}

struct polls {
	struct pollfd *fd;
	size_t n, cap;
};

static void
polls_add(struct polls *polls, int fd, short events)
{
	XGROW(polls->fd, polls->n, polls->cap);
	polls->fd[polls->n++] = (struct pollfd){ .fd = fd, .events = events };
}

static void
polls_add_io(struct polls *polls, const struct pack_line_io *io, bool reads)
{
	short events = 0;

	if (io->fd != -1 && !io->over) {
		events = reads ? POLLIN : 0;
		if (pack_line_io_pending(io) > 0)
			events = (short)(events | POLLOUT);
	}
	polls_add(polls, events != 0 ? io->fd : -1, events);
}

static void
wait_for_something(struct pack *p, struct polls *polls)
{
	struct pack_program *g = &p->program;
	struct pack_member *m;
	size_t i = 6;

	polls->n = 0;
	polls_add(polls, p->signal_fd, POLLIN);
	polls_add(polls, p->accept_try_ms < 0 ? p->listen_fd : -1, POLLIN);
	polls_add(polls, g->exec_fd, POLLIN);
	polls_add_io(polls, &g->in, false);
	polls_add_io(polls, &g->out, true);
	polls_add_io(polls, &g->err, true);
	for (m = p->members; m != NULL; m = m->next)
		polls_add_io(polls, &m->io, true);
	(void)poll(polls->fd, polls->n, wait_ms(p));
	p->now_ms = clock_boot_ms();
	for (m = p->members; m != NULL; m = m->next, i++)
		if ((polls->fd[i].revents & ~POLLOUT) != 0)
			pack_members_read(p, m);
}

/*
 * Two descriptors per trial and one for a waiting member; the program keeps the
 * inherited limit.
 */
static void
files_allow(struct pack *p)
{
	rlim_t want = (rlim_t)p->places * FILES_EACH + FILES_OTHER;
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == -1)
		return;
	p->files = files.rlim_cur;
	if (files.rlim_cur >= want)
		return;
	files.rlim_cur = files.rlim_max < want ? files.rlim_max : want;
	(void)setrlimit(RLIMIT_NOFILE, &files);
}

/* False: no member is left, exit. */
static bool
owner_turn(struct pack *p)
{
	signals_heard(p);
	if (!p->leaving)
		pack_members_admit(p);
	pack_program_turn(p);
	pack_members_sweep(p);
	program_mind(p);
	pack_members_fill(p);
	pack_line_io_flush(&p->program.in);
	pack_members_sweep(p);
	return !p->leaving || p->program.phase != PACK_NONE || p->n_members > 0;
}

int
pack_owner_main(struct pack *p)
{
	struct polls polls = { 0 };
	int r;

	p->dir_fd =
	    open(p->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p->dir_fd == -1)
		return errno;
	r = place_take(p);
	if (r != 1)
		return r == 0 ? 0 : errno;
	/* Kill what a killed predecessor left. */
	(void)proc_environ_kill("HPOTUNE_PACK_DIR", p->dir);
	pack_log_open(&p->log, p->dir_fd);
	p->seats = xcalloc((size_t)p->places, sizeof *p->seats);
	p->now_ms = clock_boot_ms();
	p->leave_at_ms = p->lock_try_ms = p->accept_try_ms = -1;
	files_allow(p);
	pack_arrivals_add(p, p->trial, p->attempt);
	p->program = (struct pack_program){ .exec_fd = -1,
		.in.fd = -1,
		.out.fd = -1,
		.err.fd = -1,
		.kill_at_ms = -1,
		.sweep_at_ms = -1 };
	fail_point("pack.before_door");
	if (ears_open(p) == -1 || door_open(p) == -1) {
		r = errno;
		pack_log_note(p, "cannot listen: %s", strerror(r));
		return r;
	}
	while (owner_turn(p))
		wait_for_something(p, &polls);
	pack_log_note(p, "it leaves");
	free(polls.fd);
	free(p->seats);
	free(p->expected);
	buf_free(&p->line.text);
	return 0;
}
