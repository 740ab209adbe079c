/* Whom the stop of a trial reaches, and when. */

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "trials/process/proc.h"
#include "trials/process/slurm-step.h"
#include "trials/process/stop-tree.h"

enum {
	LOOK_MIN_MS = 5,
	LOOK_MAX_MS = 250,
	/* A process that may have heard it from another one has so long ... */
	SOON_MS = 1000, /* ... when that is unlikely, */
	LATE_PART = 4, /* ... or this part of the grace, when it is likely */
	/* A process that has the processor, or waits for it, is looked at again */
	LOOKS_MOST = 40, /* so many times */
	LOOKS_MS = 25, /* at intervals of this */
	/* Descriptors in which a program that follows a file has that file. */
	FOLLOWED_FDS = 10,
	PTMX_MAJOR = 5, /* of /dev/ptmx: Documentation/admin-guide/devices */
	PTMX_MINOR = 2
};

void
stop_tree_init(struct stop_tree *t)
{
	t->n = 0;
	t->look_at_ms = -1;
}

static bool
stop_tree_has(uint64_t mask, int signo)
{
	return (mask >> (signo - 1) & 1) != 0;
}

static enum stop_tree_way
stop_tree_way(const struct proc_signals *s)
{
	if (stop_tree_has(s->ignored, SIGTERM))
		return STOP_TREE_IGNORES;
	return stop_tree_has(s->caught | s->blocked, SIGTERM)
		   ? STOP_TREE_CATCHES
		   : STOP_TREE_DIES;
}

static bool
stop_tree_dies(pid_t pid)
{
	struct proc_signals s = { 0 };

	return proc_signals(pid, &s) && stop_tree_way(&s) == STOP_TREE_DIES;
}

/* A version may follow the name, or the mark of a file that was replaced. */
static bool
stop_tree_is(const char *exe, const char *const *names, size_t n)
{
	size_t i, len;

	for (i = 0; i < n; i++) {
		len = strlen(names[i]);
		if (strncmp(exe, names[i], len) == 0 &&
		    !isalpha((unsigned char)exe[len]))
			return true;
	}
	return false;
}

static bool
stop_tree_is_shell(const char *exe)
{
	static const char *const names[] = { "sh", "bash", "dash", "ash",
		"busybox", "zsh", "ksh", "mksh", "lksh", "pdksh", "rbash",
		"yash", "posh", "fish", "tcsh", "csh" };

	return stop_tree_is(exe, names, sizeof names / sizeof names[0]);
}

/* Whether a process serves others, which would break: a display, fakeroot. */
static bool
stop_tree_is_screen(const char *exe)
{
	static const char *const names[] = { "Xvfb", "Xorg", "Xvnc",
		"Xtigervnc", "faked" };

	return stop_tree_is(exe, names, sizeof names / sizeof names[0]);
}

/*
 * Programs whose end is that of the one below them: those that give it a terminal,
 * those that kill it a second or two after they have passed the signal on, and those
 * that wait for it and pass nothing on.
 */
static bool
stop_tree_is_holder(const char *exe)
{
	static const char *const names[] = { "script", "expect", "tclsh",
		"tmux", "screen", "su", "runuser", "orterun", "prterun",
		"mpirun", "mpiexec", "gdb", "ninja", "samu", "cmake", "ctest" };

	return stop_tree_is(exe, names, sizeof names / sizeof names[0]);
}

/* Whether this descriptor, an entry of /proc/PID/fd, is one of those that are looked for. */
typedef bool stop_tree_wanted(int dir_fd, const char *name, const void *arg);

/* Whether a process has such a descriptor. */
static bool
stop_tree_has_open(pid_t pid, stop_tree_wanted *wanted, const void *arg)
{
	char path[64];
	const struct dirent *d;
	bool has = false;
	DIR *dir;

	(void)snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (dir == NULL)
		return false;
	while (!has && (d = readdir(dir)) != NULL)
		has = isdigit((unsigned char)d->d_name[0]) &&
		      wanted(dirfd(dir), d->d_name, arg);
	(void)closedir(dir);
	return has;
}

/* The upper end of a pseudoterminal, as pty.spawn() has it. */
static bool
stop_tree_is_ptmx(int dir_fd, const char *name, const void *arg)
{
	struct stat at;

	(void)arg;
	return fstatat(dir_fd, name, &at, 0) == 0 && S_ISCHR(at.st_mode) &&
	       at.st_rdev == makedev(PTMX_MAJOR, PTMX_MINOR);
}

/* The text of a file of /proc, with a zero behind it; its length, or -1. */
static ssize_t
stop_tree_text(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd == -1 ? -1 : read(fd, text, size - 1);
	if (fd != -1)
		(void)close(fd);
	if (n >= 0)
		text[n] = '\0';
	return n;
}

