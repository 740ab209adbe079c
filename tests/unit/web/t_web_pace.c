/* What counts of the time in which a reader has not got on. */

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/web/web-pace.h"
#include "tests/support/tap.h"

enum { MOST_MS = 100, SPUN_US = 200000 };

/* Looks at one process, 50 ms after one another. */
static void
test_looks(void)
{
	static const struct {
		const char *what;
		char states[8];
		int64_t cpu_us[8], delay_us[8], disk_bytes[8]; /* of all */
		int64_t idle_us, taken_us;
	} rows[] = {
		{ .what = "it computes",
		    .states = "RR",
		    .cpu_us = { 50000, 90000 },
		    .idle_us = 90000,
		    .taken_us = 90000 },
		{ .what = "it waits for the processor",
		    .states = "RR",
		    .delay_us = { 0, 0 },
		    .idle_us = 0,
		    .taken_us = 0 },
		{ .what = "it waits for a lock",
		    .states = "SS",
		    .idle_us = 100000,
		    .taken_us = 100000 },
		{ .what = "for a disk that gives nothing",
		    .states = "DDD",
		    .idle_us = 150000,
		    .taken_us = 150000 },
		{ .what = "for a disk that gives bytes",
		    .states = "DDDD",
		    .disk_bytes = { 4096, 8192, 12288, 16384 },
		    .idle_us = 0,
		    .taken_us = 200000 },
		{ .what = "for one that gives none any more",
		    .states = "DDDD",
		    .disk_bytes = { 4096, 8192, 8192, 8192 },
		    .idle_us = 100000,
		    .taken_us = 200000 },
		{ .what = "bytes do not excuse computing",
		    .states = "RRD",
		    .cpu_us = { 50000, 100000, 100000 },
		    .disk_bytes = { 4096, 8192, 12288 },
		    .idle_us = 100000,
		    .taken_us = 150000 },
		{ .what = "it slept, and waited for the processor then",
		    .states = "SS",
		    .delay_us = { 30000, 80000 },
		    .idle_us = 20000,
		    .taken_us = 20000 },
		{ .what = "it has ended",
		    .states = "ZZ",
		    .idle_us = 0,
		    .taken_us = 0 },
		{ .what = "the kernel says nothing",
		    .states = "??",
		    .idle_us = 100000,
		    .taken_us = 100000 },
	};
	struct web_pace_seen seen;
	struct web_pace p;
	size_t i, k;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		web_pace_begin(&p, 7);
		for (k = 0; rows[i].states[k] != '\0'; k++) {
			seen = (struct web_pace_seen){
				.state = rows[i].states[k],
				.cpu_us = rows[i].cpu_us[k],
				.delay_us = rows[i].delay_us[k],
				.disk_bytes = rows[i].disk_bytes[k],
			};
			web_pace_look(&p, &seen, 57 + 50 * (int64_t)k, MOST_MS);
		}
		is_int(web_pace_idle_us(&p), rows[i].idle_us, rows[i].what);
		is_int(p.taken_us, rows[i].taken_us, "what it has taken");
		web_pace_on(&p);
		is_int(web_pace_idle_us(&p), 0, "it gets on");
	}
}

/* Between two looks the machine slept. */
static void
test_gap(void)
{
	struct web_pace_seen seen = { .state = 'S' };
	struct web_pace p;

	web_pace_begin(&p, 0);
	web_pace_look(&p, &seen, 60000, MOST_MS);
	is_int(web_pace_idle_us(&p), 1000 * MOST_MS, "a long gap is ours");
}

/* What the kernel tells of a process. */
static void
test_read(void)
{
	struct web_pace_seen first, then;
	int64_t until;
	pid_t pid;
	int p[2];
	char byte;

	web_pace_read(&first, getpid());
	is_int(first.state, 'R', "who reads this runs");
	until = clock_cpu_us() + SPUN_US;
	while (clock_cpu_us() < until)
		;
	web_pace_read(&then, getpid());
	ok(then.cpu_us >= first.cpu_us + SPUN_US, "the processor's time");
	ok(then.disk_bytes >= first.disk_bytes &&
		then.delay_us >= first.delay_us,
	    "nothing gets less");
	if (pipe(p) != 0 || (pid = fork()) == -1) {
		printf("Bail out! no process\n");
		exit(1);
	}
	if (pid == 0)
		_exit(0);
	/* The end of the process closes the pipe, and is seen a moment later. */
	(void)close(p[1]);
	(void)!read(p[0], &byte, 1);
	do
		web_pace_read(&then, pid);
	while (then.state != 'Z' && then.state != '\0');
	is_int(then.state, 'Z', "one that has ended");
	(void)waitpid(pid, NULL, 0);
	web_pace_read(&then, pid);
	is_int(then.state, '\0', "one that is no more");
	(void)close(p[0]);
}

int
main(void)
{
	test_looks();
	test_gap();
	test_read();
	return done_testing();
}
