/*
 * The states of the process: none, importing, ready; its files; and what is asked
 * of it over a socket, whose messages python/hpotune_warm.py describes.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/spawn.h"
#include "trials/process/args.h"
#include "trials/process/exec-path.h"
#include "trials/shim/shim.h"
#include "trials/warm/waiting-sockets.h"
#include "trials/warm/waiting-words.h"
#include "trials/warm/warm-process.h"

enum {
	ANSWER_MS = 5000, /* for a process; the interpreter may start in it */
	FAILURES_MAX = 3, /* without a warm start between them */
	REASONS_MAX = 8, /* that are noted */
	HEAD = 8, /* bytes before the words of a request */
	FDS_MAX = 3, /* of a request */
	TEXT_MAX = 1024 /* bytes of an answer */
};

static const char warm_script[] =
#include "python/hpotune_warm.inc"
    ;

static const unsigned char warm_fork_object[] = {
#include "trials/warm/warm-fork.inc"
};

/* Once each. */
static void
warm_note(struct warm_process *w, const char *text)
{
	size_t i;

	for (i = 0; i < w->notes.n; i++)
		if (strcmp(w->notes.v[i], text) == 0)
			return;
	if (w->notes.n < REASONS_MAX)
		strv_add(&w->notes, xstrdup(text));
}

static void
warm_note_cold(struct warm_process *w, const char *why)
{
	char *text = xasprintf("a trial starts cold: %s", why);

	warm_note(w, text);
	free(text);
}

void
warm_process_slow(struct warm_process *w, int seconds)
{
	char *why = xasprintf("its modules are still imported after %d s, and "
			      "%s/" WARM_PROCESS_LOG " has what that prints",
	    seconds, w->dir);

	warm_note_cold(w, why);
	free(why);
}

static void
warm_note_ready(struct warm_process *w, const char *text)
{
	double wall = 0, cpu = 0;
	char *line;
	int n = 0;

	/* Nothing was imported, or nothing more. */
	if (sscanf(text, "%d %lf %lf", &n, &wall, &cpu) != 3)
		return;
	line = xasprintf("warm starts: %d modules are imported once, which "
			 "takes %.2f s (%.2f s of a processor) that a trial "
			 "does not wait for",
	    n, wall, cpu);
	warm_note(w, line);
	free(line);
}

static void
warm_process_end(struct warm_process *w)
{
	if (w->pid == 0)
		return;
	if (w->closing != NULL)
		w->closing(w->arg);
	(void)close(w->fd);
	if (!w->reaped) {
		(void)kill(w->pid, SIGKILL);
		(void)spawn_reap(w->pid);
	}
	w->pid = 0;
	w->fd = -1;
	w->state = WARM_PROCESS_NONE;
}

static void
warm_failed(struct warm_process *w, const char *why)
{
	char *text;

	warm_process_end(w);
	if (++w->failures < FAILURES_MAX) {
		warm_note_cold(w, why);
		return;
	}
	w->state = WARM_PROCESS_OFF;
	text = xasprintf("no trial starts warm any more: %s", why);
	warm_note(w, text);
	free(text);
}

/* An answer that is no process.  It has a NUL behind it. */
static void
warm_answered(struct warm_process *w, const char *text)
{
	switch (text[0]) {
	case 'i':
		w->state = WARM_PROCESS_LOADING;
		break;
	case 'r':
	case 'l':
		w->state = WARM_PROCESS_READY;
		w->learning = text[0] == 'l';
		warm_note_ready(w, text + 1);
		w->renewed = true;
		break;
	case 'n':
		warm_note(w, text + 1);
		break;
	case 'x':
		w->failures = FAILURES_MAX;
		warm_failed(w, text + 1);
		break;
	}
}

/* Read one answer: its length, 0 = none is there, -1 = the process ended. */
static ssize_t
warm_answer_read(struct warm_process *w, char text[TEXT_MAX])
{
	ssize_t n = recv(w->fd, text, TEXT_MAX - 1, MSG_DONTWAIT);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -1;
	text[n] = '\0';
	return n;
}

void
warm_process_hear(struct warm_process *w)
{
	char text[TEXT_MAX];
	ssize_t n;

	while (w->pid != 0 && (n = warm_answer_read(w, text)) != 0) {
		if (n > 0)
			warm_answered(w, text);
		else
			warm_failed(w, "the warm process ended");
	}
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
	char **all;

	for (; *env != NULL; env++)
		if (!warm_is_own(*env))
			strv_add(&w, xstrdup(*env));
	if (w.v == NULL)
		return waiting_words_env((char *[]){ NULL });
	all = waiting_words_env(w.v);
	strv_free(w.v);
	return all;
}

static char **
warm_process_argv(const struct warm_process *w, const char *cpus)
{
	struct strv v = { 0 };

	strv_add_all(&v, w->words);
	strv_add(&v, xasprintf("%s/" WARM_PROCESS_SCRIPT, w->dir));
	strv_add(&v, xasprintf("%lld", (long long)getpid()));
	strv_add(&v, xstrdup(w->dir));
	strv_add(
	    &v, xstrdup(w->listed ? WARM_PROCESS_LISTED : WARM_PROCESS_LEARNT));
	strv_add(&v, xstrdup(w->module ? "module" : "script"));
	strv_add(&v, xstrdup(w->name));
	strv_add(&v, xstrdup(cpus));
	strv_add(&v, xasprintf("%*s", (int)SHIM_WAIT_ROOM, ""));
	return v.v;
}

