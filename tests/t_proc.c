/*
 * Processes that stand still: one that job control has stopped is let go on,
 * one that a tracer holds is left to it.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"
#include "trials/proc.h"

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
	ok(ends_with_7(pid), "goes on");
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

int
main(void)
{
	test_stopped();
	test_traced();
	return done_testing();
}
