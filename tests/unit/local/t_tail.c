/* Output that is large, torn, truncated, punched or binary. */

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/local-backend.h"
#include "tests/support/tap.h"
#include "trials/local/local-internal.h"

static bool
reported_twice(struct local_backend *rig, int64_t trial)
{
	return rig->trial[trial].reports >= 2;
}

static bool
reported_thrice(struct local_backend *rig, int64_t trial)
{
	return rig->trial[trial].reports >= 3;
}

static bool
reported_four_times(struct local_backend *rig, int64_t trial)
{
	return rig->trial[trial].reports >= 4;
}

static bool
never(struct local_backend *rig, int64_t turns)
{
	return rig->turns >= turns;
}

/*
 * What is printed, and what is read of it when the trial is over.  65536 bytes may
 * be a line, 65537 may not.
 */
static const struct {
	const char *what, *script;
	int reports, notes, least_reads;
	int64_t log; /* bytes of the log that are passed */
	double sum; /* of the reports */
	const char *first, *last, *note;
} outputs[] = {
	{ .what = "seventy thousand reports",
	    .script = "awk 'BEGIN { for (i = 0; i < 50000; i++) "
		      "print \"hpotune: step=\" i \" a=1\" }'\n"
		      "awk 'BEGIN { for (i = 0; i < 20000; i++) "
		      "print \"{\\\"step\\\":\" i \",\\\"b\\\":1}\" }' "
		      ">>$HPOTUNE_METRICS",
	    .reports = 70000,
	    .least_reads = 11,
	    .log = 1188890,
	    .sum = 70000,
	    .note = "" },
	{ .what = "long lines",
	    .script = "echo hpotune: step=1 a=1\n"
		      "printf 'hpotune: step=2 a=2%65517s\\n' ''\n"
		      "printf 'hpotune: step=3 a=3%65518s\\n' ''\n"
		      "head -c 300000 /dev/zero | tr '\\0' x; echo\n"
		      "echo hpotune: step=4 a=4\n"
		      "head -c 300000 /dev/zero | tr '\\0' y",
	    .reports = 3,
	    .notes = 1,
	    .log = 731116,
	    .sum = 7,
	    .first = "a 1 1",
	    .last = "a 4 4",
	    .note = "65536 bytes" },
	{ .what = "odd bytes",
	    .script = "printf 'hpotune: step=1 a=1\\0\\n'\n"
		      "printf '\\0\\0\\nhpotune: step=2 a=nan\\n'\n"
		      "printf '\\377\\376\\033[31mhpotune: step=9 a=9\\n'\n"
		      "printf 'hpotune: step=3 a=1e999\\n\\n\\n'",
	    .reports = 2,
	    .notes = 1,
	    .log = 99,
	    .sum = NAN,
	    .first = "a 2 nan",
	    .last = "a 3 inf",
	    .note = "zero byte" },
};

static void
test_outputs(void)
{
	struct local_backend rig;
	struct local_rig_trial *t = &rig.trial[1];
	size_t i;

	for (i = 0; i < sizeof outputs / sizeof *outputs; i++) {
		printf("# %s\n", outputs[i].what);
		local_rig_open(&rig, NULL);
		local_rig_sh(&rig, 1, outputs[i].script);
		ok(local_rig_until(&rig, local_rig_over, 1), "%s: it ends",
		    outputs[i].what);
		is_int(t->exit.exit_code, 0, "by itself");
		is_int(t->reports, outputs[i].reports, "reports");
		is_near(t->sum, outputs[i].sum, 0, "each once");
		ok(t->reads >= outputs[i].least_reads, "in several turns");
		is_int(
		    t->cursor.log, outputs[i].log, "all of the log is passed");
		if (outputs[i].first != NULL)
			is_str(t->first, outputs[i].first, "the first one");
		if (outputs[i].last != NULL)
			is_str(t->last, outputs[i].last, "the last one");
		is_int(t->notes, outputs[i].notes, "one note of all, or none");
		if (!ok(strstr(buf_str(&t->note), outputs[i].note) != NULL,
			"with what was wrong"))
			printf("# %s\n", buf_str(&t->note));
		local_rig_close(&rig);
	}
}

/* Half a line is not read before its other half is there. */
static void
test_half_lines(void)
{
	struct local_backend rig;
	struct local_rig_trial *t = &rig.trial[1];
	struct err e = ERR_INIT;
	char path[128];

	local_rig_open(&rig, NULL);
	local_rig_sh(&rig, 1,
	    "printf 'hpotune: step=1 a=1\\nhpotune: step=2 a=0.2'\n"
	    "while ! test -f go; do sleep 0.01; done\n"
	    "printf '5\\n'; exit 0");
	local_rig_until(&rig, local_rig_reported, 1);
	is_int(t->reports, 1, "half a line waits");
	is_int(t->cursor.log, 20, "before it");
	local_rig_restart(&rig);
	is_int(local_rig_look(&rig, 1, &e), ADOPT_ALIVE,
	    "for the next server too");
	local_rig_until(&rig, never, rig.turns + 2);
	(void)snprintf(path, sizeof path, "%s/go", rig.dir);
	close(open(path, O_CREAT, 0600));
	ok(local_rig_until(&rig, reported_twice, 1), "until it is whole");
	is_str(t->last, "a 2 0.25", "and right");
	local_rig_until(&rig, local_rig_over, 1);
	local_rig_close(&rig);
}

