/*
 * The clock is set while a trial runs: an hour back, its files are read all the
 * same; a year forward, it is not overdue.
 */

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/local-backend.h"
#include "tests/support/tap.h"
#include "trials/local/local-internal.h"

enum { HOUR = 3600, YEAR = 365 * 24 * HOUR };

static time_t set_by; /* seconds */

/* In place of the C library's: only the clock of days is set. */
int
clock_gettime(clockid_t clock, struct timespec *t)
{
	int r = (int)syscall(SYS_clock_gettime, clock, t);

	if (clock == CLOCK_REALTIME)
		t->tv_sec += set_by;
	return r;
}

/* A script in the folder of the test, which its first file is of. */
static int
start(struct local_backend *rig, const char *script)
{
	static char path[512], text[1024];
	static char *files[] = { path, NULL };
	char *argv[] = { "sh", "-c", text, NULL };
	struct launch_spec spec = local_rig_spec(rig, 1, argv);

	(void)snprintf(path, sizeof path, "%s/a.jsonl", rig->dir);
	(void)snprintf(text, sizeof text, "cd %s\n%s", rig->dir, script);
	spec.files = files;
	return backend_local.start(rig->ctx, &spec, NULL);
}

static void
tell(const struct local_backend *rig, const char *name)
{
	char path[512];

	(void)snprintf(path, sizeof path, "%s/%s", rig->dir, name);
	(void)fclose(fopen(path, "w"));
}

/* The file is written an hour before the trial began, as its time says. */
static void
test_back(void)
{
	static char format[] = "json", path[] = "a.jsonl";
	struct study_file file = { .format = format, .path_text = path };
	struct local_backend rig;

	local_rig_open(&rig, NULL);
	rig.settings.files = &file;
	rig.settings.n_files = 1;
	is_int(start(&rig, "until [ -e set ]; do sleep 0.05; done\n"
			   "echo '{\"a\": 1}' >b; touch -d '-1 hour' b\n"
			   "mv b a.jsonl; exec sleep 100"),
	    0, "a trial starts");
	ok(local_rig_until(&rig, local_rig_is_up, 1), "and runs");
	set_by = -HOUR;
	tell(&rig, "set");
	ok(local_rig_until(&rig, local_rig_reported, 1),
	    "an hour back: what it writes then is read");
	backend_local.stop(rig.ctx, 1, 1, true);
	ok(local_rig_until(&rig, local_rig_over, 1), "and it is stopped");
	set_by = 0;
	rig.settings.n_files = 0;
	local_rig_close(&rig);
}

/* The server's own clock says when it began, since it kills what is overdue. */
static void
test_forward(void)
{
	const struct local *l;
	struct local_backend rig;
	struct err e = ERR_INIT;

	local_rig_open(&rig, NULL);
	rig.settings.max_run_ms = HOUR * 1000;
	is_int(start(&rig, "until [ -e end ]; do sleep 0.05; done"), 0,
	    "a trial starts");
	ok(local_rig_until(&rig, local_rig_is_up, 1), "and runs");
	set_by = YEAR;
	local_rig_restart(&rig);
	is_int(local_rig_look(&rig, 1, &e), ADOPT_ALIVE,
	    "a year later it is adopted");
	ok(local_rig_until(&rig, local_rig_is_up, 1), "and found to run");
	l = rig.ctx;
	ok(loop_now_ms(rig.loop) - l->attempts[0]->up_ms < HOUR * 1000,
	    "since it began, not for a year");
	tell(&rig, "end");
	ok(local_rig_until(&rig, local_rig_over, 1), "it ends");
	is_int(rig.trial[1].exit.exit_code, 0, "by itself");
	ok(!rig.trial[1].exit.timeout, "and was not overdue");
	set_by = 0;
	local_rig_close(&rig);
}

int
main(void)
{
	test_back();
	test_forward();
	return done_testing();
}
