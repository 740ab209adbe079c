// Runs a test and ends it, with what it started, when it stands still:
//	time-limit SECONDS COMMAND [ARGUMENT...]
// The command is the first of a process group of its own and reads nothing; its
// standard output passes through here.  After SECONDS without a line of it the
// group gets SIGTERM, ten seconds later SIGKILL, and a line of TAP says that the
// test was given up: on a machine that has much to do a test takes longer, and each
// of its lines says that it goes on.  SIGINT, SIGQUIT, SIGTERM and SIGHUP are handed
// on to the group.  The last line says how long it took, and how much of the
// processors what it waited for has used.
// Exit status: that of the command, 128 + the signal that ended it, 99 when
// there is no command to run.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { AFTER_TERM = 10 }; /* seconds */

static const int handled[] = { SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP };
enum { HANDLED = sizeof(handled) / sizeof(*handled) };

static volatile sig_atomic_t group;

static void
on_signal(int number)
{
	int saved = errno;
	if (number != SIGCHLD)
		kill(-(pid_t)group, number);
	errno = saved;
}

static double
now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// Print what can be read; *line: when the last whole line came.  Returns whether
// there can be more.
static bool
pass_on(int from, double *line)
{
	char some[65536];
	ssize_t n = read(from, some, sizeof some);
	if (n < 0)
		return errno == EINTR;
	for (ssize_t done = 0; done < n;) {
		ssize_t out =
		    write(STDOUT_FILENO, some + done, (size_t)(n - done));
		if (out < 0 && errno != EINTR)
			return false;
		done += out > 0 ? out : 0;
	}
	if (n > 0 && memchr(some, '\n', (size_t)n) != NULL)
		*line = now();
	return n > 0;
}

static void
be_the_command(char **argv, const int pipe_fds[2], const sigset_t *before)
{
	int null = open("/dev/null", O_RDONLY);
	if (null >= 0 && null != STDIN_FILENO) {
		dup2(null, STDIN_FILENO);
		close(null);
	}
	dup2(pipe_fds[1], STDOUT_FILENO);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	setpgid(0, 0);
	sigprocmask(SIG_SETMASK, before, NULL);
	execvp(argv[0], argv);
	fprintf(stderr, "time-limit: %s: %s\n", argv[0], strerror(errno));
	_exit(99);
}

// Wait for the command, whose output comes from there; the mask is that of the
// time in which signals are taken.  Returns whether it was ended.
static bool
watch(int from, double limit, const sigset_t *mask, int *status)
{
	double line = now(), due = line + limit;
	int sent = 0;
	struct pollfd output = { .fd = from, .events = POLLIN };
	while (waitpid((pid_t)group, status, WNOHANG) == 0) {
		double left = due - now();
		if (left <= 0) {
			kill(-(pid_t)group, sent++ == 0 ? SIGTERM : SIGKILL);
			due = now() + AFTER_TERM;
			continue;
		}
		struct timespec t = { .tv_sec = (time_t)left,
			.tv_nsec =
			    (long)((left - (double)(time_t)left) * 1e9) };
		if (ppoll(&output, 1, &t, mask) <= 0)
			continue;
		if (!pass_on(from, &line))
			output.fd = -1;
		if (sent == 0)
			due = line + limit;
	}
	// Only what is there: a process that stays behind can hold the pipe.
	while (
	    output.fd >= 0 && poll(&output, 1, 0) > 0 && pass_on(from, &line))
		;
	return sent > 0;
}

int
main(int argc, char **argv)
{
	long seconds = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
	if (seconds <= 0 || seconds > 86400) {
		fputs("usage: time-limit SECONDS COMMAND ...\n", stderr);
		return 99;
	}
	sigset_t held, before;
	sigemptyset(&held);
	for (int i = 0; i < HANDLED; i++)
		sigaddset(&held, handled[i]);
	sigprocmask(SIG_BLOCK, &held, &before);
	int fds[2];
	if (pipe(fds) < 0) {
		perror("time-limit: pipe");
		return 99;
	}
	double began = now();
	pid_t child = fork();
	if (child < 0) {
		perror("time-limit: fork");
		return 99;
	}
	if (child == 0)
		be_the_command(argv + 2, fds, &before);
	close(fds[1]);
	setpgid(child, child);
	group = child;
	for (int i = 0; i < HANDLED; i++) {
		struct sigaction action = { .sa_handler = on_signal };
		sigaction(handled[i], &action, NULL);
	}
	int status = 0;
	if (watch(fds[0], (double)seconds, &before, &status)) {
		// What stays behind would hold the reader of our output.
		kill(-child, SIGKILL);
		printf("\nBail out! it was ended after %ld seconds without a "
		       "line\n",
		    seconds);
	}
	struct rusage used;
	getrusage(RUSAGE_CHILDREN, &used);
	double busy =
	    (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	    (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	printf("# took %.1f s, %.1f s of a processor\n", now() - began, busy);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
