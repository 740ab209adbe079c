/*
 * The worktree of an attempt: what a commit has, in a folder of the attempt, made
 * by git before the program starts.  Its working folder is the one there that
 * trial.workdir is in the repository.  Another server finds the attempt as ever: no
 * one but the supervisor needs the worktree.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/git/git.h"
#include "trials/shim/shim.h"

enum {
	SOURCE_LOOK_MS = 500, /* between two looks for a stop */
	SOURCE_SAID = 512, /* bytes of what git says */
	SOURCE_WORDS = 24
};

/* What git says, and how it ends. */
struct source_git {
	pid_t pid;
	int fd;
	char said[SOURCE_SAID];
	size_t len;
	bool stopped; /* by a stop of the attempt */
};

/*
 * Variables by which git looks at another repository; also the program is not to
 * be led astray.
 */
static const char *const source_variables[] = { "GIT_DIR", "GIT_WORK_TREE",
	"GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR",
	"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_CONFIG_PARAMETERS", "GIT_NAMESPACE", NULL };

static void __attribute__((noreturn))
source_child(const char *repository, const char *const *args, int out)
{
	static const char *const words[] = { "git", "-c",
		"core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c",
		"gc.auto=0", "-c", "advice.detachedHead=false", "-C", NULL };
	const char *argv[SOURCE_WORDS] = { NULL };
	size_t n = 0, i;
	sigset_t none;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	for (i = 0; words[i] != NULL; i++)
		argv[n++] = words[i];
	argv[n++] = repository;
	for (i = 0; args[i] != NULL && n < SOURCE_WORDS - 1; i++)
		argv[n++] = args[i];
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setenv("GIT_TERMINAL_PROMPT", "0", 1);
	if (null == -1 || dup2(null, 0) == -1 || dup2(out, 1) == -1 ||
	    dup2(out, 2) == -1)
		_exit(126);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	/* The words are not changed: execvp has no const. */
	(void)execvp(argv[0], (char *const *)(uintptr_t)argv);
	(void)dprintf(1, "fatal: git is not installed: %s\n", strerror(errno));
	_exit(127);
}

/* Read what there is; the first bytes are kept. */
static void
source_hear(struct source_git *g)
{
	char piece[512];
	size_t room;
	ssize_t n;

	while ((n = read(g->fd, piece, sizeof piece)) > 0) {
		room = sizeof g->said - 1 - g->len;
		room = (size_t)n < room ? (size_t)n : room;
		memcpy(g->said + g->len, piece, room);
		g->len += room;
	}
}

/* Whether the attempt is to be stopped.  Signals are blocked here. */
static bool
source_is_stopped(struct shim *s)
{
	sigset_t waiting;

	if (s->shared != 0 && shim_shared_look(s) != SHIM_WISH_NONE)
		return true;
	return sigpending(&waiting) == 0 &&
	       (sigismember(&waiting, SIGTERM) == 1 ||
		   sigismember(&waiting, SIGUSR1) == 1);
}

/*
 * Take SIGCHLD, also that of an earlier git, which would end each wait at once.
 * Whether another signal is left that would: the supervisor looks at it later.
 */
static bool
source_signals_are_left(void)
{
	struct timespec now = { 0 };
	sigset_t child, waiting;

	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	while (sigtimedwait(&child, NULL, &now) > 0)
		;
	return sigpending(&waiting) == 0 &&
	       (sigismember(&waiting, SIGHUP) == 1 ||
		   sigismember(&waiting, SIGINT) == 1);
}

