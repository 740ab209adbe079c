/*
 * Torture: a server is killed at random moments, again and again, until its
 * study is done all the same; then the ledger is compared with the store.
 * With --shims supervisors are killed too.  Negative controls run programs
 * with a bug that the judge must find.
 *
 *	torture [--kills N] [--shims N] [--seed N] [--keep]
 */

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/ledger.h"
#include "tests/rig.h"
#include "tests/tap.h"

enum {
	LIFE_FIRST_US = 30000,
	LIFE_MIN_US = 2000,
	LIFE_MAX_US = 2000000,
	QUIET_MS = 5000,
	ROUND_MAX_MS = 240000
};

/* Delays widen the windows between two steps; kills hit them. */
#define SERVER_DELAYS                                                     \
	"tuner.before_commit=delay(5)%20,tuner.after_commit=delay(5)%20," \
	"tuner.before_act=delay(5)%20,store.before_commit=kill%1,"        \
	"store.after_commit=kill%1,local.before_spawn=delay(5)%20,"       \
	"local.after_spawn=delay(5)%20,local.after_mkdir=kill%1,"         \
	"local.before_stop=kill%5,local.after_stop=kill%5,"               \
	"local.before_end=kill%1,truth.before_locks=delay(8)%10,"         \
	"truth.after_locks=delay(8)%10,"
#define SHIM_DELAYS                                                   \
	"shim.begin=delay(60)%25,shim.before_claim=delay(5)%20,"      \
	"shim.after_claim=delay(5)%20,shim.after_fork=delay(5)%20,"   \
	"shim.before_exec=delay(5)%20,shim.after_update=delay(5)%20," \
	"shim.before_exit_record=delay(5)%20,"                        \
	"shim.after_exit_record=delay(5)%20"
#define SHIM_KILLS                                                            \
	"shim.begin=kill%1,shim.before_claim=kill%1,shim.after_claim=kill%1," \
	"shim.after_claim_sync=kill%1,shim.after_fork=kill%1,"                \
	"shim.after_update=kill%1,shim.before_stop=kill%3,"                   \
	"shim.before_exit_record=kill%1,shim.after_exit_record=kill%1"

struct run {
	const char *name;
	const char *fail;
	int kills; /* servers, at least; 0: until the study is done */
	int shim_kills; /* at least */
	int shim_percent; /* of server kills that also kill a supervisor */
	int trials; /* of each round */
	int rounds_max;
	bool caught; /* a negative control: faults are wanted */
};

struct score {
	struct verdict v;
	int kills, rounds;
	bool stuck;
	bool failed; /* the server gave up */
	int64_t ms;
};

struct life {
	uint64_t us; /* the longest a server may live */
	long ledger; /* bytes at the last look */
};

static long
file_size(const char *path)
{
	FILE *f = fopen(path, "r");
	long n = 0;

	if (f != NULL) {
		(void)fseek(f, 0, SEEK_END);
		n = ftell(f);
		(void)fclose(f);
	}
	return n;
}

/* Live longer while nothing is done, shorter while much is. */
static void
life_adapt(struct life *l, const struct rig *r)
{
	long n = file_size(r->ledger);

	if (n == l->ledger)
		l->us += l->us / 8;
	else
		l->us -= l->us / 10;
	l->ledger = n;
	if (l->us < LIFE_MIN_US)
		l->us = LIFE_MIN_US;
	if (l->us > LIFE_MAX_US)
		l->us = LIFE_MAX_US;
}

static void
round_open(struct rig *r, const struct run *run, uint64_t seed)
{
	char members[1600], command[700];

	rig_command(
	    command, sizeof command, "\"{kind}\", \"{steps}\", \"{ms}\"");
	(void)snprintf(members, sizeof members,
	    "\"objective\": {\"metric\": \"score\", \"goal\": \"maximize\"},\n"
	    "\"parameters\": {\n"
	    "  \"kind\": {\"type\": \"choice\", \"values\": [\"plain\", "
	    "\"calm\", \"even\", \"good\", \"bad\", \"deaf\", \"fail\", "
	    "\"daemon\"]},\n"
	    "  \"steps\": {\"type\": \"int\", \"min\": 1, \"max\": 4},\n"
	    "  \"ms\": {\"type\": \"int\", \"min\": 0, \"max\": 8}},\n"
	    "\"strategy\": {\"name\": \"random\", \"seed\": %llu},\n"
	    "\"stopping\": {\"rule\": \"threshold\", \"lower\": 0},\n"
	    "\"trial\": {\"command\": %s, \"grace\": 0.05, \"retries\": 20},\n"
	    "\"backend\": {\"name\": \"local\"},\n"
	    "\"limits\": {\"trials\": %d, \"parallel\": 8}\n",
	    (unsigned long long)(seed % 1000000), command, run->trials);
	rig_open(r, seed, members);
}

/* One server's life; true when the study is over, or never will be. */
static bool
serve_once(
    struct rig *r, const struct run *run, struct life *life, struct score *s)
{
	bool tired =
	    s->kills >= run->kills && s->v.shim_kills >= run->shim_kills;
	pid_t pid = rig_serve(r, run->fail, NULL, false);
	int status = 0;

