/*
 * Torture: a server is killed at random moments, repeatedly, until its study
 * has ended; then the ledger is compared with the store.  With --shims
 * supervisors are killed too, and then servers of studies with each of the modes.
 * Negative controls run programs with a bug that the judge must find.
 *
 *	torture [--kills N] [--shims N] [--modes N] [--mode NAME] [--seed N]
 *	    [--jobs N] [--no-controls] [--keep]
 */

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/torture/asks.h"
#include "tests/torture/ledger.h"
#include "tests/torture/harness.h"
#include "tests/support/tap.h"

enum {
	LIFE_FIRST_US = 30000,
	LIFE_MIN_US = 2000,
	LIFE_MAX_US = 400000,
	ASK_US = 100000,
	PROPOSER_US = 20000, /* its life at most, and what the server took */
	PROPOSERS_MAX = 4, /* at a time */
	HEAR_US = 5000000,
	LOOK_US = 2000,
	LOOK_MS = 40,
	QUIET_MS = 300000,
	ROUND_MAX_MS = 600000,
	JOBS_MAX = 64,
/* A sanitized server takes its time; the plain one is the proof. */
#ifdef __SANITIZE_ADDRESS__
	CONTROLS = 0,
	KILLS_LONG = 200,
	MODE_KILLS_LONG = 10,
	SHIM_KILLS_LONG = 20,
#else
	CONTROLS = 1,
	KILLS_LONG = 2000,
	MODE_KILLS_LONG = 60,
	SHIM_KILLS_LONG = 60,
#endif
	/* Without TEST_LONG; each job does a round of each mode at least. */
	KILLS = 200,
	MODE_KILLS = 10,
	SHIM_KILLS_WANTED = 20
};

/* Delays widen the windows between two steps; kills hit them. */
#define SERVER_DELAYS                                                     \
	"tuner.before_commit=delay(5)%20,tuner.after_commit=delay(5)%20," \
	"tuner.before_effect=delay(5)%20,store.before_commit=kill%1,"     \
	"store.after_commit=kill%1,local.before_spawn=delay(5)%20,"       \
	"local.after_spawn=delay(5)%20,local.after_mkdir=kill%1,"         \
	"local.before_ahead=kill%2,local.after_ahead=kill%2,"             \
	"local.before_give=kill%2,local.after_give=kill%2,"               \
	"local.before_stop=kill%5,local.after_stop=kill%5,"               \
	"local.before_end=kill%1,truth.before_locks=delay(8)%10,"         \
	"truth.after_locks=delay(8)%10,"
#define SHIM_DELAYS                                                   \
	"shim.ahead=delay(5)%20,shim.given=delay(5)%20,"              \
	"shim.before_announce=delay(5)%20,"                           \
	"shim.after_announce=delay(5)%20,"                            \
	"shim.begin=delay(60)%25,shim.before_claim=delay(5)%20,"      \
	"shim.after_claim=delay(5)%20,shim.after_fork=delay(5)%20,"   \
	"shim.before_exec=delay(5)%20,shim.after_update=delay(5)%20," \
	"shim.before_exit_record=delay(5)%20,"                        \
	"shim.after_exit_record=delay(5)%20"
#define SHIM_KILLS                                                            \
	"shim.ahead=kill%2,shim.waiting=kill%2,shim.given=kill%1,"            \
	"shim.before_announce=kill%1,shim.after_announce=kill%1,"             \
	"shim.begin=kill%1,shim.before_claim=kill%1,shim.after_claim=kill%1," \
	"shim.after_claim_sync=kill%1,shim.after_fork=kill%1,"                \
	"shim.after_update=kill%1,shim.before_stop=kill%3,"                   \
	"shim.before_exit_record=kill%1,shim.after_exit_record=kill%1"

/* Where a server makes a warm process, and a supervisor asks for its trial. */
#define WARM_KILLS                                          \
	"local.before_warm=kill%5,local.after_warm=kill%5," \
	"shim.before_warm=kill%10,shim.after_warm=kill%10,"

