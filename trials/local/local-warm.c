/*
 * The warm process of a study (python/hpotune_warm.py): it has imported what
 * trials import, and makes supervisors with a child that becomes the program.
 * Such a supervisor is a child of this process and is hpotune-shim, so all that
 * follows a start is as for other ones.  Whatever keeps a trial from a warm start,
 * it starts cold.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/loop.h"
#include "src/base/spawn.h"
#include "src/model/study/study.h"
#include "trials/local/local-internal.h"
#include "trials/process/args.h"
#include "trials/process/exec-path.h"
#include "trials/shim/shim.h"

enum {
	ANSWER_MS = 5000, /* for a process; the interpreter may start in it */
	FAILURES_MAX = 3, /* without a warm start between them */
	REASONS_MAX = 8, /* that are noted */
	FD_LEAST = 16,
	HEAD = 8, /* bytes before the words of a request */
	TEXT_MAX = 1024 /* bytes of an answer */
};

static const char warm_script[] =
#include "python/hpotune_warm.inc"
    ;

/* Once each, in the next turn. */
static void
warm_note(struct local_warm *w, const char *text)
{
	size_t i;

	for (i = 0; i < w->notes.n; i++)
		if (strcmp(w->notes.v[i], text) == 0)
			return;
	if (w->notes.n < REASONS_MAX)
		strv_add(&w->notes, xstrdup(text));
}

static void
warm_note_cold(struct local_warm *w, const char *why)
{
	char *text = xasprintf("a trial starts cold: %s", why);

	warm_note(w, text);
	free(text);
}

static void
warm_note_ready(struct local_warm *w, const char *text)
{
	double wall = 0, cpu = 0;
	char *line;
	int n = 0;

	if (sscanf(text, "%d %lf %lf", &n, &wall, &cpu) != 3)
		return;
	line = xasprintf("warm starts: %d modules are imported once, which "
			 "takes %.2f s (%.2f s of a processor) that a trial "
			 "does not wait for",
	    n, wall, cpu);
	warm_note(w, line);
	free(line);
}

void
local_warm_collect(struct local *l)
{
	struct local_warm *w = &l->warm;

	for (; w->noted < w->notes.n; w->noted++)
		launcher_note(
		    &l->source, LAUNCH_INFO, "%s", w->notes.v[w->noted]);
}

static void
warm_process_end(struct local_warm *w)
{
	if (w->pid == 0)
		return;
	loop_fd_free(w->watch);
	(void)close(w->fd);
	(void)kill(w->pid, SIGKILL);
	(void)spawn_reap(w->pid);
	w->pid = 0;
	w->fd = -1;
	w->watch = NULL;
	w->state = LOCAL_WARM_NONE;
}

static void
warm_failed(struct local_warm *w, const char *why)
{
	char *text;

	warm_process_end(w);
	if (++w->failures < FAILURES_MAX) {
		warm_note_cold(w, why);
		return;
	}
	w->state = LOCAL_WARM_OFF;
	text = xasprintf("no trial starts warm any more: %s", why);
	warm_note(w, text);
	free(text);
}

/* An answer that is no process.  It has a NUL behind it. */
static void
warm_answered(struct local_warm *w, const char *text)
{
	switch (text[0]) {
	case 'i':
		w->state = LOCAL_WARM_LOADING;
		break;
	case 'r':
		w->state = LOCAL_WARM_READY;
		w->learning = false;
		warm_note_ready(w, text + 1);
		w->renewed = true;
		break;
	case 'x':
		w->failures = FAILURES_MAX;
		warm_failed(w, text + 1);
		break;
	}
}

/* Read one answer: its length, 0 = none is there, -1 = the process ended. */
static ssize_t
warm_answer_read(struct local_warm *w, char text[TEXT_MAX])
{
	ssize_t n = recv(w->fd, text, TEXT_MAX - 1, MSG_DONTWAIT);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -1;
	text[n] = '\0';
	return n;
}

static void
warm_on_answer(void *arg, int fd, bool readable, bool writable)
{
	struct local *l = arg;
	struct local_warm *w = &l->warm;
	char text[TEXT_MAX];
	ssize_t n;

	(void)fd;
	(void)readable;
	(void)writable;
	while (w->pid != 0 && (n = warm_answer_read(w, text)) != 0) {
		if (n > 0)
			warm_answered(w, text);
		else
			warm_failed(w, "the warm process ended");
	}
	loop_wake(l->loop);
}

/* The trial's own: the process that it is forked from has others. */
static bool
warm_is_own(const char *word)
{
	return strncmp(word, "HPOTUNE_", 8) == 0 ||
	       strncmp(word, "SM_", 3) == 0;
}

/* CUDA reads it when it begins, which a warm process does not. */
static bool
warm_is_gpus(const char *word)
{
	return strncmp(word, "CUDA_VISIBLE_DEVICES=", 21) == 0;
}

