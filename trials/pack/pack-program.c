/* The user's program: start, pipes, end, and killing what it leaves. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "trials/metric-line/metric-line.h"
#include "trials/pack/pack-log.h"
#include "trials/pack/pack-program.h"
#include "trials/pack/pack-seats.h"
#include "trials/pack/pack.h"
#include "trials/process/cgroup.h"
#include "trials/process/exec-why.h"
#include "trials/process/proc.h"
#include "trials/process/transient-error.h"

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

static void __attribute__((noreturn)) pack_program_child_run(
    const struct pack *p, pid_t serve, const int fd[3], int out)
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
		(void)cgroup_enter(p->cgroup, 0);
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

/*
 * Close the child's ends of its standard files and of the pipe of the exec, and
 * keep ours.
 */
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

	if (g->in_chdir)
		(void)snprintf(why, sizeof why, "cannot enter %.150s: %s",
		    p->workdir, strerror(error));
	else
		exec_why_text(why, sizeof why, p->workdir, p->argv[0], error);
	pack_log_note(p, "%s", why);
	pack_seats_end(p, PACK_END_NOT_RUN, 0, why);
}

static void
pack_program_greet(struct pack *p)
{
	struct buf b = { 0 };

	buf_printf(
	    &b, "{\"hpotune\":1,\"places\":%lld}\n", (long long)p->places);
	pack_line_io_put(&p->program.in, b.data, b.len);
	buf_free(&b);
}

void
pack_program_start(struct pack *p)
{
	struct pack_program *g = &p->program;
	size_t starts = g->starts + 1;
	pid_t self = getpid();
	int pipes[4][2], error;

	stop_tree_init(g->stop_tree);
	*g = (struct pack_program){ .exec_fd = -1,
		.stop_tree = g->stop_tree,
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
		pack_program_child_run(p, self,
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
	pack_program_greet(p);
}

void
pack_program_end(struct pack *p)
{
	struct pack_program *g = &p->program;

	if (g->phase != PACK_UP)
		return;
	g->phase = PACK_ENDING;
	g->kill_at_ms = p->now_ms + p->grace_ms;
	pack_line_io_flush(&g->in);
	pack_line_io_close(&g->in);
	if (!g->reaped)
		stop_tree_begin(
		    g->stop_tree, &g->pid, 1, p->grace_ms, p->now_ms);
}

static void
pack_program_kill_begin(struct pack *p)
{
	struct pack_program *g = &p->program;

	g->phase = PACK_KILLING;
	g->kill_at_ms = -1;
	g->sweep_at_ms = p->now_ms;
	g->sweep_wait_ms = SWEEP_MIN_MS;
	pack_line_io_close(&g->in);
}

void
pack_program_kill(struct pack *p)
{
	if (p->program.phase == PACK_NONE || p->program.phase == PACK_KILLING)
		return;
	p->program.killed = !p->program.reaped;
	pack_program_kill_begin(p);
}

static void
pack_program_sweep(struct pack *p)
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
pack_program_children_reap(struct pack *p)
{
	struct pack_program *g = &p->program;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == g->pid && !g->reaped) {
			g->reaped = true;
			g->status = status;
			/* The program may be one that this one has started. */
			if (g->phase == PACK_UP)
				pack_program_kill_begin(p);
		}
	return pid == -1 && errno == ECHILD;
}

static void
pack_program_exec_heard(struct pack_program *g)
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
		pack_seats_on_line(p, line, len);
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

/* Tell the program's trials and the log how it ended. */
static void
pack_program_tell_end(struct pack *p)
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
		pack_seats_end(p, PACK_END_OURS, 0, why);
	} else if (WIFEXITED(g->status)) {
		(void)snprintf(why, sizeof why,
		    "its program ended with exit status %d",
		    WEXITSTATUS(g->status));
		pack_seats_end(p, PACK_END_CODE, WEXITSTATUS(g->status), why);
	} else if (WTERMSIG(g->status) == SIGKILL && *p->cgroup != '\0' &&
		   cgroup_oom(p->cgroup)) {
		(void)snprintf(why, sizeof why,
		    "the kernel killed its program for lack of memory");
		pack_seats_end(p, PACK_END_OOM, 0, why);
	} else {
		(void)snprintf(why, sizeof why,
		    "its program ended by signal %d (%s)", WTERMSIG(g->status),
		    strsignal(WTERMSIG(g->status)));
		pack_seats_end(p, PACK_END_SIGNAL, WTERMSIG(g->status), why);
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
		pack_program_exec_heard(g);
	pack_program_tell_end(p);
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

void
pack_program_turn(struct pack *p)
{
	struct pack_program *g = &p->program;

	if (g->phase == PACK_NONE)
		return;
	if (g->exec_fd != -1)
		pack_program_exec_heard(g);
	(void)output_read(p);
	if (g->kill_at_ms >= 0 && p->now_ms >= g->kill_at_ms)
		pack_program_kill(p);
	if (pack_program_children_reap(p)) {
		program_over(p);
		return;
	}
	if (g->phase == PACK_ENDING)
		stop_tree_look(g->stop_tree, p->now_ms);
	if (g->sweep_at_ms >= 0 && p->now_ms >= g->sweep_at_ms)
		pack_program_sweep(p);
	pack_line_io_flush(&g->in);
}

int64_t
pack_program_next_ms(const struct pack *p)
{
	const struct pack_program *g = &p->program;

	const int64_t at[] = { g->sweep_at_ms, g->kill_at_ms,
		g->phase == PACK_ENDING ? g->stop_tree->look_at_ms : -1 };

	return clock_first(at, sizeof at / sizeof at[0]);
}