/* What a process does at this moment. */
enum stop_tree_now {
	STOP_TREE_WAITS, /* for a child, and nothing else */
	STOP_TREE_SLEEPS, /* for a while, as one that looks again and again */
	STOP_TREE_RUNS, /* it has the processor, or waits for it */
	STOP_TREE_OTHER /* or the system does not say */
};

static enum stop_tree_now
stop_tree_now(pid_t pid)
{
	char text[128], *end;
	unsigned long first;
	long call;

	if (stop_tree_text(pid, "syscall", text, sizeof text) <= 0)
		return STOP_TREE_OTHER;
	if (strncmp(text, "running", strlen("running")) == 0)
		return STOP_TREE_RUNS;
	if (!isdigit((unsigned char)*text))
		return STOP_TREE_OTHER;
	call = strtol(text, &end, 10);
	first = strtoul(end, &end, 16);
	switch (call) {
	case SYS_wait4:
	case SYS_waitid:
		return STOP_TREE_WAITS;
	case SYS_clock_nanosleep:
	case SYS_nanosleep:
		return STOP_TREE_SLEEPS;
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6: /* of no descriptor */
		return first == 0 ? STOP_TREE_SLEEPS : STOP_TREE_OTHER;
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll:
		return strtoul(end, NULL, 16) == 0 ? STOP_TREE_SLEEPS
						   : STOP_TREE_OTHER;
	default:
		return STOP_TREE_OTHER;
	}
}

/* Whether a process is the kernel of a notebook, which ends with its parent. */
static bool
stop_tree_is_notebook(pid_t pid, const char *exe)
{
	static const char name[] = "ipykernel";
	char text[512];
	ssize_t n;

	if (strncmp(exe, "python", 6) != 0)
		return false;
	n = stop_tree_text(pid, "cmdline", text, sizeof text);
	return n > 0 && memmem(text, (size_t)n, name, sizeof name - 1) != NULL;
}

static bool
stop_tree_has_option(pid_t pid, const char *a, const char *b)
{
	char text[512];
	ssize_t n = stop_tree_text(pid, "cmdline", text, sizeof text), at;

	if (n <= 0)
		return false;
	for (at = (ssize_t)strlen(text) + 1; at < n && text[at] == '-';
	     at += (ssize_t)strlen(text + at) + 1)
		if (strcmp(text + at, a) == 0 || strcmp(text + at, b) == 0)
			return true;
	return false;
}

/* Whether a process is a program that passes SIGTERM on to its whole group. */
static bool
stop_tree_to_group(pid_t pid, const char *exe)
{
	static const struct {
		const char *name;
		bool by_default; /* and not with this option */
		const char *option, *option_long;
	} known[] = { { "timeout", true, "-f", "--foreground" },
		{ "dumb-init", true, "-c", "--single-child" },
		{ "tini", false, "-g", "-g" },
		{ "docker-init", false, "-g", "-g" } };
	size_t i;

	for (i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(exe, known[i].name) == 0)
			return stop_tree_has_option(pid, known[i].option,
				   known[i].option_long) != known[i].by_default;
	return false;
}

static struct stop_tree_one *
stop_tree_add(struct stop_tree *t, pid_t pid, pid_t parent, int64_t start)
{
	struct proc_signals s = { 0 };
	struct stop_tree_one *o;
	char exe[512];

	if (t->n == STOP_TREE_MAX)
		return NULL;
	o = &t->one[t->n++];
	*o = (struct stop_tree_one){
		.pid = pid, .parent = parent, .start = start, .tell_at_ms = -1
	};
	/* A process that is gone dies. */
	(void)proc_signals(pid, &s);
	o->way = stop_tree_way(&s);
	o->handler = stop_tree_has(s.caught, SIGTERM);
	o->no_int = stop_tree_has(s.ignored, SIGINT);
	o->no_quit = stop_tree_has(s.ignored, SIGQUIT);
	if (proc_exe(pid, exe, sizeof exe)) {
		/* A shell blocks it for a moment as it starts a program. */
		if (stop_tree_is_shell(exe))
			s.blocked = 0;
		o->way = stop_tree_way(&s);
		o->shell = stop_tree_is_shell(exe);
		o->screen = stop_tree_is_screen(exe);
		o->terminal = stop_tree_is_holder(exe);
		o->follows = strcmp(exe, "tail") == 0;
		o->to_group = stop_tree_to_group(pid, exe);
		o->srun = slurm_step_is_srun(exe);
		o->notebook = stop_tree_is_notebook(pid, exe);
		o->node = strcmp(exe, "node") == 0;
	}
	return o;
}

