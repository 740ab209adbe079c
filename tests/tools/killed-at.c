/*
 * Runs a command and kills it before its Nth system call that changes anything:
 *
 *	killed-at N COMMAND [ARGUMENT …]
 *
 * Status 0: it was killed; 1: it ended before; 2: neither.
 */

#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/torture/trace.h"

int
main(int argc, char **argv)
{
	struct trace t = { 0 };
	enum trace_end end;
	pid_t pid;

	if (argc < 3 || (t.kill_at = strtol(argv[1], NULL, 10)) <= 0)
		return 2;
	pid = fork();
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			(void)execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid == -1)
		return 2;
	end = trace_child(&t, pid);
	if (end == TRACE_KILLED)
		(void)fprintf(stderr, "killed before call %ld, %s\n", t.calls,
		    trace_call_name(t.last));
	return end == TRACE_KILLED ? 0 : 1;
}
