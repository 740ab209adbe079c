/* Processes that are recognised later: alive, gone, another one, elsewhere. */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/process-mark.h"
#include "tests/support/tap.h"

static void
test_marks(void)
{
	struct process_mark self, child, other;
	uint64_t ns = process_mark_namespace();
	pid_t pid = fork();

	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	ok(ns != 0, "there is a namespace");
	ok(process_mark_take(&self, getpid(), ns), "this process has a mark");
	ok(process_mark_take(&child, pid, ns), "a child has one");
	ok(!process_mark_same(&self, &child), "another one");
	is_int(process_mark_look(&child), PROCESS_SEEN_ALIVE, "it is alive");
	other = child;
	(void)snprintf(strrchr(other.text, ' '), 8, " 7");
	is_int(process_mark_look(&other), PROCESS_SEEN_GONE,
	    "one that had its pid before is gone");
	other = self;
	other.text[0] ^= 1;
	is_int(process_mark_look(&other), PROCESS_SEEN_GONE,
	    "so is one of an earlier boot");
	(void)snprintf(other.host, sizeof other.host, "elsewhere.example");
	is_int(process_mark_look(&other), PROCESS_SEEN_UNKNOWN,
	    "of another machine nothing is known");
	other = self;
	(void)snprintf(strchr(other.text, ' '), 8, " 7 7");
	is_int(process_mark_look(&other), PROCESS_SEEN_UNKNOWN,
	    "nor of another namespace");
	ok(!process_mark_take(&other, pid, ns + 1) && other.pid == 0,
	    "whose pids are not ours");
	(void)kill(pid, SIGKILL);
	/* A zombie, until it is reaped. */
	(void)waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	is_int(
	    process_mark_look(&child), PROCESS_SEEN_GONE, "a zombie is gone");
	(void)waitpid(pid, NULL, 0);
	is_int(process_mark_look(&child), PROCESS_SEEN_GONE, "then it is, too");
	ok(!process_mark_take(&other, pid, ns), "and has no mark");
	is_int(process_mark_look(&(struct process_mark){ 0 }),
	    PROCESS_SEEN_UNKNOWN, "nobody is unknown");
	ok(!process_mark_is_terminal(pid), "and no terminal");
}

int
main(void)
{
	test_marks();
	return done_testing();
}
