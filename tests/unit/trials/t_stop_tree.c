/*
 * Whom a stop reaches: trees of shells below this process, which is their
 * supervisor.  Each program writes a letter when it hears SIGTERM.
 */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/scratch.h"
#include "tests/support/tap.h"
#include "trials/process/proc.h"
#include "trials/process/stop-tree.h"

/* This test, which is also the program: "t_stop_tree program LETTER". */
static char self[4096];
static struct stop_tree tree;

enum { MOST_LOOKS = 30000 }; /* of two milliseconds: a minute */

static void
on_term(int signo)
{
	(void)signo;
}

/*
 * A program: says "LETTER", and at SIGTERM "LETTER!", then ends; a capital does
 * so after others.
 */
static int
program(const char *letter)
{
	struct sigaction a = { .sa_handler = on_term };
	sigset_t none;
	char said[8];
	sigset_t term;
	int fd;

	(void)sigemptyset(&term);
	(void)sigaddset(&term, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &term, NULL);
	(void)sigaction(SIGTERM, &a, NULL);
	(void)sigemptyset(&none);
	fd = open("said", O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (write(fd, letter, 1) != 1)
		return 1;
	(void)sigsuspend(&none);
	if (*letter < 'a')
		(void)poll(NULL, 0, 200);
	(void)snprintf(said, sizeof said, "%s!", letter);
	return write(fd, said, 2) != 2;
}

static size_t
said(char text[64])
{
	int fd = open("said", O_RDONLY);
	ssize_t n = fd == -1 ? 0 : read(fd, text, 63);

	if (fd != -1)
		(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	return strlen(text);
}

/* Whether the first process of a script, which ends last, has not ended. */
static bool
is_up(pid_t pid)
{
	siginfo_t ended = { .si_pid = 0 };

	return waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) ==
		   0 &&
	       ended.si_pid == 0;
}

/* Run a script until so many programs are up. */
static pid_t
run(const char *shell, const char *script, size_t programs)
{
	char text[64];
	pid_t pid;

	(void)unlink("said");
	pid = fork();
	if (pid == 0) {
		(void)setenv("P", self, 1);
		(void)setpgid(0, 0);
		(void)execlp(shell, shell, "-c", script, (char *)NULL);
		_exit(127);
	}
	while (said(text) < programs && is_up(pid))
		(void)poll(NULL, 0, 2);
	if (!ok(said(text) >= programs, "%s", script))
		printf("# it said \"%s\"\n", text);
	return pid;
}

static bool
none_left(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return pid == -1;
}

/* Whether all processes have done what they do at this moment. */
static bool
all_sleep(void)
{
	struct proc_node list[16];
	struct proc_stat s;
	size_t i, n = proc_descendants(getpid(), list, 16);

	for (i = 0; i < n; i++)
		if (proc_stat(list[i].pid, &s) && strchr("SZ", s.state) == NULL)
			return false;
	return true;
}

/*
 * Stop it on a clock of our own, which reaches the times of the plan at once
 * when hurry is set, but stands still while a process has something to do.  What
 * was said, after all have ended.
 */
static const char *
stop(pid_t pid, bool hurry)
{
	static char text[64];
	int64_t now = 1000;
	int i;

	/* Ticks of that clock: everything has begun before the stop. */
	now += INT64_C(1) << 40;
	stop_tree_begin(&tree, &pid, 1, 40000, now);
	for (i = 0; !none_left() && i < MOST_LOOKS; i++) {
		if (hurry && all_sleep())
			now = tree.look_at_ms;
		stop_tree_look(&tree, now);
		(void)poll(NULL, 0, 2);
	}
	if (i == MOST_LOOKS)
		(void)proc_kill_descendants(getpid());
	while (!none_left())
		(void)poll(NULL, 0, 2);
	(void)said(text);
	return i < MOST_LOOKS ? text : "(it did not end)";
}

static void
test_told(void)
{
	pid_t pid;

	is_str(stop(run("sh", "exec $P program a", 1), false), "aa!",
	    "the main process");
	is_str(stop(run("sh", "$P program a; true", 1), false), "aa!",
	    "behind a shell, at once");
	is_str(stop(run("sh", "sh -c '$P program a; true'; true", 1), false),
	    "aa!", "behind two");
	is_str(stop(run("sh", "$P program A | $P program b", 2), true) + 2,
	    "A!b!", "who reads a pipe is told when its writer has ended");
	pid = run("sh",
	    "mkfifo f; (while read -r l; do sleep 0.3; printf $l >>said; done) "
	    "<f & exec >f; rm f; echo x; echo y; exec $P program a",
	    2);
	ok(strchr(stop(pid, false), 'y') != NULL,
	    "one that reads what is left of a writer that has ended is not");
	is_str(stop(run("sh", "trap '' TERM; (exec $P program a); true", 1),
		   false),
	    "aa!", "behind one that ignores it");
}

static void
test_waits(void)
{
	pid_t pid =
	    run("sh", "trap 'echo -n t >>said' TERM; $P program a; :", 1);

	is_str(stop(pid, true), "aa!t", "a trap runs after the program");
	pid = run("sh",
	    "trap 'kill $p' TERM; $P program A & p=$!; echo -n s >>said; "
	    "wait $p; wait $p",
	    2);
	is_str(stop(pid, true) + 2, "A!", "a trap passes it on");
	pid = run("sh", "trap exit TERM; $P program a & p=$!; wait $p", 1);
	is_str(stop(pid, true), "aa!",
	    "one that does not, and ends: told in the end");
}

int
main(int argc, char **argv)
{
	char folder[128];

	if (argc == 3 && strcmp(argv[1], "program") == 0)
		return program(argv[2]);
	(void)snprintf(
	    folder, sizeof folder, "%s/hpt-stop.XXXXXX", scratch_folder());
	if (realpath("/proc/self/exe", self) == NULL ||
	    mkdtemp(folder) == NULL || chdir(folder) == -1 ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1) == -1)
		return 1;
	test_told();
	test_waits();
	(void)scratch_delete(folder);
	return done_testing();
}