static struct stop_tree_one *
stop_tree_find(struct stop_tree *t, pid_t pid)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->one[i].pid == pid)
			return &t->one[i];
	return NULL;
}

static bool
stop_tree_lives(const struct stop_tree_one *o)
{
	struct proc_stat s;

	return proc_stat(o->pid, &s) && s.start == o->start && s.state != 'Z';
}

static bool
stop_tree_main_lives(const struct stop_tree *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->one[i].is_main && stop_tree_lives(&t->one[i]))
			return true;
	return false;
}

struct stop_tree_end {
	const struct stat *pipe; /* or file */
	mode_t mode; /* open for writing, or for reading */
};

static bool
stop_tree_is_end(int dir_fd, const char *name, const void *arg)
{
	const struct stop_tree_end *end = arg;
	struct stat at, link;

	return fstatat(dir_fd, name, &at, 0) == 0 &&
	       at.st_ino == end->pipe->st_ino &&
	       at.st_dev == end->pipe->st_dev &&
	       fstatat(dir_fd, name, &link, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (link.st_mode & end->mode) != 0;
}

/* Whether a process has this pipe or file open: for writing, or for reading. */
static bool
stop_tree_has_pipe(pid_t pid, const struct stat *pipe, mode_t mode)
{
	const struct stop_tree_end end = { pipe, mode };

	return stop_tree_has_open(pid, stop_tree_is_end, &end);
}

/* The pipe that this descriptor of a process is, if it is one. */
static bool
stop_tree_pipe(pid_t pid, int fd, struct stat *pipe)
{
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
	return stat(path, pipe) == 0 && S_ISFIFO(pipe->st_mode);
}

/*
 * Whether a process that writes to this one is above it, and reads what it prints, as
 * a script does with a coprocess: neither of them ends first by itself.
 */
static bool
stop_tree_in_turn(
    const struct stop_tree *t, const struct stop_tree_one *o, pid_t writer)
{
	pid_t up = o->parent;
	struct stat pipe;
	size_t i;

	while (up != writer) {
		for (i = 0; i < t->n && t->one[i].pid != up; i++)
			;
		if (i == t->n || t->one[i].parent == up)
			return false;
		up = t->one[i].parent;
	}
	return stop_tree_pipe(writer, STDIN_FILENO, &pipe) &&
	       stop_tree_has_pipe(o->pid, &pipe, S_IWUSR);
}

/* Whether another process of the trial writes to this pipe or file. */
static bool
stop_tree_is_written(const struct stop_tree *t, const struct stop_tree_one *o,
    const struct stat *pipe)
{
	struct proc_node list[STOP_TREE_MAX];
	size_t i, n;

	/* The tasks of srun are not below us. */
	for (i = 0; i < t->n; i++)
		if (t->one[i].pid != o->pid &&
		    stop_tree_has_pipe(t->one[i].pid, pipe, S_IWUSR) &&
		    !stop_tree_in_turn(t, o, t->one[i].pid))
			return true;
	n = proc_descendants(t->root, list, STOP_TREE_MAX);
	for (i = 0; i < n; i++)
		if (list[i].pid != o->pid &&
		    stop_tree_has_pipe(list[i].pid, pipe, S_IWUSR) &&
		    !stop_tree_in_turn(t, o, list[i].pid))
			return true;
	return false;
}

/* What a process has opened by its name to pass it on: a FIFO, or what tail reads. */
static bool
stop_tree_followed(const struct stop_tree_one *o, int fd, struct stat *file)
{
	char path[64], name[8];
	struct stat link;
	ssize_t n;

	(void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)o->pid, fd);
	if (lstat(path, &link) == -1 || (link.st_mode & S_IRUSR) == 0 ||
	    stat(path, file) == -1)
		return false;
	if (S_ISREG(file->st_mode))
		return o->follows;
	n = readlink(path, name, sizeof name);
	return S_ISFIFO(file->st_mode) && n > 0 && *name == '/';
}

/* Whether a process reads from another one of the trial, as tee does. */
static bool
stop_tree_reads(const struct stop_tree *t, const struct stop_tree_one *o)
{
	struct stat pipe;
	int fd;

	if (stop_tree_pipe(o->pid, STDIN_FILENO, &pipe) &&
	    stop_tree_is_written(t, o, &pipe))
		return true;
	/* A shell, or who has a handler, does more than to pass it on. */
	if (o->shell || o->handler)
		return false;
	for (fd = 0; fd < FOLLOWED_FDS; fd++)
		if (stop_tree_followed(o, fd, &pipe) &&
		    stop_tree_is_written(t, o, &pipe))
			return true;
	return false;
}

