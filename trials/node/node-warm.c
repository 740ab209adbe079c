/* Answers the supervisors that ask for a warm one. */

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/base/file.h"
#include "trials/node/node-warm.h"
#include "trials/node/node.h"
#include "trials/process/args.h"
#include "trials/shim/shim.h"
#include "trials/warm/waiting-sockets.h"
#include "trials/warm/waiting-words.h"

enum {
	ASK_FDS = 2, /* the folder and the output of who asks */
	WORDS_MAX = 8192
};

/* What was asked; the words are in the text. */
struct node_ask {
	char text[SHIM_JOB_MAX];
	char *argv[WORDS_MAX], *env[WORDS_MAX];
	char **command;
	const char *workdir, *cpus;
	int64_t skip;
	int fds[ASK_FDS]; /* -1: it did not come */
};

/* The value of the last argument of this name before the command, or NULL. */
static const char *
node_ask_argument(const struct node_ask *a, const char *name)
{
	const char *value = NULL;
	char *const *w;

	for (w = a->argv; w + 1 < a->command; w++)
		if (strncmp(*w, name, strlen(name)) == 0)
			value = *w + strlen(name);
	return value;
}

static bool
node_ask_parse(struct node_ask *a, size_t len)
{
	char *at = a->text + sizeof(struct shim_job);
	struct shim_job job;
	const char *skip;
	int64_t i;

	if (len < sizeof job)
		return false;
	memcpy(&job, a->text, sizeof job);
	if (job.argc < 3 ||
	    !args_take(a->argv, WORDS_MAX, &at, a->text + len, job.argc) ||
	    !args_take(a->env, WORDS_MAX, &at, a->text + len, job.envc))
		return false;
	for (a->command = a->argv; *a->command != NULL; a->command++)
		if (strcmp(*a->command, "--") == 0)
			break;
	if (*a->command == NULL)
		return false;
	a->command++;
	a->workdir = node_ask_argument(a, "workdir=");
	a->cpus = node_ask_argument(a, "cpus=");
	skip = node_ask_argument(a, "warm-skip=");
	if (a->workdir == NULL || a->cpus == NULL || skip == NULL ||
	    !args_number(skip, &a->skip) || a->skip < 1)
		return false;
	for (i = 0; i <= a->skip; i++)
		if (a->command[i] == NULL)
			return false;
	return true;
}

static void
node_ask_fds_take(struct node_ask *a, struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);

	if (c != NULL && c->cmsg_level == SOL_SOCKET &&
	    c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof a->fds))
		memcpy(a->fds, CMSG_DATA(c), sizeof a->fds);
}

/* False: nothing came, or nothing that can be understood. */
static bool
node_ask_read(struct node_ask *a, int fd)
{
	_Alignas(
	    struct cmsghdr) char control[CMSG_SPACE(sizeof a->fds)] = { 0 };
	struct iovec io = { .iov_base = a->text, .iov_len = sizeof a->text };
	struct msghdr m = { .msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control };
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n <= 0)
		return false;
	node_ask_fds_take(a, &m);
	return (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 &&
	       a->fds[0] != -1 && a->fds[1] != -1 &&
	       node_ask_parse(a, (size_t)n);
}

static bool
node_ask_is_module(const struct node_ask *a)
{
	return strcmp(a->command[a->skip - 1], "-m") == 0;
}

/* Whether the process is that of this command: the study may have changed. */
static bool
node_warm_same(const struct node_warm *w, const struct node_ask *a)
{
	int64_t i, n = a->skip - (node_ask_is_module(a) ? 1 : 0);
	char *const *words = w->process.words;

	if (strcmp(w->process.name, a->command[a->skip]) != 0 ||
	    w->process.module != node_ask_is_module(a))
		return false;
	for (i = 0; i < n; i++)
		if (words[i] == NULL || strcmp(words[i], a->command[i]) != 0)
			return false;
	return words[n] == NULL;
}