static int
warm_file_put(const char *dir, const char *name, const void *text, size_t len)
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
warm_files_put(const struct warm_process *w)
{
	struct buf b = { 0 };
	size_t i;
	int r;

	if (mkdir(w->dir, 0700) == -1 && errno != EEXIST)
		return -1;
	for (i = 0; w->modules != NULL && w->modules[i] != NULL; i++)
		buf_printf(&b, "%s\n", w->modules[i]);
	r = warm_file_put(
	    w->dir, WARM_PROCESS_SCRIPT, warm_script, sizeof warm_script - 1);
	if (r == 0)
		r = warm_file_put(w->dir, WARM_PROCESS_FORK, warm_fork_object,
		    sizeof warm_fork_object);
	if (r == 0 && w->modules != NULL)
		r = warm_file_put(
		    w->dir, WARM_PROCESS_LISTED, buf_str(&b), b.len);
	buf_free(&b);
	return r;
}

/* Whether a trial has shown what to import. */
static bool
warm_knows(const struct warm_process *w)
{
	char *path = xasprintf("%s/" WARM_PROCESS_LEARNT, w->dir);
	bool is = access(path, R_OK) == 0;

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
warm_process_spawn(struct warm_process *w, const char *workdir,
    char *const *env, const char *cpus, int fd)
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

bool
warm_process_begin(struct warm_process *w, const char *workdir,
    char *const *env, const char *cpus)
{
	int s[2] = { -1, -1 }, r;

	if (w->state != WARM_PROCESS_NONE)
		return false;
	strv_free(w->env);
	w->env = warm_process_env(env);
	w->learning = false;
	r = warm_files_put(w) == -1 ? errno : waiting_sockets_open(s);
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
		return false;
	}
	fail_point("local.after_warm");
	w->fd = s[0];
	w->reaped = false;
	w->state = WARM_PROCESS_LOADING;
	return true;
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
warm_process_fits(struct warm_process *w, char *const *env)
{
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

/* The message: its length, or more than SHIM_JOB_MAX. */
static size_t
warm_request_put(
    char *text, const char *program, char *const *argv, char *const *env)
{
	char *const path[] = { (char *)program, NULL };
	struct shim_job job = { 0 };
	size_t at = HEAD + sizeof job;

	text[0] = 'f';
	at = args_put(text, SHIM_JOB_MAX, at, path, &job.argc);
	if (at <= SHIM_JOB_MAX)
		at = args_put(text, SHIM_JOB_MAX, at, argv, &job.argc);
	if (at <= SHIM_JOB_MAX)
		at = args_put(text, SHIM_JOB_MAX, at, env, &job.envc);
	memcpy(text + HEAD, &job, sizeof job);
	return at;
}

static bool
warm_request_send(const struct warm_process *w, char *text, size_t len,
    const int *fds, size_t n)
{
	_Alignas(
	    struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * FDS_MAX)] = {
		0
	};
	struct iovec io = { .iov_base = text, .iov_len = len };
	struct msghdr m = { .msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = CMSG_SPACE(sizeof(int) * n) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int) * n);
	memcpy(CMSG_DATA(c), fds, sizeof(int) * n);
	return sendmsg(w->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;
}

pid_t
warm_process_fork(struct warm_process *w, const char *program,
    char *const *argv, char *const *env, const int *fds, size_t n_fds)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };
	char text[TEXT_MAX], *request = xcalloc(1, SHIM_JOB_MAX);
	size_t len = warm_request_put(request, program, argv, env);
	bool sent = len <= SHIM_JOB_MAX &&
		    warm_request_send(w, request, len, fds, n_fds);
	ssize_t n;

	free(request);
	if (!sent) {
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
warm_process_heard(struct warm_process *w, const char *text)
{
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
warm_process_learn(struct warm_process *w)
{
	if (w->state != WARM_PROCESS_READY || !w->learning || !warm_knows(w) ||
	    send(w->fd, "l", 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
		return;
	w->learning = false;
	w->state = WARM_PROCESS_LOADING;
}

void
warm_process_open(struct warm_process *w, char *dir, char *const *command,
    size_t at, bool module)
{
	struct strv words = { 0 };
	size_t i;

	w->fd = -1;
	w->state = WARM_PROCESS_NONE;
	w->dir = dir;
	w->module = module;
	w->name = xstrdup(command[at]);
	for (i = 0; i < at - (module ? 1 : 0); i++)
		strv_add(&words, xstrdup(command[i]));
	w->words = words.v;
}

void
warm_process_close(struct warm_process *w)
{
	warm_process_end(w);
	strv_free(w->words);
	strv_free(w->env);
	strv_free(w->modules);
	strv_free(w->notes.v);
	free(w->dir);
	free(w->name);
}