/* Whether a process runs that was below this one as the stop began. */
static bool
stop_tree_has_child(const struct stop_tree *t, pid_t pid)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->one[i].parent == pid && stop_tree_lives(&t->one[i]))
			return true;
	return false;
}

/* Whether another process of the trial runs. */
static bool
stop_tree_has_other(const struct stop_tree *t, const struct stop_tree_one *o)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (&t->one[i] != o && stop_tree_lives(&t->one[i]))
			return true;
	return false;
}

static bool
stop_tree_is_socket(int dir_fd, const char *name, const void *arg)
{
	struct stat at;

	(void)arg;
	return fstatat(dir_fd, name, &at, 0) == 0 && S_ISSOCK(at.st_mode);
}

/* The file that this descriptor of a process is. */
static bool
stop_tree_file(pid_t pid, int fd, struct stat *file)
{
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
	return stat(path, file) == 0;
}

/* Whether a process prints where another one does. */
static bool
stop_tree_prints_with(pid_t pid, pid_t other)
{
	struct stat a, b;

	return stop_tree_file(pid, STDOUT_FILENO, &a) &&
	       stop_tree_file(other, STDOUT_FILENO, &b) &&
	       a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/* Whether a process was below another one as the stop began. */
static bool
stop_tree_is_below(
    const struct stop_tree *t, const struct stop_tree_one *o, pid_t up)
{
	size_t i, steps;

	for (steps = 0; steps < t->n; steps++) {
		if (o->parent == up)
			return true;
		for (i = 0; i < t->n && t->one[i].pid != o->parent; i++)
			;
		if (i == t->n)
			return false;
		o = &t->one[i];
	}
	return false;
}

/*
 * Whether a process prints to a socket of one above it, as below Node: which other
 * end a socket has is not shown.
 */
static bool
stop_tree_prints_to(const struct stop_tree *t, const struct stop_tree_one *o,
    const struct stop_tree_one *up)
{
	struct stat file;

	return o != up && stop_tree_file(o->pid, STDOUT_FILENO, &file) &&
	       S_ISSOCK(file.st_mode) && stop_tree_lives(o) &&
	       stop_tree_is_below(t, o, up->pid) &&
	       !stop_tree_prints_with(o->pid, up->pid) &&
	       stop_tree_has_open(up->pid, stop_tree_is_socket, NULL);
}

/*
 * Whether a process would die, or is Node, which catches the signal to die, and
 * reads what another one prints, to pass it on.  What a shell reads so it does not pass on.
 */
static bool
stop_tree_relays(const struct stop_tree *t, const struct stop_tree_one *o)
{
	struct stat pipe;
	size_t i;
	int fd;

	if (o->shell || (!o->relays && !o->node && o->way != STOP_TREE_DIES))
		return false;
	for (i = 0; i < t->n && t->one[i].parent != o->pid; i++)
		;
	if (i == t->n)
		return false;
	for (i = 0; i < t->n; i++) {
		if (stop_tree_prints_to(t, &t->one[i], o))
			return true;
		for (fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
			if (&t->one[i] != o &&
			    stop_tree_pipe(t->one[i].pid, fd, &pipe) &&
			    stop_tree_has_pipe(o->pid, &pipe, S_IRUSR) &&
			    stop_tree_lives(&t->one[i]))
				return true;
	}
	return false;
}

/*
 * Whether a process that sleeps is a wrapper of its child, which it looks for again and
 * again: it has used little time, and has executed another program, which prints where
 * it does and reads nothing from it.  A program with a helper is not one.
 */
static bool
stop_tree_looks_after(
    const struct stop_tree_one *o, const struct stop_tree_one *child)
{
	char line[256], other[256];
	struct proc_stat s, below;
	struct stat pipe;
	ssize_t n, m;

	if (!stop_tree_prints_with(child->pid, o->pid) ||
	    !proc_stat(o->pid, &s) || !proc_stat(child->pid, &below) ||
	    (s.cpu >= sysconf(_SC_CLK_TCK) && s.cpu * 10 > below.cpu) ||
	    (stop_tree_pipe(child->pid, STDIN_FILENO, &pipe) &&
		stop_tree_has_pipe(o->pid, &pipe, S_IWUSR)))
		return false;
	n = stop_tree_text(o->pid, "cmdline", line, sizeof line);
	m = stop_tree_text(child->pid, "cmdline", other, sizeof other);
	return n > 0 && m > 0 &&
	       (n != m || memcmp(line, other, (size_t)n) != 0);
}

/*
 * The child with a handler of a process with one; NULL: there is none.  only: it has
 * no other child.
 */
static const struct stop_tree_one *
stop_tree_handler_below(
    const struct stop_tree *t, const struct stop_tree_one *o, bool *only)
{
	const struct stop_tree_one *child = NULL;
	size_t i, n = 0;

	if (!o->handler || o->shell || o->to_group || o->srun)
		return NULL;
	for (i = 0; i < t->n; i++) {
		if (t->one[i].parent != o->pid || !stop_tree_lives(&t->one[i]))
			continue;
		n++;
		if (child == NULL && t->one[i].handler && !t->one[i].shell)
			child = &t->one[i];
	}
	*only = n == 1;
	return child;
}

/*
 * Whether a process with a handler only waits for a child with one, as
 * subprocess.call() of Python does: what it does at the signal is to pass that on, to
 * kill the child or to forget it.
 */
static bool
stop_tree_is_before(const struct stop_tree *t, const struct stop_tree_one *o)
{
	const struct stop_tree_one *child;
	enum stop_tree_now now;
	bool only;

	child = stop_tree_handler_below(t, o, &only);
	if (child == NULL)
		return false;
	now = stop_tree_now(o->pid);
	return now == STOP_TREE_WAITS || (now == STOP_TREE_SLEEPS && only &&
					     stop_tree_looks_after(o, child));
}

/*
 * Whether a process may be such a one that is just between two of its waits, as on a
 * busy machine: a wrapper waits or sleeps at one of the next looks, a program that
 * computes at none.
 */
static bool
stop_tree_is_between(const struct stop_tree *t, struct stop_tree_one *o)
{
	const struct stop_tree_one *child;
	bool only;

	if (o->told || o->waited || o->looks >= LOOKS_MOST)
		return false;
	child = stop_tree_handler_below(t, o, &only);
	if (child == NULL || !only || stop_tree_now(o->pid) != STOP_TREE_RUNS ||
	    !stop_tree_looks_after(o, child))
		return false;
	o->looks++;
	return true;
}

/* Whether the end of this one would disturb others, after whom it ends. */
static bool
stop_tree_is_last(const struct stop_tree *t, struct stop_tree_one *o)
{
	o->relays = stop_tree_relays(t, o);
	if (!o->terminal && !o->told && o->way == STOP_TREE_DIES)
		o->terminal =
		    stop_tree_has_open(o->pid, stop_tree_is_ptmx, NULL);
	if (!o->terminal && !o->told && !o->waited)
		o->terminal = stop_tree_is_before(t, o);
	return o->relays || (o->terminal && stop_tree_has_child(t, o->pid)) ||
	       (o->screen && stop_tree_has_other(t, o)) ||
	       stop_tree_reads(t, o);
}

static void
stop_tree_plan(struct stop_tree_one *o, int64_t at_ms)
{
	if (!o->told && (o->tell_at_ms < 0 || o->tell_at_ms > at_ms))
		o->tell_at_ms = at_ms;
}

static int64_t
stop_tree_late_ms(const struct stop_tree *t)
{
	return t->grace_ms / LATE_PART;
}

static int64_t
stop_tree_soon_ms(const struct stop_tree *t)
{
	int64_t late = stop_tree_late_ms(t);

	return late < SOON_MS ? late : SOON_MS;
}

/*
 * The shell waits for it, unless it is a job put behind by "&".  Nobody knows
 * below a shell that is such a job itself.
 */
static bool
stop_tree_in_front(
    const struct stop_tree_one *o, const struct stop_tree_one *shell)
{
	return !o->no_quit || (shell->no_int && shell->no_quit);
}

/*
 * When the child in front of a shell with a trap is told.  A script that does
 * short steps and ends by its trap is left to do so; longer still one whose
 * output a script takes, as in x=$(command).
 */
static int64_t
stop_tree_front_ms(const struct stop_tree *t, const struct stop_tree_one *o,
    const struct stop_tree_one *shell)
{
	struct stat pipe;

	return stop_tree_pipe(o->pid, STDOUT_FILENO, &pipe) &&
		       stop_tree_has_pipe(shell->pid, &pipe, S_IRUSR)
		   ? stop_tree_late_ms(t)
		   : stop_tree_soon_ms(t);
}

/*
 * Plan for those whom this one, which was or will be told, does not tell; false:
 * it was done, or it tells them.
 */
static bool
stop_tree_pass(struct stop_tree *t, struct stop_tree_one *up, int64_t now_ms)
{
	struct stop_tree_one *o;
	size_t i;

	if (up->passed || up->way == STOP_TREE_DIES ||
	    (up->way == STOP_TREE_CATCHES && !up->shell))
		return false;
	up->passed = true;
	for (i = 0; i < t->n; i++) {
		o = &t->one[i];
		if (o->parent != up->pid || o->is_main)
			continue;
		/* A shell that leads the session of a terminal. */
		o->terminal |= up->terminal && o->shell;
		if (up->way == STOP_TREE_CATCHES && stop_tree_in_front(o, up))
			stop_tree_plan(
			    o, now_ms + stop_tree_front_ms(t, o, up));
		else if (up->way == STOP_TREE_IGNORES &&
			 o->way != STOP_TREE_IGNORES)
			stop_tree_plan(o, now_ms);
		if (o->way == STOP_TREE_IGNORES || o->shell)
			(void)stop_tree_pass(t, o, now_ms);
	}
	return true;
}

/* The group of a process is told by another one. */
static void
stop_tree_group_told(struct stop_tree *t, pid_t group)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (getpgid(t->one[i].pid) == group)
			t->one[i].told = true;
}

/* Add those that have begun since, for none of them knows of the stop. */
static void
stop_tree_add_children(struct stop_tree *t, const struct stop_tree_one *up)
{
	struct proc_node list[STOP_TREE_MAX];
	size_t n = proc_descendants(up->pid, list, STOP_TREE_MAX), i;
	struct stop_tree_one *o;

	for (i = 0; i < n; i++)
		if (list[i].ppid == up->pid &&
		    stop_tree_find(t, list[i].pid) == NULL) {
			o = stop_tree_add(
			    t, list[i].pid, up->pid, list[i].start);
			if (o != NULL)
				o->step = up->step;
		}
}

/*
 * From the entry of this number on.  When a reader is looked at again its writer
 * may have ended, and what that has printed is still in the pipe.
 */
static void
stop_tree_mark_readers(struct stop_tree *t, size_t from)
{
	size_t i;

	for (i = from; i < t->n; i++)
		t->one[i].waited = stop_tree_reads(t, &t->one[i]);
}

/* Add a task of srun, and what is below it. */
static void
stop_tree_add_task(
    struct stop_tree *t, const struct proc_node *task, int64_t now_ms)
{
	static struct proc_node list[STOP_TREE_MAX];
	size_t n = proc_descendants(task->pid, list, STOP_TREE_MAX), i;
	struct stop_tree_one *o =
	    stop_tree_add(t, task->pid, task->ppid, task->start);

	if (o == NULL)
		return;
	o->is_main = o->step = true;
	stop_tree_plan(o, now_ms);
	for (i = 0; i < n; i++) {
		o = stop_tree_add(t, list[i].pid, list[i].ppid, list[i].start);
		if (o != NULL)
			o->step = true;
	}
}

/* Tell what srun has started; false: that is not known. */
static bool
stop_tree_tell_steps(struct stop_tree *t, int64_t now_ms)
{
	static struct proc_node task[STOP_TREE_MAX];
	const char *nodes = getenv("SLURM_JOB_NUM_NODES");
	size_t n, i, before = t->n;

	if (t->steps_told)
		return true;
	n = slurm_step_tasks(task, STOP_TREE_MAX);
	if (t->own_job &&
	    (n == 0 || (nodes != NULL && strcmp(nodes, "1") != 0)))
		t->scancel = slurm_step_cancel();
	t->steps_told = t->scancel != 0;
	for (i = 0; !t->steps_told && i < n; i++)
		stop_tree_add_task(t, &task[i], now_ms);
	stop_tree_mark_readers(t, before);
	t->steps_told |= n > 0;
	return t->steps_told;
}

static void
stop_tree_tell(struct stop_tree *t, struct stop_tree_one *o, int64_t now_ms)
{
	struct proc_ref r;
	size_t i;

	if (o->srun && stop_tree_tell_steps(t, now_ms)) {
		o->told = true;
		return;
	}
	if (o->waited)
		stop_tree_add_children(t, o);
	for (i = 0; o->to_group && i < t->n; i++)
		if (t->one[i].parent == o->pid)
			stop_tree_group_told(t, getpgid(t->one[i].pid));
	o->told = true;
	if (proc_open(&r, o->pid, o->start)) {
		(void)proc_signal(&r, SIGTERM);
		/* A stopped process handles no signals. */
		proc_continue(&r);
		proc_close(&r);
	} else if (o->is_main && o->start == 0) /* there is no /proc */
		(void)kill(o->pid, SIGTERM);
	(void)stop_tree_pass(t, o, now_ms);
}

/*
 * Whether a process is in a group of its parent, which a wrapper has made: who ends
 * the parent usually tells the whole group, as os.killpg() of Python.
 */
static bool
stop_tree_shares_group(const struct stop_tree *t, const struct stop_tree_one *o)
{
	pid_t group = getpgid(o->pid);

	return group > 0 && group == o->parent && group != t->one[0].pid;
}

/* Plan for a process that has lost its parent. */
static void
stop_tree_orphan(struct stop_tree *t, struct stop_tree_one *o,
    const struct stop_tree_one *up, int64_t now_ms)
{
	/* A process that dies at SIGTERM and still lives has not got it. */
	if (up == NULL || up->way == STOP_TREE_IGNORES ||
	    (up->way == STOP_TREE_DIES && up->told) || stop_tree_dies(o->pid))
		stop_tree_plan(o, now_ms);
	else if (up->way == STOP_TREE_DIES
		     ? !stop_tree_shares_group(t, o)
		     : up->shell && stop_tree_in_front(o, up))
		stop_tree_plan(o, now_ms + stop_tree_soon_ms(t));
	else
		stop_tree_plan(o, now_ms + stop_tree_late_ms(t));
}

/* Whether one of them can have started another one because of the stop. */
static bool
stop_tree_handles(const struct stop_tree *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->one[i].handler)
			return true;
	return false;
}