static char **
warm_process_env(char *const *env)
{
	struct strv w = { 0 };

	for (; *env != NULL; env++)
		if (!warm_is_own(*env))
			strv_add(&w, xstrdup(*env));
	strv_add(&w, xasprintf("%s%*s", SHIM_MARK_UUID, (int)RECORD_UUID, ""));
	strv_add(
	    &w, xasprintf("%s%*s", SHIM_MARK_PARAMS, (int)SHIM_WAIT_ROOM, ""));
	return w.v;
}

static char **
warm_process_argv(const struct local_warm *w, const char *cpus)
{
	struct strv v = { 0 };

	strv_add_all(&v, w->words);
	strv_add(&v, xasprintf("%s/hpotune_warm.py", w->dir));
	strv_add(&v, xasprintf("%lld", (long long)getpid()));
	strv_add(&v, xstrdup(w->dir));
	strv_add(&v, xstrdup(w->listed != NULL ? "listed" : "modules"));
	strv_add(&v, xstrdup(w->module ? "module" : "script"));
	strv_add(&v, xstrdup(w->name));
	strv_add(&v, xstrdup(cpus));
	strv_add(&v, xasprintf("%*s", (int)SHIM_WAIT_ROOM, ""));
	return v.v;
}

static int
warm_file_put(const char *dir, const char *name, const char *text, size_t len)
{
	char *path = xasprintf("%s/%s", dir, name);
	ssize_t n = -1;
	int fd;

	(void)unlink(path);
	fd = open(
	    path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd != -1) {
		n = write(fd, text, len);
		(void)close(fd);
	}
	free(path);
	return n == (ssize_t)len ? 0 : -1;
}

static int
warm_files_put(const struct local_warm *w)
{
	struct buf b = { 0 };
	size_t i;
	int r;

	if (mkdir(w->dir, 0700) == -1 && errno != EEXIST)
		return -1;
	for (i = 0; w->listed != NULL && w->listed[i] != NULL; i++)
		buf_printf(&b, "%s\n", w->listed[i]);
	r = warm_file_put(
	    w->dir, "hpotune_warm.py", warm_script, sizeof warm_script - 1);
	if (r == 0 && w->listed != NULL)
		r = warm_file_put(w->dir, "listed", buf_str(&b), b.len);
	buf_free(&b);
	return r;
}

/* Whether it knows what to import, and does so before it answers. */
static bool
warm_knows(const struct local_warm *w)
{
	char *path = xasprintf("%s/modules", w->dir);
	bool is = w->listed != NULL || access(path, R_OK) == 0;

	free(path);
	return is;
}

/* The value of PATH in a list of variables; NULL: unset.  Borrowed. */
static const char *
warm_path_of(char *const *env)
{
	for (; *env != NULL; env++)
		if (strncmp(*env, "PATH=", 5) == 0)
			return *env + 5;
	return NULL;
}

/* 0, or an errno. */
static int
warm_process_spawn(struct local_warm *w, const char *workdir, char *const *env,
    const char *cpus, int fd)
{
	char file[PATH_MAX], **argv;
	int dir_fd, r;

	dir_fd = open(workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd == -1)
		return errno;
	r = exec_path_find(dir_fd, w->words[0], warm_path_of(env), file);
	(void)close(dir_fd);
	if (r != 0)
		return r;
	argv = warm_process_argv(w, cpus);
	r = spawn_session_in(workdir, &w->pid, file, argv, w->env, &fd, 1);
	strv_free(argv);
	return r;
}

static int
warm_sockets_open(int s[2])
{
	int low[2], i;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, low) == -1)
		return errno;
	for (i = 0; i < 2; i++) {
		s[i] = fcntl(low[i], F_DUPFD_CLOEXEC, FD_LEAST);
		(void)close(low[i]);
	}
	if (s[0] != -1 && s[1] != -1)
		return 0;
	for (i = 0; i < 2; i++)
		if (s[i] != -1)
			(void)close(s[i]);
	return EMFILE;
}

void
local_warm_begin(
    struct local *l, const char *workdir, char *const *env, const char *cpus)
{
	struct local_warm *w = &l->warm;
	int s[2] = { -1, -1 }, r;

	if (w->state != LOCAL_WARM_NONE)
		return;
	strv_free(w->env);
	w->env = warm_process_env(env);
	w->learning = !warm_knows(w);
	r = warm_files_put(w) == -1 ? errno : warm_sockets_open(s);
	if (r == 0) {
		fail_point("local.before_warm");
		r = warm_process_spawn(w, workdir, env, cpus, s[1]);
		(void)close(s[1]);
		if (r != 0)
			(void)close(s[0]);
	}
	if (r != 0) {
		w->pid = 0;
		warm_failed(w, strerror(r));
		return;
	}
	fail_point("local.after_warm");
	w->fd = s[0];
	w->watch = loop_fd_new(l->loop, w->fd, warm_on_answer, l);
	loop_fd_want(w->watch, true, false);
	w->state = w->learning ? LOCAL_WARM_READY : LOCAL_WARM_LOADING;
	w->renewed = w->learning;
}

