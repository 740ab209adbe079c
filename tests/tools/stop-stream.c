/*
 * A rule on a stream from standard input, for comparing it with other tools:
 *
 *	stop-stream RULE OPTIONS minimize|maximize
 *
 * "TRIAL STEP VALUE" is a report, answered by "stop" or "keep"; "TRIAL end
 * STATE" ends a trial.
 */

#include <inttypes.h>

#include "tests/support/rule-bench.h"

static int
end_line(struct bench *b, int64_t trial, const char *name)
{
	enum trial_state state;

	if (!trial_state_parse(name, &state))
		return -1;
	bench_end(b, trial, state, 0);
	return 0;
}

static int
one_line(struct bench *b, const char *line)
{
	char step[32], value[64], *end;
	int64_t trial;
	double v;

	if (sscanf(line, "%" SCNd64 " %31s %63s", &trial, step, value) != 3 ||
	    trial < 1)
		return -1;
	if (strcmp(step, "end") == 0)
		return end_line(b, trial, value);
	v = strtod(value, &end);
	if (*end != '\0')
		return -1;
	puts(bench_report(b, trial, strtoll(step, NULL, 10), v) == '.'
		 ? "keep"
		 : "stop");
	return 0;
}

int
main(int argc, char **argv)
{
	struct bench b;
	char line[256];

	if (argc != 4) {
		fprintf(stderr, "usage: stop-stream RULE OPTIONS GOAL\n");
		return 2;
	}
	b = bench_open(argv[1], argv[2], strcmp(argv[3], "maximize") == 0, 0);
	while (fgets(line, sizeof(line), stdin) != NULL)
		if (one_line(&b, line) == -1) {
			fprintf(stderr, "stop-stream: %s", line);
			return 1;
		}
	bench_close(&b);
	return 0;
}