/* The entry of a child of the supervisor; NULL = none, it is not to be told. */
static struct stop_tree_one *
stop_tree_child(struct stop_tree *t, pid_t pid)
{
	struct stop_tree_one *o = stop_tree_find(t, pid);
	struct proc_stat s;

	if (!proc_stat(pid, &s) || s.state == 'Z')
		return NULL;
	if (o != NULL && o->start == s.start)
		return o;
	/*
	 * The child may have begun as the stop did; or no process handles
	 * SIGTERM, and nobody else would tell the child.
	 */
	if (s.start <= t->began_ticks || !stop_tree_handles(t))
		return stop_tree_add(t, pid, t->one[0].pid, s.start);
	return NULL;
}

/*
 * A process that blocks the signal, and does not wait for it either, as unshare
 * --fork, counts as one that ignores it.
 */
static void
stop_tree_deaf(struct stop_tree *t, int64_t now_ms)
{
	struct stop_tree_one *o;
	struct proc_signals s;
	size_t i;

	t->deaf_at_ms = -1;
	for (i = 0; i < t->n; i++) {
		o = &t->one[i];
		if (!o->told || o->way != STOP_TREE_CATCHES ||
		    !stop_tree_lives(o) || !proc_signals(o->pid, &s) ||
		    !stop_tree_has(s.pending, SIGTERM))
			continue;
		o->way = STOP_TREE_IGNORES;
		o->passed = false;
		(void)stop_tree_pass(t, o, now_ms);
	}
}