bool
local_warm_usable(const struct local *l)
{
	return l->warm.state == LOCAL_WARM_READY;
}

/*
 * The first of these that is no trial's own and is not in the other list; NULL:
 * each is.
 */
static const char *
warm_env_differs(char *const *env, char *const *other)
{
	size_t i;

	for (; *env != NULL; env++) {
		if (warm_is_own(*env) || warm_is_gpus(*env))
			continue;
		for (i = 0; other[i] != NULL; i++)
			if (strcmp(*env, other[i]) == 0)
				break;
		if (other[i] == NULL)
			return *env;
	}
	return NULL;
}

bool
local_warm_fits(struct local *l, char *const *env)
{
	struct local_warm *w = &l->warm;
	const char *word = warm_env_differs(env, w->env);
	char *why;

	if (word == NULL)
		word = warm_env_differs(w->env, env);
	if (word == NULL)
		return true;
	/* Values are not told to anybody. */
	why = xasprintf("%.*s is not as it was when the modules were imported",
	    (int)strcspn(word, "="), word);
	warm_note_cold(w, why);
	free(why);
	return false;
}

static bool
warm_request_send(
    const struct local *l, char *const *argv, char *const *env, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof fd)] = { 0 };
	char *text = xcalloc(1, SHIM_JOB_MAX), *path[] = { l->shim, NULL };
	struct iovec io = { .iov_base = text };
	struct msghdr m = { .msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	struct shim_job job = { 0 };
	size_t at = HEAD + sizeof job;
	bool sent = false;

	text[0] = 'f';
	at = args_put(text, SHIM_JOB_MAX, at, path, &job.argc);
	if (at <= SHIM_JOB_MAX)
		at = args_put(text, SHIM_JOB_MAX, at, argv, &job.argc);
	if (at <= SHIM_JOB_MAX)
		at = args_put(text, SHIM_JOB_MAX, at, env, &job.envc);
	memcpy(text + HEAD, &job, sizeof job);
	io.iov_len = at;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	if (at <= SHIM_JOB_MAX)
		sent = sendmsg(l->warm.fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) ==
		       (ssize_t)at;
	free(text);
	return sent;
}

pid_t
local_warm_fork(struct local *l, char *const *argv, char *const *env, int fd)
{
	struct local_warm *w = &l->warm;
	struct pollfd p = { .fd = w->fd, .events = POLLIN };
	char text[TEXT_MAX];
	ssize_t n;

	if (!warm_request_send(l, argv, env, fd)) {
		warm_failed(w, "the warm process cannot be asked");
		return 0;
	}
	while (w->pid != 0) {
		if (poll(&p, 1, ANSWER_MS) == 0) {
			warm_failed(w, "the warm process does not answer");
			break;
		}
		n = warm_answer_read(w, text);
		if (n == -1)
			warm_failed(w, "the warm process ended");
		else if (n > 0 && text[0] == 'p')
			return (pid_t)strtol(text + 1, NULL, 10);
		else if (n > 0)
			warm_answered(w, text);
	}
	return 0;
}

void
local_warm_heard(struct local *l, const char *text)
{
	struct local_warm *w = &l->warm;

	if (text[0] == SHIM_WARM_GO) {
		w->failures = 0;
		return;
	}
	warm_note_cold(w, text + 1);
	if (text[0] != SHIM_WARM_OLD || w->pid == 0)
		return;
	warm_process_end(w);
	w->renewed = true;
}

void
local_warm_learn(struct local *l)
{
	struct local_warm *w = &l->warm;

	if (w->state != LOCAL_WARM_READY || !w->learning || !warm_knows(w) ||
	    send(w->fd, "l", 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
		return;
	w->learning = false;
	w->state = LOCAL_WARM_LOADING;
}

void
local_warm_open(struct local *l, const struct study_trial *t)
{
	struct local_warm *w = &l->warm;
	size_t i;

	w->fd = -1;
	if (!t->warm)
		return;
	w->state = LOCAL_WARM_NONE;
	w->dir = xasprintf("%s/warm", l->home.path);
	w->listed = strv_copy(t->warm_modules);
	w->module = t->warm_runs_module;
	w->skip = t->warm_at;
	w->name = xstrdup(t->command[t->warm_at]);
	w->words = xcalloc(t->warm_at + 1, sizeof *w->words);
	for (i = 0; i < t->warm_at - (w->module ? 1 : 0); i++)
		w->words[i] = xstrdup(t->command[i]);
}

void
local_warm_close(struct local *l)
{
	struct local_warm *w = &l->warm;

	warm_process_end(w);
	strv_free(w->words);
	strv_free(w->env);
	strv_free(w->listed);
	strv_free(w->notes.v);
	free(w->dir);
	free(w->name);
}