/*
 * The files are in the folder of the job.  Others may rename what is above: the path
 * goes by our working folder, which was entered and looked at.
 */
static void
node_warm_know(struct node_warm *w, const struct node_ask *a)
{
	char *list;

	if (w->known && node_warm_same(w, a))
		return;
	node_warm_close(w);
	warm_process_open(&w->process,
	    xasprintf(
		"/proc/%lld/cwd/%s/" NODE_WARM, (long long)getpid(), w->dir),
	    a->command, (size_t)a->skip, node_ask_is_module(a));
	list = xasprintf("%s/" WARM_PROCESS_LISTED, w->process.dir);
	w->process.listed = access(list, R_OK) == 0;
	free(list);
	w->known = true;
}

/* Make a supervisor, and give it the attempt: its process id, or 0. */
static pid_t
node_warm_give(struct node_warm *w, const struct node_ask *a, int *word_fd)
{
	char *text = xcalloc(1, SHIM_JOB_MAX);
	size_t len = waiting_words_job(text, a->argv, a->env);
	char **argv = waiting_words_argv(a->argv[0]);
	char **env = waiting_words_env(a->env);
	int s[2] = { -1, -1 };
	pid_t pid = 0;

	if (len > 0 && waiting_sockets_open(s) == 0) {
		pid = warm_process_fork(&w->process, a->argv[0], argv, env,
		    (int[]){ s[1], a->fds[0], a->fds[1] }, 3);
		(void)close(s[1]);
	}
	if (pid > 0 && send(s[0], text, len, MSG_DONTWAIT | MSG_NOSIGNAL) !=
			   (ssize_t)len) {
		(void)kill(pid, SIGKILL);
		pid = 0;
	}
	if (pid == 0 && s[0] != -1)
		(void)close(s[0]);
	*word_fd = pid == 0 ? -1 : s[0];
	strv_free(env);
	strv_free(argv);
	free(text);
	return pid;
}

pid_t
node_warm_answer(struct node_warm *w, int fd, int *word_fd)
{
	struct node_ask *a = xcalloc(1, sizeof *a);
	char answer = SHIM_WARM_NO;
	pid_t pid = 0;
	size_t i;

	a->fds[0] = a->fds[1] = -1;
	if (node_ask_read(a, fd)) {
		node_warm_know(w, a);
		warm_process_hear(&w->process);
		(void)warm_process_begin(
		    &w->process, a->workdir, a->env, a->cpus);
		if (w->process.state == WARM_PROCESS_READY &&
		    warm_process_fits(&w->process, a->env))
			pid = node_warm_give(w, a, word_fd);
	}
	if (pid != 0)
		answer = SHIM_WARM_GO;
	(void)send(fd, &answer, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	for (i = 0; i < ASK_FDS; i++)
		if (a->fds[i] != -1)
			(void)close(a->fds[i]);
	free(a);
	return pid;
}

void
node_warm_notes_write(struct node_warm *w)
{
	const struct strv *notes = &w->process.notes;
	char *path, *text, *at;
	int fd;

	if (w->noted == notes->n)
		return;
	path = xasprintf("%s/" NODE_WARM "/" NODE_WARM_NOTES, w->dir);
	fd = file_open_for(AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	for (; fd != -1 && w->noted < notes->n; w->noted++) {
		text = xasprintf("%s\n", notes->v[w->noted]);
		for (at = text; at[1] != '\0'; at++)
			if (*at == '\n')
				*at = ' ';
		if (write(fd, text, strlen(text)) == -1)
			(void)dprintf(2, "hpotune-node: %s", text);
		free(text);
	}
	if (fd != -1)
		(void)close(fd);
	free(path);
}

void
node_warm_close(struct node_warm *w)
{
	if (!w->known)
		return;
	node_warm_notes_write(w);
	warm_process_close(&w->process);
	w->process = (struct warm_process){ .fd = -1 };
	w->noted = 0;
	w->known = false;
}