/* Below a task they are no children of ours. */
static void
stop_tree_step_orphans(struct stop_tree *t, int64_t now_ms)
{
	struct stop_tree_one *o;
	struct proc_stat s;
	size_t i;

	for (i = 0; i < t->n; i++) {
		o = &t->one[i];
		if (o->step && !o->is_main && !o->told && o->tell_at_ms < 0 &&
		    proc_stat(o->pid, &s) && s.start == o->start &&
		    s.state != 'Z' && s.ppid != o->parent)
			stop_tree_orphan(
			    t, o, stop_tree_find(t, o->parent), now_ms);
	}
}

static void
stop_tree_orphans(struct stop_tree *t, int64_t now_ms)
{
	pid_t list[STOP_TREE_MAX];
	size_t n = proc_children(list, STOP_TREE_MAX), i;
	bool mains = stop_tree_main_lives(t);
	struct stop_tree_one *o;

	for (i = 0; i < n; i++) {
		o = list[i] == t->scancel ? NULL : stop_tree_child(t, list[i]);
		if (o == NULL || o->is_main || o->told || o->tell_at_ms >= 0)
			continue;
		if (o->parent != t->root)
			stop_tree_orphan(
			    t, o, stop_tree_find(t, o->parent), now_ms);
		else if (!mains) /* a daemon from before the stop */
			stop_tree_orphan(t, o, &t->one[0], now_ms);
	}
	stop_tree_step_orphans(t, now_ms);
}