struct run {
	const char *name;
	const char *fail;
	int kills; /* servers, at least */
	int shim_kills; /* at least */
	int shim_percent; /* of server kills that also kill a supervisor */
	int term_percent; /* of lives that end with SIGTERM first */
	int ask_percent; /* of lives in which a user asks for something */
	int trials; /* of each round */
	/* What the study has besides, as members of study.json; NULL: nothing. */
	const char *extra, *stopping, *trial;
	const char *kinds; /* of ledger-trial; NULL: all but slow */
	bool file; /* reports are lines of a file */
	bool learns; /* from another study */
	bool tells; /* another program runs some of its trials */
	bool proposes; /* a user proposes settings */
	/* An interpreter that starts warm becomes the program of the trials, and
	 * the warm process and trials are killed, too. */
	bool python;
	int keep; /* checkpoints at the end, at most; 0: no "keep" */
	int seconds; /* a control gives up then; 0: never */
	uint64_t life_us; /* a server lives at most so long; 0: as fits */
	bool caught; /* a negative control: this fault is wanted */
	size_t want; /* offset in struct verdict */
};

/* What one job has seen so far, in memory that all jobs share. */
struct score {
	struct verdict v;
	int kills, shim_kills, rounds;
	int proposer_kills;
	int warm_kills, trial_kills;
	bool stuck;
	bool failed; /* the server gave up */
};

