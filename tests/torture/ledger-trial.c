/*
 * A trial with its own journal: one line per start, report and end in the file
 * $LEDGER, each with one write, so that a judge can compare them with the
 * store.  It uses none of hpotune's code.
 *
 *	ledger-trial KIND STEPS MS [FILE]
 *
 * KIND is plain; fail: its first attempt fails; daemon: leaves one behind; bad:
 * its first report is bad, then it waits to be stopped; deaf: bad, and ignores
 * the stop; slow: bad in its first attempt, and good when it is resumed.  Each
 * leaves a checkpoint.  With FILE all reports are lines of that file.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FOREVER_MS = 60000 };

static int ledger, metrics, other = -1;
static int trial, attempt;
static volatile sig_atomic_t told_to_stop;

static void
on_term(int signo)
{
	(void)signo;
	told_to_stop = 1;
}

/* A line that cannot be written is worth a core, not a wrong verdict. */
static void
put_line(int fd, const char *line, int len)
{
	if (write(fd, line, (size_t)len) != len)
		abort();
}

static void
note(const char *what, long n, double value)
{
	char line[160];

	put_line(ledger, line,
	    snprintf(line, sizeof line, "%s %d %d %ld %.17g\n", what, trial,
		attempt, n, value));
}

static void
wait_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (!told_to_stop && nanosleep(&t, &t) == -1)
		;
}

/* By turns as a line of output and as a line of the metrics file. */
static void
report(long step, double value)
{
	char line[160];

	note("says", step, value);
	if (other != -1)
		put_line(other, line,
		    snprintf(
			line, sizeof line, "at %ld: %.17g\n", step, value));
	else if (step % 2 == 1)
		put_line(1, line,
		    snprintf(line, sizeof line,
			"hpotune: step=%ld score=%.17g\n", step, value));
	else
		put_line(metrics, line,
		    snprintf(line, sizeof line,
			"{\"step\": %ld, \"score\": %.17g}\n", step, value));
	note("said", step, value);
}

/* Different for every step of every attempt; later trials are better. */
static double
good_value(long step)
{
	return trial + attempt / 7.0 + (double)step / 1000;
}

/* Twice removed, in a session of its own, deaf: still to be ended. */
static void
leave_daemon(void)
{
	if (fork() != 0)
		return;
	(void)setsid();
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	if (fork() == 0) {
		(void)sleep(FOREVER_MS / 1000);
		_exit(0);
	}
	_exit(0);
}

/* A file that "keep" may delete when the trial has ended. */
static void
save(void)
{
	const char *dir = getenv("HPOTUNE_CHECKPOINT_DIR");
	int fd, at = open(dir != NULL ? dir : "", O_RDONLY | O_DIRECTORY);

	fd = at != -1 ? openat(at, "model", O_WRONLY | O_CREAT, 0600) : -1;
	if (fd == -1)
		abort();
	(void)close(fd);
	(void)close(at);
}

static int
number_of(const char *name)
{
	const char *text = getenv(name);

	if (text == NULL)
		abort();
	return atoi(text);
}

static int
open_append(const char *name)
{
	const char *path = getenv(name);
	int fd = open(path != NULL ? path : "",
	    O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

	if (fd == -1)
		abort();
	return fd;
}

int
main(int argc, char **argv)
{
	struct sigaction term = { .sa_handler = on_term };
	const char *kind = argc > 3 ? argv[1] : "";
	bool bad = strcmp(kind, "bad") == 0 || strcmp(kind, "deaf") == 0;
	long step, steps, ms;
	int status = 0;

	if (argc != 4 && argc != 5)
		return 2;
	steps = atol(argv[2]);
	ms = atol(argv[3]);
	trial = number_of("HPOTUNE_TRIAL");
	attempt = number_of("HPOTUNE_ATTEMPT");
	bad = bad || (strcmp(kind, "slow") == 0 && attempt == 1);
	if (strcmp(kind, "deaf") == 0)
		term.sa_handler = SIG_IGN;
	(void)sigaction(SIGTERM, &term, NULL);
	ledger = open_append("LEDGER");
	metrics = open_append("HPOTUNE_METRICS");
	if (argc == 5)
		other = open(
		    argv[4], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	note("start", getpid(), 0);
	save();
	if (strcmp(kind, "daemon") == 0)
		leave_daemon();
	for (step = 1; step <= steps && !told_to_stop; step++) {
		report(step, bad ? -(double)step : good_value(step));
		wait_ms(bad ? FOREVER_MS : ms);
	}
	if (strcmp(kind, "fail") == 0 && attempt == 1)
		status = 3;
	note("end", status, 0);
	return status;
}
