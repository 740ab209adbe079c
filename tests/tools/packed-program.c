/*
 * A program of many trials for tests/scenario/packed/pack.t: each trial reports steps 1 to 6
 * of "loss", and writes the step it is at into its checkpoint.  Files in its
 * working folder tell it how to behave:
 *
 *	starts	gets a line with its pid for each start of it
 *	heard	gets every line it is told
 *	hold	while it is there, no trial goes beyond step 3
 *	deaf	it minds no stop, no end of input and no SIGTERM
 *	crash	it removes it, and ends as that says: "exit 3", "signal 9"
 *	noise	it writes what is no protocol between its reports
 *	ledger	gets a line when a trial begins, has reported, and before it ends,
 *		as those of tests/support/sh/slurm-ledger.sh
 *	slow	while it is there, the steps of all trials take SLOW_MS
 */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIALS_MAX = 4096, STEPS = 6, HOLD_AT = 3, TICK_MS = 5, SLOW_MS = 200 };

struct trial {
	long number, attempt;
	int step;
	double x;
	char saved[4096]; /* path of its checkpoint */
};

static struct trial trials[TRIALS_MAX];
static size_t n_trials;

static bool
there(const char *name)
{
	return access(name, F_OK) == 0;
}

static void
append(const char *name, const char *fmt, ...)
{
	FILE *f = fopen(name, "a");
	va_list ap;

	if (f == NULL)
		exit(99);
	va_start(ap, fmt);
	(void)vfprintf(f, fmt, ap);
	va_end(ap);
	(void)fclose(f);
}

/* What is written for the server goes before it. */
static void
ledger(const char *what, const struct trial *t, int step)
{
	const char *node = getenv("SLURMD_NODENAME");

	if (!there("ledger"))
		return;
	(void)fflush(stdout);
	append("ledger", "%s %ld %ld.%ld %d %s\n", what, t->number, t->number,
	    t->attempt, step, node != NULL ? node : "-");
}

/* The number behind a key, or -1. */
static double
number_of(const char *line, const char *key)
{
	char word[64];
	const char *at;

	(void)snprintf(word, sizeof word, "\"%s\":", key);
	at = strstr(line, word);
	return at != NULL ? strtod(at + strlen(word), NULL) : -1;
}

static void
trial_start(const char *line)
{
	struct trial *t = &trials[n_trials++];
	const char *at = strstr(line, "\"checkpoint_dir\":\"");
	FILE *f;

	*t = (struct trial){ .number = (long)number_of(line, "start"),
		.attempt = (long)number_of(line, "attempt"),
		.x = number_of(line, "x") };
	if (at == NULL)
		exit(98);
	at += strlen("\"checkpoint_dir\":\"");
	(void)snprintf(
	    t->saved, sizeof t->saved, "%.*s/step", (int)strcspn(at, "\""), at);
	f = fopen(t->saved, "r");
	if (f != NULL) {
		if (fscanf(f, "%d", &t->step) != 1)
			exit(97);
		(void)fclose(f);
	}
	printf("{\"log\":\"begins after step %d\",\"trial\":%ld}\n", t->step,
	    t->number);
	ledger("begin", t, t->step);
}

static void
trial_end(size_t i)
{
	ledger("end", &trials[i], trials[i].step);
	printf("{\"trial\": %ld, \"end\": 0}\n", trials[i].number);
	trials[i] = trials[--n_trials];
}

static void
hear(const char *line)
{
	size_t i;

	append("heard", "%s\n", line);
	if (strncmp(line, "{\"start\":", 9) == 0)
		trial_start(line);
	if (strncmp(line, "{\"stop\":", 8) != 0 || there("deaf"))
		return;
	for (i = 0; i < n_trials; i++)
		if (trials[i].number == (long)number_of(line, "stop")) {
			trial_end(i);
			return;
		}
}

/* False at the end of the input. */
static bool
listen_to_it(void)
{
	static char in[1 << 20];
	static size_t have;
	struct pollfd p = { .fd = 0, .events = POLLIN };
	char *line = in, *end;
	ssize_t n;

	if (poll(&p, 1, n_trials > 0 ? TICK_MS : 10 * TICK_MS) != 1)
		return true;
	n = read(0, in + have, sizeof in - 1 - have);
	if (n <= 0)
		return false;
	have += (size_t)n;
	in[have] = '\0';
	for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		hear(line);
	}
	have = strlen(line);
	memmove(in, line, have);
	return true;
}

static void
noise(const struct trial *t)
{
	printf("epoch %d\n{\"trial\":\n[1]\n{\"step\":1,\"loss\":0}\n"
	       "{\"trial\":999999,\"step\":1,\"loss\":0}\n"
	       "{\"trial\":%ld,\"attempt\":77,\"step\":1,\"loss\":-7}\n"
	       "{\"trial\":-1,\"end\":0}\n{\"trial\":%ld,\"end\":\"x\"}\n\n"
	       "{\"trial\":%ld,\"step\":%d,\"other\":NaN}\n"
	       "{\"log\":\"nobody's\"}\n",
	    t->step, t->number, t->number, t->number, t->step);
	printf("%0*d\n", 70000, 7);
}

/* One step; false when it has ended. */
static bool
trial_go_on(size_t i)
{
	struct trial *t = &trials[i];
	char path[4200];
	FILE *f;

	if (t->step >= HOLD_AT && there("hold"))
		return true;
	if (t->step >= STEPS) {
		trial_end(i);
		return false;
	}
	t->step++;
	if (there("noise"))
		noise(t);
	printf("{\"trial\":%ld,\"step\":%d,\"loss\":%.17g}\n", t->number,
	    t->step, t->x * t->x + 1.0 / t->step);
	ledger("report", t, t->step);
	(void)snprintf(path, sizeof path, "%s.new", t->saved);
	f = fopen(path, "w");
	if (f == NULL)
		exit(96);
	(void)fprintf(f, "%d\n", t->step);
	(void)fclose(f);
	return rename(path, t->saved) == 0;
}

static void
crash(void)
{
	FILE *f = fopen("crash", "r");
	char how[16];
	int number;

	if (f == NULL)
		return;
	if (fscanf(f, "%15s %d", how, &number) != 2)
		exit(95);
	(void)fclose(f);
	(void)unlink("crash");
	(void)fflush(stdout);
	if (strcmp(how, "signal") == 0)
		(void)raise(number);
	exit(number);
}

int
main(void)
{
	bool told = true;
	size_t i;

	append("starts", "%d\n", (int)getpid());
	if (there("deaf"))
		(void)signal(SIGTERM, SIG_IGN);
	while (told || there("deaf")) {
		if (told)
			told = listen_to_it();
		else
			(void)poll(NULL, 0, TICK_MS);
		for (i = 0; i < n_trials;)
			i += trial_go_on(i);
		(void)fflush(stdout);
		crash();
		if (there("slow"))
			(void)poll(NULL, 0, SLOW_MS);
	}
	return 0;
}