struct job {
	const struct run *run;
	struct score *scores, *mine;
	int jobs;
	bool keep;
	int64_t until;
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
life_adapt(struct life *l, const struct harness *r, const struct run *run)
{
	long n = file_size(r->ledger);

	if (run->life_us != 0) {
		l->us = run->life_us;
		return;
	}
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
round_open(struct harness *r, const struct run *run, uint64_t seed)
{
	const char *kinds =
	    run->kinds != NULL
		? run->kinds
		: "\"plain\", \"calm\", \"even\", \"good\", \"bad\", "
		  "\"deaf\", \"fail\", \"daemon\"";
	char members[2800], space[1000], command[1000];

	(run->python ? harness_command_python : harness_command)(command,
	    sizeof command,
	    run->file ? "\"{kind}\", \"{steps}\", \"{ms}\", "
			"\"{output_dir}/scores\""
		      : "\"{kind}\", \"{steps}\", \"{ms}\"");
	(void)snprintf(space, sizeof space,
	    "\"objective\": {\"metric\": \"score\", \"goal\": \"maximize\"},\n"
	    "\"parameters\": {\n"
	    "  \"kind\": {\"type\": \"choice\", \"values\": [%s]},\n"
	    "  \"steps\": {\"type\": \"int\", \"min\": 1, \"max\": 4},\n"
	    "  \"ms\": {\"type\": \"int\", \"min\": 0, \"max\": 8},\n"
	    "  \"tag\": {\"type\": \"int\", \"min\": 0, "
	    "\"max\": 1000000000}},\n"
	    "\"strategy\": {\"name\": \"%s\", \"seed\": %llu},\n",
	    kinds, run->learns ? "tpe" : "random",
	    (unsigned long long)(seed % 1000000));
	(void)snprintf(members, sizeof members,
	    "%s\"stopping\": {\"rule\": \"threshold\", \"lower\": 0%s},\n%s"
	    "\"trial\": {\"command\": %s, \"grace\": 0.05, \"max_run\": 5, "
	    "\"retries\": 20%s},\n"
	    "\"backend\": {\"name\": \"local\"},\n"
	    "\"limits\": {\"trials\": %d, \"parallel\": 8}\n",
	    space, run->stopping != NULL ? run->stopping : "",
	    run->extra != NULL ? run->extra : "", command,
	    run->trial != NULL ? run->trial : "", run->trials);
	harness_open(r, seed, members);
	if (!run->learns)
		return;
	(void)snprintf(members, sizeof members,
	    "%s\"trial\": {\"command\": [\"true\"]},\n"
	    "\"backend\": {\"name\": \"pretend\", "
	    "\"seconds_per_step\": 0.001},\n\"limits\": {\"trials\": 20}\n",
	    space);
	harness_learn(r, members);
}

static void
score_sum(struct score *sum, const struct score *all, int jobs)
{
	int i;

	*sum = (struct score){ 0 };
	for (i = 0; i < jobs; i++) {
		ledger_add(&sum->v, &all[i].v);
		sum->kills += all[i].kills;
		sum->shim_kills += all[i].shim_kills;
		sum->proposer_kills += all[i].proposer_kills;
		sum->warm_kills += all[i].warm_kills;
		sum->trial_kills += all[i].trial_kills;
		sum->rounds += all[i].rounds;
		sum->stuck |= all[i].stuck;
		sum->failed |= all[i].failed;
	}
}

/* Enough was killed, or there is no point in going on. */
static bool
job_done(const struct job *j)
{
	struct score s;

	score_sum(&s, j->scores, j->jobs);
	if (s.failed || s.stuck || ledger_faults(&s.v) > 0)
		return true;
	if (j->run->caught)
		return harness_now_ms() > j->until;
	return s.kills >= j->run->kills && s.v.shim_kills >= j->run->shim_kills;
}

/* Users ask for something; us: what the server took to listen. */
static void
life_ask(struct ask *asks, struct harness *r, const struct run *run, int64_t us)
{
	uint64_t i, n = 1;

	if (run->proposes)
		n += harness_random(r, PROPOSERS_MAX);
	for (i = 0; i < n; i++)
		asks_begin(&asks[i], r, run->tells, run->proposes,
		    PROPOSER_US + (uint64_t)us);
}

/* Let it live for a while, then kill it: how it ended. */
static int
live_and_die(struct harness *r, const struct run *run, int64_t us, pid_t pid,
    struct ask *asks)
{
	int64_t began_ms;
	int status = 0;

	if (us >= 0 && harness_random(r, 100) < (uint64_t)run->ask_percent) {
		began_ms = harness_now_ms();
		do {
			if (harness_wait(pid, LOOK_US, &status))
				return status;
			us = (harness_now_ms() - began_ms) * 1000;
		} while (us < HEAR_US && !asks_server_listens(r));
		life_ask(asks, r, run, us);
		/* Who asks needs as long to begin as the server did. */
		us = (int64_t)harness_random(r, (uint64_t)(ASK_US + 2 * us));
	}
	if (harness_wait(pid, us, &status))
		return status;
	if (harness_random(r, 100) < (uint64_t)run->term_percent) {
		(void)kill(pid, SIGTERM);
		if (harness_wait(pid, us, &status))
			return status;
	}
	(void)kill(pid, SIGKILL);
	(void)harness_wait(pid, -1, &status);
	return status;
}

/*
 * Wait until a server that lives has a warm process, or a trial, which Python or
 * what has taken its place runs, and kill it.
 */
static void
live_and_kill(struct job *j, struct harness *r, pid_t server)
{
	static const char *const words[] = { "/warm/hpotune_warm.py ",
		"/warm/hpotune_warm.py ", "/ledger_exec.py ",
		"/ledger-trial " };
	uint64_t what = harness_random(r, sizeof words / sizeof *words);
	bool warm = what < 2, killed;
	int64_t until = harness_now_ms() + HEAR_US / 1000;
	siginfo_t si;

	do {
		(void)poll(NULL, 0, (int)harness_random(r, LOOK_MS));
		si.si_pid = 0;
		if (waitid(P_PID, (id_t)server, &si,
			WEXITED | WNOHANG | WNOWAIT) == -1 ||
		    si.si_pid != 0)
			return;
		/* What it has made shows its words, too, for a moment. */
		killed = harness_kill_one(r, words[what], warm);
	} while (!killed && harness_now_ms() < until);
	j->mine->warm_kills += warm && killed;
	j->mine->trial_kills += !warm && killed;
}

/* One server's life; true when the study is over, or never will be. */
static bool
serve_once(struct harness *r, struct job *j, struct life *life)
{
	const struct run *run = j->run;
	pid_t pid = harness_serve(r, run->fail, NULL, false);
	bool tired = job_done(j);
	int64_t us = tired ? -1 : (int64_t)harness_random(r, life->us);
	struct ask asks[PROPOSERS_MAX] = { 0 };
	int i, status;
	bool killed;

	if (run->python && !tired && harness_random(r, 2) == 0)
		live_and_kill(j, r, pid);
	status = live_and_die(r, run, us, pid, asks);
	/* SIGTERM kills one that does not listen yet. */
	killed = WIFSIGNALED(status) &&
		 (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM);
	for (i = 0; i < PROPOSERS_MAX; i++)
		j->mine->proposer_kills += asks_end(&asks[i], r);
	if (killed || (WIFEXITED(status) && WEXITSTATUS(status) == 3)) {
		j->mine->kills += killed;
		if (!tired &&
		    harness_random(r, 100) < (uint64_t)run->shim_percent)
			j->mine->shim_kills += harness_kill_shim(r);
		life_adapt(life, r, run);
		(void)harness_reap(0);
		return false;
	}
	j->mine->failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	if (j->mine->failed)
		printf("# the server ended with status %#x\n", status);
	return true;
}

/*
 * One more server, which is not killed: the last one may have ended before a program
 * that had asked for a trial did.
 */
static void
serve_rest(struct harness *r, struct job *j)
{
	pid_t pid = harness_serve(r, "", NULL, false);
	int status = 0;

	(void)harness_wait(pid, -1, &status);
	j->mine->failed |= status != 0;
}

static void
log_show(const struct harness *r)
{
	char command[200];

	(void)fflush(stdout);
	(void)snprintf(command, sizeof command,
	    "tail -n 12 '%s' | sed 's/^/# /'", r->server_log);
	if (system(command) != 0)
		printf("# no log\n");
}

static void
round_run(struct job *j, uint64_t seed)
{
	struct life life = { .us = j->run->life_us != 0 ? j->run->life_us
							: LIFE_FIRST_US };
	struct verdict v;
	int64_t until;
	struct harness r;
	bool bad;

	round_open(&r, j->run, seed);
	until = harness_now_ms() + ROUND_MAX_MS;
	while (!serve_once(&r, j, &life) && !j->mine->stuck)
		j->mine->stuck = harness_now_ms() > until;
	if (j->run->tells && !j->mine->stuck && !j->mine->failed)
		serve_rest(&r, j);
	(void)harness_wait_quiet(&r, QUIET_MS);
	ledger_judge(
	    &v, &r, j->run->trials, j->run->keep > 0 ? j->run->keep : -1);
	ledger_add(&j->mine->v, &v);
	j->mine->rounds++;
	bad = j->mine->failed || j->mine->stuck || ledger_faults(&v) > 0;
	if (bad && !j->run->caught)
		log_show(&r);
	harness_close(&r, j->keep && bad);
	(void)fflush(stdout);
}

static void
score_show(const struct run *run, const struct score *s, int64_t ms)
{
	const struct verdict *v = &s->v;

	printf("# %s: %d server kills, %d supervisor kills, %d trials, "
	       "%d attempts (%d lost), %d reports, %d promises, %.1f s\n",
	    run->name, s->kills, v->shim_kills, v->trials, v->attempts, v->lost,
	    v->reports, v->promises, (double)ms / 1000);
	if (run->python)
		printf("# %d warm processes and %d trials killed\n",
		    s->warm_kills, s->trial_kills);
	if (run->proposes)
		printf("# %d verdicts on proposals, %d proposers killed\n",
		    v->verdicts, s->proposer_kills);
	if (v->told + v->hooks > 0 || run->keep > 0)
		printf("# %d trials of other programs, %d hooks, %d "
		       "checkpoints kept\n",
		    v->told, v->hooks, v->kept);
	printf("# ran twice %d, forgotten %d, doubled %d, invented %d, "
	       "lost for no reason %d, broken promises %d, open %d, "
	       "left running %d, checkpoints %d\n",
	    v->twice, v->forgotten, v->doubled, v->invented, v->false_lost,
	    v->broken, v->open, v->orphans, v->unkept);
}

static void
run_run(const struct run *run, uint64_t seed, int jobs, bool keep)
{
	struct job j = { .run = run, .jobs = jobs, .keep = keep };
	int64_t begin = harness_now_ms();
	struct score s;
	int i, status, bad = 0;

	j.until = begin + (int64_t)run->seconds * 1000;
	j.scores = mmap(NULL, sizeof *j.scores * JOBS_MAX,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (j.scores == MAP_FAILED)
		exit(1);
	(void)fflush(stdout);
	for (i = 0; i < jobs; i++)
		if (fork() == 0) {
			j.mine = &j.scores[i];
			do
				round_run(&j, seed++ * JOBS_MAX + (uint64_t)i);
			while (!job_done(&j));
			exit(0);
		}
	while (wait(&status) != -1 || errno == EINTR)
		bad += status != 0;
	score_sum(&s, j.scores, jobs);
	(void)munmap(j.scores, sizeof *j.scores * JOBS_MAX);
	score_show(run, &s, harness_now_ms() - begin);
	if (run->caught)
		ok(bad == 0 && *(int *)((char *)&s.v + run->want) > 0,
		    "%s: the judge sees it", run->name);
	else
		ok(bad == 0 && !s.failed && !s.stuck &&
			ledger_faults(&s.v) == 0,
		    "%s: nothing lost, nothing twice, nothing left", run->name);
}

/* Two supervisors for one attempt, one later than the next server begins. */
#define TWO_SHIMS "local.after_spawn=kill%10,shim.begin=delay(1000)%50,"

/* Time enough to end between the two looks. */
#define LATE_LOCKS "truth.before_locks=delay(60)%50,"

/* Short studies: the judge looks at the end of each. */
#define CONTROL(text, bug, field)                                          \
	{                                                                  \
		.name = "control: " text, .caught = true, .trials = 20,    \
		.fail = bug "," SERVER_DELAYS SHIM_DELAYS, .seconds = 600, \
		.life_us = 500000, .ask_percent = 50,                      \
		.want = offsetof(struct verdict, field)                    \
	}

static const struct run controls[] = {
	CONTROL("no claim check", TWO_SHIMS "bug.no_claim_check", twice),
	CONTROL("records read before locks", LATE_LOCKS "bug.records_first",
	    false_lost),
	CONTROL("the end before the last output", "bug.end_before_output",
	    forgotten),
	CONTROL("output read without a mark", "bug.no_cursor", doubled),
	CONTROL("an answer before the commit",
	    "tuner.answered=kill%50,bug.answer_first", broken),
};

/* What a study may have besides.  Attempts of trials are those of all modes. */
#define MODE(text, term, asks, ...)                                      \
	{                                                                \
		.name = text, .fail = SERVER_DELAYS SHIM_DELAYS,         \
		.term_percent = term, .ask_percent = asks, .trials = 40, \
		__VA_ARGS__                                              \
	}

static const struct run modes[] = {
	MODE("keep", 3, 20, .extra = "\"keep\": {\"best\": 2, \"last\": 1},\n",
	    .keep = 3),
	MODE("hooks", 3, 20,
	    .extra = "\"hooks\": {\"best\": [\"sh\", \"-c\", \"cat >>hooks\"], "
		     "\"failed\": [\"sh\", \"-c\", \"cat >>hooks\"], "
		     "\"finished\": [\"sh\", \"-c\", \"cat >>hooks\"]},\n"),
	MODE("files", 0, 20, .file = true,
	    .kinds = "\"plain\", \"calm\", \"even\", \"good\", \"bad\", "
		     "\"deaf\", \"daemon\"",
	    .trial = ", \"metrics\": [{\"path\": \"{output_dir}/scores\", "
		     "\"name\": \"score\", \"regex\": \": (\\\\S+)\", "
		     "\"step_regex\": \"at ([0-9]+)\"}]"),
	MODE("second looks", 3, 20, .stopping = ", \"second_look\": \"100%\"",
	    .trial = ", \"max_steps\": 8",
	    .kinds = "\"plain\", \"calm\", \"even\", \"good\", \"slow\", "
		     "\"fail\", \"daemon\""),
	MODE("replicates", 3, 20,
	    .extra = "\"replicates\": {\"parameter\": \"fold\", \"count\": 3, "
		     "\"racing\": true},\n"),
	MODE("confirm", 3, 20,
	    .extra = "\"confirm\": {\"parameter\": \"fold\", "
		     "\"baseline\": 1, \"replicates\": 6},\n"),
	/* A baseline whose runs are all stopped decides nothing in 12 pairs. */
	MODE("propose", 3, 60,
	    .extra = "\"confirm\": {\"parameter\": \"fold\", "
		     "\"baseline\": 1, \"replicates\": 12, "
		     "\"alpha\": 0.5},\n"
		     "\"enqueue\": [{\"kind\": \"plain\"}],\n",
	    .proposes = true),
	MODE("queue", 3, 60, .tells = true),
	{ .name = "imports",
	    .fail = SERVER_DELAYS WARM_KILLS SHIM_DELAYS,
	    .term_percent = 3,
	    .ask_percent = 20,
	    .trials = 40,
	    .trial = ", \"warm\": [\"json\"]",
	    .python = true },
	MODE("warm starts", 3, 20, .extra = "\"warm_start\": [\"old.db\"],\n",
	    .learns = true),
};

/* All of them, or the one with this name. */
static void
modes_run(int kills, const char *name, uint64_t seed, int jobs, bool keep)
{
	struct run mode;
	size_t i;

	for (i = 0; i < sizeof modes / sizeof *modes; i++) {
		mode = modes[i];
		mode.kills = kills;
		if (name == NULL || strcmp(name, mode.name) == 0)
			run_run(&mode, seed + i * 1000, jobs, keep);
	}
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "kills", required_argument, NULL, 'k' },
		{ "shims", required_argument, NULL, 's' },
		{ "modes", required_argument, NULL, 'm' },
		{ "mode", required_argument, NULL, 'o' },
		{ "seed", required_argument, NULL, 'r' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "keep", no_argument, NULL, 'p' },
		{ "no-controls", no_argument, NULL, 'n' },
		{ NULL, 0, NULL, 0 },
	};
	struct run servers = { .name = "servers",
		.fail = SERVER_DELAYS SHIM_DELAYS,
		.kills = often(KILLS, KILLS_LONG),
		.term_percent = 3,
		.ask_percent = 20,
		.trials = 100 };
	struct run shims = { .name = "servers and supervisors",
		.fail = SERVER_DELAYS SHIM_KILLS,
		.shim_kills = often(SHIM_KILLS_WANTED, SHIM_KILLS_LONG),
		.shim_percent = 20,
		.trials = 40 };
	bool keep = false, with_controls = CONTROLS;
	uint64_t seed = (uint64_t)time(NULL);
	int c, jobs = often(1, 4);
	int mode_kills = often(MODE_KILLS, MODE_KILLS_LONG);
	const char *mode = NULL;
	size_t i;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (c) {
		case 'k':
			servers.kills = atoi(optarg);
			break;
		case 's':
			shims.shim_kills = atoi(optarg);
			break;
		case 'm':
			mode_kills = atoi(optarg);
			break;
		case 'o':
			mode = optarg;
			break;
		case 'r':
			seed = strtoull(optarg, NULL, 10);
			break;
		case 'j':
			jobs = atoi(optarg);
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
	if (jobs < 1 || jobs > JOBS_MAX)
		return 2;
	printf("# --seed %llu\n", (unsigned long long)seed);
	if (servers.kills > 0)
		run_run(&servers, seed, jobs, keep);
	if (shims.shim_kills > 0)
		run_run(&shims, seed, jobs, keep);
	if (mode_kills > 0)
		modes_run(mode_kills, mode, seed, jobs, keep);
	for (i = 0; with_controls && i < sizeof controls / sizeof *controls;
	     i++)
		run_run(&controls[i], seed, jobs, keep);
	return done_testing();
}
