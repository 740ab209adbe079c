/*
 * Stopped processes: one stopped by job control is continued, one held by a
 * tracer is not.  And processes with a marker in their environment, which are
 * killed.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/tap.h"
#include "trials/process/proc-environ.h"
#include "trials/process/proc.h"

/* A child that stops by itself and then ends with 7. */
static pid_t
child_stopped(bool traced)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		(void)setpgid(0, 0);
		if (traced)
			(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		(void)raise(SIGSTOP);
		_exit(7);
	}
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		ok(false, "a child stops");
	return pid;
}

static bool
ends_with_7(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 7;
}

static char
state_of(pid_t pid)
{
	struct proc_stat s;

	return proc_stat(pid, &s) ? s.state : '-';
}

/* The signals that wait for it, as a mask. */
static unsigned long
pending_of(pid_t pid)
{
	char path[64], line[256];
	unsigned long mask = 0;
	FILE *f;

	(void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		(void)sscanf(line, "ShdPnd: %lx", &mask);
	if (f != NULL)
		(void)fclose(f);
	return mask;
}

static void
test_stopped(void)
{
	pid_t pid = child_stopped(false);

	is_int(state_of(pid), 'T', "a stopped child");
	proc_continue_child(pid);
	ok(ends_with_7(pid), "continues");
	pid = child_stopped(false);
	proc_continue_group(pid + 1);
	is_int(state_of(pid), 'T', "another group is not meant");
	proc_continue_group(pid);
	ok(ends_with_7(pid), "its own is");
}

static void
test_traced(void)
{
	unsigned long cont = 1UL << (SIGCONT - 1);
	pid_t pid = child_stopped(true);

	is_int(state_of(pid), 't', "a child that its tracer holds");
	proc_continue_child(pid);
	proc_continue_group(pid);
	ok((pending_of(pid) & cont) == 0, "is sent nothing");
	(void)kill(pid, SIGCONT);
	ok((pending_of(pid) & cont) != 0, "which would be seen");
	(void)ptrace(PTRACE_DETACH, pid, NULL, NULL);
	ok(ends_with_7(pid), "it ends when it is let go");
}

static bool
has_environ(pid_t pid)
{
	char path[64], byte;
	bool has;
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	has = fd != -1 && read(fd, &byte, 1) == 1;
	if (fd != -1)
		(void)close(fd);
	return has;
}

/* A program with this variable, which waits to be killed; -1: none. */
static pid_t
child_marked(const char *word)
{
	char *argv[] = { (char *)(uintptr_t) "sleep", (char *)(uintptr_t) "600",
		NULL };
	char *env[] = { (char *)(uintptr_t) "A=1", (char *)(uintptr_t)word,
		NULL };
	int ready[2], i;
	char byte;
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC) == -1)
		return -1;
	pid = fork();
	if (pid == 0) {
		(void)execve("/bin/sleep", argv, env);
		_exit(127);
	}
	(void)close(ready[1]);
	/* Closed by the exec, which gives it that environment soon after. */
	while (read(ready[0], &byte, 1) == -1 && errno == EINTR)
		;
	(void)close(ready[0]);
	for (i = 0; i < 60000 && !has_environ(pid); i++)
		(void)poll(NULL, 0, 1);
	return pid;
}

static bool
is_killed(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGKILL;
}

static void
test_marked(void)
{
	char mark[64], longer[80];
	pid_t ours, others;

	(void)snprintf(mark, sizeof mark, "T_PROC_MARK=%d", (int)getpid());
	(void)snprintf(longer, sizeof longer, "%s-other", mark);
	ours = child_marked(mark);
	others = child_marked(longer);
	is_int(proc_environ_kill("T_PROC_MARK", strchr(mark, '=') + 1), 1,
	    "of two with a mark one has this value");
	ok(is_killed(ours), "which is killed");
	ok(waitpid(others, NULL, WNOHANG) == 0, "the other continues");
	(void)kill(others, SIGKILL);
	ok(is_killed(others), "until it is meant");
}

enum { BELOW = 3 };

/* A process with a child, which has one too; each says that it is there. */
static void
child_below(int depth, int ready)
{
	pid_t pid = fork();

	if (pid == 0 && depth > 1)
		child_below(depth - 1, ready);
	if (pid == 0) {
		(void)!write(ready, "x", 1);
		for (;;)
			(void)pause();
	}
}

static void *
thread_forks(void *arg)
{
	child_below(BELOW, *(int *)arg);
	return pause() == 0 ? arg : NULL;
}

/* Whom a thread has started is below its process, and so on. */
static void
test_below(void)
{
	struct proc_node list[16];
	bool found[2] = { false, false };
	pthread_t thread;
	int ready[2];
	char byte;
	size_t i, n;

	ok(pipe(ready) == 0 &&
		pthread_create(&thread, NULL, thread_forks, &ready[1]) == 0,
	    "a thread starts a process");
	for (i = 0; i < BELOW; i++)
		(void)!read(ready[0], &byte, 1);
	n = proc_descendants(getpid(), list, sizeof list / sizeof list[0]);
	is_int((long long)n, BELOW, "it and those below it are found");
	for (i = 0; i < n; i++) {
		found[0] |= list[i].ppid == getpid();
		found[1] |= i > 0 && list[i].pid < list[i - 1].pid;
	}
	ok(found[0] && !found[1], "with their parents, in order");
	is_int((long long)proc_descendants(getpid(), list, 2), 2,
	    "no more than there is room for");
	is_int(proc_kill_descendants(getpid()), BELOW, "all are killed");
	while (waitpid(-1, NULL, 0) > 0)
		continue;
	is_int(
	    (long long)proc_descendants(getpid(), list, 16), 0, "none is left");
}

int
main(void)
{
	test_stopped();
	test_traced();
	test_marked();
	test_below();
	return done_testing();
}