/* Wait for it; its exit status, or -1. */
static int
source_wait(struct shim *s, struct source_git *g)
{
	struct pollfd p[2] = {
		{ .fd = g->fd, .events = POLLIN },
		{ .fd = s->signal_fd, .events = POLLIN },
	};
	int status = 0;
	pid_t got;

	for (;;) {
		/* Before the look at git, so that its end is not missed. */
		if (source_signals_are_left())
			p[1].fd = -1;
		got = waitpid(g->pid, &status, WNOHANG);
		if (got != 0)
			break;
		if (!g->stopped && source_is_stopped(s)) {
			g->stopped = true;
			(void)kill(-g->pid, SIGKILL);
			/* The signal stays pending, and its descriptor ready. */
			p[1].fd = -1;
		}
		(void)poll(p, 2, SOURCE_LOOK_MS);
		if (p[0].revents != 0) {
			source_hear(g);
			/* At its end the exit follows. */
			if ((p[0].revents & POLLHUP) != 0)
				p[0].fd = -1;
		}
	}
	source_hear(g);
	return got == g->pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Run git in the repository: 0, or -1. */
static int
source_run(struct shim *s, struct source_git *g, const char *const *args)
{
	int p[2], status;

	*g = (struct source_git){ .fd = -1 };
	if (pipe2(p, O_CLOEXEC | O_NONBLOCK) == -1)
		return -1;
	g->fd = p[0];
	g->pid = fork();
	if (g->pid == 0) {
		(void)fcntl(p[1], F_SETFL, 0);
		source_child(s->source, args, p[1]);
	}
	(void)close(p[1]);
	status = g->pid > 0 ? source_wait(s, g) : -1;
	(void)close(g->fd);
	return status == 0 ? 0 : -1;
}

/* What git says first as an error, else in its last line. */
static void
source_failed(struct shim *s, struct source_git *g)
{
	static const char *const heads[] = { "fatal: ", "error: " };
	const char *line = g->said, *at;
	size_t i;

	for (i = 0; i < 2; i++)
		if ((at = strstr(g->said, heads[i])) != NULL) {
			line = at + strlen(heads[i]);
			break;
		}
	s->exit.ran = false;
	s->exit.exit_code = -1;
	s->exit.stopped = g->stopped;
	s->exit.ended_us = clock_wall_us();
	if (g->stopped)
		(void)snprintf(s->exit.why, sizeof s->exit.why,
		    "it was stopped while git made its worktree");
	else
		(void)snprintf(s->exit.why, sizeof s->exit.why,
		    "no worktree of commit %.12s of %.80s: %.*s", s->commit,
		    s->source, (int)strcspn(line, "\n"),
		    *line != '\0' ? line : "git does not say why");
}

/*
 * The path of the worktree, absolute and without links, as git lists it: the folder
 * of the attempt may be relative.
 */
static int
source_path(const struct shim *s, char path[PATH_MAX])
{
	size_t n;

	if (realpath(s->dir, path) == NULL)
		return -1;
	n = strlen(path);
	if (n + sizeof "/" SHIM_SOURCE > PATH_MAX)
		return -1;
	memcpy(path + n, "/" SHIM_SOURCE, sizeof "/" SHIM_SOURCE);
	return 0;
}

/* Nothing of it runs. */
static int
source_end(struct shim *s, const char *why, const char *of)
{
	s->exit.ran = false;
	s->exit.exit_code = -1;
	s->exit.ended_us = clock_wall_us();
	(void)snprintf(s->exit.why, sizeof s->exit.why, "%s: %.160s", why, of);
	return -1;
}

/*
 * The working folder in the worktree: as in the checkout of the repository, or as
 * below the folder of study.json.
 */
static int
source_workdir(struct shim *s, const char *path)
{
	char below[PATH_MAX];
	int r = git_folder_below(below, s->workdir, s->source, s->source_base);

	if (r == -1)
		return source_end(s, "the path is too long", s->workdir);
	if (r == 0)
		return source_end(
		    s, "trial.workdir is not in the repository", s->workdir);
	if (strlen(path) + strlen(below) >= sizeof s->source_dir)
		return source_end(s, "the path is too long", path);
	(void)snprintf(
	    s->source_dir, sizeof s->source_dir, "%s%s", path, below);
	s->workdir = s->source_dir;
	return 0;
}

int
shim_source_make(struct shim *s)
{
	char path[PATH_MAX], ref[256];
	const char *const keep[] = { "update-ref", ref, s->commit, NULL };
	const char *const add[] = { "worktree", "add", "--force", "--detach",
		path, s->commit, NULL };
	struct source_git g;
	size_t i;

	if (s->source == NULL)
		return 0;
	s->exit.started_us = clock_wall_us();
	for (i = 0; source_variables[i] != NULL; i++)
		(void)unsetenv(source_variables[i]);
	if (source_path(s, path) == -1)
		return source_end(s, "no path for a worktree", s->dir);
	/* What fails here, a lock for example, is no reason: another one may do. */
	if (s->source_refs != NULL) {
		(void)snprintf(
		    ref, sizeof ref, "%.180s/%.64s", s->source_refs, s->commit);
		(void)source_run(s, &g, keep);
	}
	fail_point("shim.before_source");
	if (source_run(s, &g, add) == -1) {
		source_failed(s, &g);
		return -1;
	}
	fail_point("shim.after_source");
	return source_workdir(s, path);
}

void
shim_source_drop(struct shim *s)
{
	char path[PATH_MAX];
	const char *const remove[] = { "worktree", "remove", "--force",
		"--force", path, NULL };
	struct source_git g;

	if (s->source == NULL || s->source_drop == 0)
		return;
	if (source_path(s, path) == 0)
		(void)source_run(s, &g, remove);
}