/* Whether a process has to wait; when it need not, it has a while to end. */
static bool
stop_tree_puts_off(
    const struct stop_tree *t, struct stop_tree_one *o, int64_t now_ms)
{
	if (stop_tree_is_between(t, o)) {
		o->tell_at_ms = now_ms + LOOKS_MS;
		return true;
	}
	if (stop_tree_is_last(t, o)) {
		o->waited = true;
		o->way = STOP_TREE_IGNORES;
		o->tell_at_ms = now_ms + t->look_wait_ms;
		return true;
	}
	if (!o->waited || o->free)
		return false;
	o->free = true;
	o->way = STOP_TREE_DIES;
	o->tell_at_ms = now_ms + stop_tree_soon_ms(t);
	return true;
}

/*
 * Tell the processes that are due; whether there were any.  Those whom the
 * signal does not reach may follow.
 */
static bool
stop_tree_tell_due(struct stop_tree *t, int64_t now_ms)
{
	struct stop_tree_one *o;
	bool any = false;
	size_t i;

	for (i = 0; i < t->n; i++) {
		o = &t->one[i];
		if (o->told || o->tell_at_ms < 0 || o->tell_at_ms > now_ms)
			continue;
		if (stop_tree_puts_off(t, o, now_ms)) {
			any |= stop_tree_pass(t, o, now_ms);
			continue;
		}
		stop_tree_tell(t, o, now_ms);
		any = true;
	}
	return any;
}

