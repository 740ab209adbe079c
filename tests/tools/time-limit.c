// Runs a test and ends it, with what it started, when it takes too long:
//	time-limit SECONDS COMMAND [ARGUMENT...]
// The command is the first of a process group of its own and reads nothing.  At
// the limit the group gets SIGTERM, ten seconds later SIGKILL, and a line of
// TAP says that the test was given up.  SIGINT, SIGQUIT, SIGTERM and SIGHUP are
// handed on to the group.  The last line says how long it took, and how much of
// the processors what it waited for has used.
// Exit status: that of the command, 128 + the signal that ended it, 99 when
// there is no command to run.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t group;
static volatile sig_atomic_t alarms;

static void
on_signal(int number)
{
	int saved = errno;
	if (number == SIGALRM) {
		number = alarms++ == 0 ? SIGTERM : SIGKILL;
		alarm(10);
	}
	kill(-(pid_t)group, number);
	errno = saved;
}

int
main(int argc, char **argv)
{
	long seconds = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
	if (seconds <= 0 || seconds > 86400) {
		fputs("usage: time-limit SECONDS COMMAND ...\n", stderr);
		return 99;
	}
	static const int handled[] = { SIGALRM, SIGINT, SIGQUIT, SIGTERM,
		SIGHUP };
	enum { HANDLED = sizeof(handled) / sizeof(*handled) };
	sigset_t held, before;
	sigemptyset(&held);
	for (int i = 0; i < HANDLED; i++)
		sigaddset(&held, handled[i]);
	sigprocmask(SIG_BLOCK, &held, &before);
	pid_t child = fork();
	if (child < 0) {
		perror("time-limit: fork");
		return 99;
	}
	if (child == 0) {
		int null = open("/dev/null", O_RDONLY);
		if (null >= 0 && null != STDIN_FILENO) {
			dup2(null, STDIN_FILENO);
			close(null);
		}
		setpgid(0, 0);
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(argv[2], argv + 2);
		fprintf(
		    stderr, "time-limit: %s: %s\n", argv[2], strerror(errno));
		_exit(99);
	}
	setpgid(child, child);
	group = child;
	for (int i = 0; i < HANDLED; i++) {
		struct sigaction action = { .sa_handler = on_signal };
		sigaction(handled[i], &action, NULL);
	}
	struct timespec begin, end;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	alarm((unsigned)seconds);
	sigprocmask(SIG_SETMASK, &before, NULL);
	int status;
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR) {
			perror("time-limit: waitpid");
			return 99;
		}
	}
	if (alarms > 0) {
		// What stays behind would hold the reader of our output.
		kill(-child, SIGKILL);
		printf("\nBail out! it was ended after %ld seconds\n", seconds);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	double took = (double)(end.tv_sec - begin.tv_sec) +
		      (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
	struct rusage used;
	getrusage(RUSAGE_CHILDREN, &used);
	double busy =
	    (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	    (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	printf("# took %.1f s, %.1f s of a processor\n", took, busy);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