	if (!rig_wait(
		pid, tired ? -1 : (int64_t)rig_random(r, life->us), &status)) {
		(void)kill(pid, SIGKILL);
		(void)rig_wait(pid, -1, &status);
	}
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
		s->kills++;
		if (rig_random(r, 100) < (uint64_t)run->shim_percent)
			(void)rig_kill_shim(r);
		life_adapt(life, r);
		rig_reap(0);
		return false;
	}
	s->failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	if (s->failed)
		printf("# the server ended with status %#x\n", status);
	return true;
}

static void
log_show(const struct rig *r)
{
	char command[200];

	(void)fflush(stdout);
	(void)snprintf(command, sizeof command,
	    "tail -n 12 '%s' | sed 's/^/# /'", r->server_log);
	if (system(command) != 0)
		printf("# no log\n");
}

static void
round_run(const struct run *run, uint64_t seed, bool keep, struct score *s)
{
	struct life life = { .us = LIFE_FIRST_US };
	struct verdict v;
	int64_t until;
	struct rig r;

	round_open(&r, run, seed);
	until = rig_now_ms() + ROUND_MAX_MS;
	while (!serve_once(&r, run, &life, s) && !s->stuck)
		s->stuck = rig_now_ms() > until;
	(void)rig_wait_quiet(&r, QUIET_MS);
	ledger_judge(&v, &r, run->trials);
	verdict_add(&s->v, &v);
	s->rounds++;
	if (s->failed || s->stuck || (verdict_faults(&v) > 0 && !run->caught))
		log_show(&r);
	rig_close(&r, keep);
}

static bool
run_goes_on(const struct run *run, const struct score *s)
{
	if (s->failed || s->stuck || verdict_faults(&s->v) > 0)
		return false;
	return s->rounds == 0 || s->kills < run->kills ||
	       s->v.shim_kills < run->shim_kills;
}

static void
run_run(const struct run *run, uint64_t seed, bool keep)
{
	struct score s = { .ms = -rig_now_ms() };
	const struct verdict *v = &s.v;

	do
		round_run(run, seed + (uint64_t)s.rounds, keep, &s);
	while (run_goes_on(run, &s));
	s.ms += rig_now_ms();
	printf("# %s: %d server kills, %d supervisor kills, %d trials, "
	       "%d attempts (%d lost), %d reports, %.1f s\n",
	    run->name, s.kills, v->shim_kills, v->trials, v->attempts, v->lost,
	    v->reports, (double)s.ms / 1000);
	printf("# ran twice %d, forgotten %d, doubled %d, invented %d, "
	       "lost for no reason %d, open %d, left running %d\n",
	    v->twice, v->forgotten, v->doubled, v->invented, v->false_lost,
	    v->open, v->orphans);
	if (run->caught)
		ok(verdict_faults(v) > 0, "%s: the judge sees it", run->name);
	else
		ok(!s.failed && !s.stuck && verdict_faults(v) == 0,
		    "%s: nothing lost, nothing twice, nothing left", run->name);
}

static const struct run controls[] = {
	{ .name = "control: no claim check",
	    .fail = "bug.no_claim_check," SERVER_DELAYS SHIM_DELAYS,
	    .kills = 1000,
	    .trials = 60,
	    .caught = true },
	{ .name = "control: records read before locks",
	    .fail = "bug.records_first," SERVER_DELAYS SHIM_DELAYS,
	    .kills = 1000,
	    .trials = 60,
	    .caught = true },
	{ .name = "control: the end before the last output",
	    .fail = "bug.end_before_output," SERVER_DELAYS SHIM_DELAYS,
	    .kills = 1000,
	    .trials = 60,
	    .caught = true },
	{ .name = "control: output read without a mark",
	    .fail = "bug.no_cursor," SERVER_DELAYS SHIM_DELAYS,
	    .kills = 1000,
	    .trials = 60,
	    .caught = true },
};

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "kills", required_argument, NULL, 'k' },
		{ "shims", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'r' },
		{ "keep", no_argument, NULL, 'p' },
		{ "no-controls", no_argument, NULL, 'n' },
		{ NULL, 0, NULL, 0 },
	};
	struct run servers = { .name = "servers",
		.fail = SERVER_DELAYS SHIM_DELAYS,
		.kills = 2000,
		.trials = 150 };
	struct run shims = { .name = "servers and supervisors",
		.fail = SERVER_DELAYS SHIM_KILLS,
		.kills = 100,
		.shim_kills = 50,
		.shim_percent = 20,
		.trials = 60 };
	bool keep = false, with_controls = true;
	uint64_t seed = (uint64_t)time(NULL);
	size_t i;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (c) {
		case 'k':
			servers.kills = atoi(optarg);
			break;
		case 's':
			shims.shim_kills = atoi(optarg);
			break;
		case 'r':
			seed = strtoull(optarg, NULL, 10);
			break;
		case 'p':
			keep = true;
			break;
		case 'n':
			with_controls = false;
			break;
		case '?':
			return 2;
		}
	printf("# --seed %llu\n", (unsigned long long)seed);
	if (servers.kills > 0)
		run_run(&servers, seed, keep);
	if (shims.shim_kills > 0)
		run_run(&shims, seed, keep);
	for (i = 0; with_controls && i < sizeof controls / sizeof *controls;
	     i++)
		run_run(&controls[i], seed, keep);
	return done_testing();
}