void
stop_tree_look(struct stop_tree *t, int64_t now_ms)
{
	const struct stop_tree_one *o;
	size_t i;

	if (t->look_at_ms < 0)
		return;
	if (t->deaf_at_ms >= 0 && now_ms >= t->deaf_at_ms)
		stop_tree_deaf(t, now_ms);
	stop_tree_orphans(t, now_ms);
	while (stop_tree_tell_due(t, now_ms))
		;
	if (now_ms >= t->look_at_ms)
		t->look_wait_ms = t->look_wait_ms * 2 < LOOK_MAX_MS
				      ? t->look_wait_ms * 2
				      : LOOK_MAX_MS;
	t->look_at_ms = now_ms + t->look_wait_ms;
	for (i = 0; i < t->n; i++) {
		o = &t->one[i];
		if (!o->told && o->tell_at_ms > now_ms &&
		    o->tell_at_ms < t->look_at_ms)
			t->look_at_ms = o->tell_at_ms;
	}
}

/* Read which processes run now, and what each does at SIGTERM. */
static void
stop_tree_read(struct stop_tree *t)
{
	struct proc_node list[STOP_TREE_MAX];
	size_t n = proc_descendants(t->root, list, STOP_TREE_MAX), i;
	struct stop_tree_one *up;

	for (i = 0; i < n; i++)
		if (stop_tree_find(t, list[i].pid) == NULL)
			(void)stop_tree_add(
			    t, list[i].pid, list[i].ppid, list[i].start);
	for (i = 0; i < t->n; i++) {
		up = t->one[i].notebook ? stop_tree_find(t, t->one[i].parent)
					: NULL;
		if (up != NULL && !up->handler)
			up->terminal = true;
	}
}

/* The first entries are the main processes. */
static void
stop_tree_add_main(struct stop_tree *t, pid_t pid)
{
	struct proc_stat s = { 0 };
	struct stop_tree_one *o;

	(void)proc_stat(pid, &s);
	o = stop_tree_add(t, pid, t->root, s.start);
	if (o != NULL)
		o->is_main = true;
}

/*
 * Tell a trial that is one process at once, since reading what else runs would
 * make its stop late; false: it is not one, or something has to be known first.
 */
static bool
stop_tree_tell_lone(struct stop_tree *t)
{
	struct stop_tree_one *o = &t->one[0];
	pid_t child[2];

	if (t->n != 1 || o->srun || proc_children(child, 2) != 1 ||
	    child[0] != o->pid || proc_has_child(o->pid))
		return false;
	/* Nobody else has the number of a child that is not reaped. */
	(void)kill(o->pid, SIGTERM);
	proc_continue_child(o->pid);
	o->told = o->passed = true;
	return true;
}

void
stop_tree_begin(struct stop_tree *t, const pid_t *pid, size_t n,
    int64_t grace_ms, int64_t now_ms)
{
	size_t i, mains;

	t->n = 0;
	t->steps_told = false;
	t->scancel = 0;
	t->root = getpid();
	t->grace_ms = grace_ms;
	t->began_ticks = now_ms * sysconf(_SC_CLK_TCK) / 1000;
	t->look_at_ms = now_ms;
	t->look_wait_ms = LOOK_MIN_MS;
	t->deaf_at_ms = now_ms + stop_tree_soon_ms(t);
	for (i = 0; i < n; i++)
		if (pid[i] != 0)
			stop_tree_add_main(t, pid[i]);
	mains = t->n;
	if (!stop_tree_tell_lone(t)) {
		stop_tree_read(t);
		stop_tree_mark_readers(t, 0);
		for (i = 0; i < mains; i++)
			stop_tree_plan(&t->one[i], now_ms);
	}
	stop_tree_look(t, now_ms);
}