static void
test_cut(void)
{
	struct local_backend rig;
	struct local_rig_trial *t = &rig.trial[1];

	local_rig_open(&rig, NULL);
	local_rig_sh(&rig, 1,
	    "echo '{\"step\":1,\"a\":1}' >$HPOTUNE_METRICS\n"
	    "echo '{\"step\":2,\"a\":2}' >>$HPOTUNE_METRICS\n"
	    "while ! test -f go; do sleep 0.01; done\n"
	    "echo '{\"step\":3,\"a\":3}' >$HPOTUNE_METRICS\n"
	    "while ! test -f same; do sleep 0.01; done\n"
	    "echo '{\"step\":5,\"a\":5}' |\n"
	    "dd conv=notrunc of=$HPOTUNE_METRICS 2>/dev/null\n"
	    "while ! test -f new; do sleep 0.01; done\n"
	    "echo '{\"step\":4,\"a\":4}' >m.new; mv m.new $HPOTUNE_METRICS");
	local_rig_until(&rig, reported_twice, 1);
	close(open(local_rig_path(&rig, 1, "../../../../go"), O_CREAT, 0600));
	ok(local_rig_until(&rig, reported_thrice, 1), "a file started again");
	is_str(t->last, "a 3 3", "is read from its start");
	close(open(local_rig_path(&rig, 1, "../../../../same"), O_CREAT, 0600));
	ok(local_rig_until(&rig, reported_four_times, 1),
	    "a file replaced by one of equal length is read again");
	is_str(t->last, "a 5 5", "with other words in it");
	close(open(local_rig_path(&rig, 1, "../../../../new"), O_CREAT, 0600));
	ok(local_rig_until(&rig, local_rig_over, 1),
	    "a file that took the place of another is read");
	is_str(t->last, "a 4 4", "the last report is that of the new file");
	ok(strstr(buf_str(&t->note), "truncated") != NULL, "with a note");
	local_rig_close(&rig);
}

/* The server is away while far more is printed than is kept. */
static void
test_cap(void)
{
	struct local_backend rig;
	struct local_rig_trial *t = &rig.trial[1];
	struct err e = ERR_INIT;
	struct stat st;
	bool small = false;
	int i;

	local_rig_open(&rig, "{\"log_cap\": \"1MiB\"}");
	local_rig_sh(&rig, 1,
	    "echo hpotune: step=1 a=1\n"
	    "while ! test -f go; do sleep 0.01; done\n"
	    "head -c 60000000 /dev/zero | tr '\\0' '\\n'\n"
	    "echo >flooded\n"
	    "while ! test -f end; do sleep 0.01; done\n"
	    "echo hpotune: step=2 a=2");
	local_rig_until(&rig, local_rig_reported, 1);
	backend_local.close(rig.ctx);
	close(open(local_rig_path(&rig, 1, "../../../../go"), O_CREAT, 0600));
	local_rig_file(local_rig_path(&rig, 1, "../../../../flooded"));
	for (i = 0; i < 12000 && !small; i++) {
		small = stat(local_rig_path(&rig, 1, "log"), &st) == 0 &&
			st.st_blocks * 512 <= 1 << 21;
		(void)poll(NULL, 0, 5);
	}
	ok(small, "output beyond the cap leaves the disk");
	ok(st.st_size > 60000000, "though the file is as long as ever");
	if (local_rig_backend_open(&rig, &e) == -1)
		abort();
	is_int(local_rig_look(&rig, 1, &e), ADOPT_ALIVE, "the server is back");
	close(open(local_rig_path(&rig, 1, "../../../../end"), O_CREAT, 0600));
	ok(local_rig_until(&rig, local_rig_over, 1), "and receives the end");
	is_str(t->last, "a 2 2", "with the newest output");
	ok(strstr(buf_str(&t->note), "bytes of output were dropped") != NULL,
	    "what was dropped is reported");
	ok(t->reads < 100, "and not read");
	local_rig_close(&rig);
}

/* A store that is locked: nobody collects, and nothing spins. */
static void
test_patience(void)
{
	struct local_backend rig;
	int turns;

	local_rig_open(&rig, NULL);
	local_rig_sh(
	    &rig, 1, "while ! test -f end; do echo hpotune: a=1; done; exit 0");
	local_rig_sh(
	    &rig, 2, "echo hpotune: a=1; while ! test -f go; do :; done");
	local_rig_until(&rig, local_rig_reported, 1);
	local_rig_until(&rig, local_rig_reported, 2);
	turns = rig.turns;
	rig.deaf = true;
	close(open(local_rig_path(&rig, 1, "../../../../go"), O_CREAT, 0600));
	ok(!local_rig_until(&rig, local_rig_over, 2),
	    "without collect nothing is read");
	ok(rig.turns <= turns + 20, "and nothing spins");
	printf("# %d turns\n", rig.turns - turns);
	rig.deaf = false;
	close(open(local_rig_path(&rig, 1, "../../../../end"), O_CREAT, 0600));
	ok(local_rig_until(&rig, local_rig_over, 1), "all is read in the end");
	ok(local_rig_until(&rig, local_rig_over, 2), "of the other too");
	local_rig_close(&rig);
}

int
main(void)
{
	test_outputs();
	test_half_lines();
	test_cut();
	test_cap();
	test_patience();
	return done_testing();
}
