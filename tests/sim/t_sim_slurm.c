/*
 * Studies on a simulated cluster, each from a seed: the real tuner, store and
 * backend for Slurm, on a virtual clock, with a Slurm that lies in every way:
 * empty lists, old ones, those of other users, refused calls, answers to a
 * submission that are lost, a wrong clock; and servers that die.  After every
 * turn no attempt has more than one job that may begin, nothing runs twice, and
 * what waits for nothing is withdrawn; at the end the store is compared with
 * what the nodes did.  Then the same with bugs, which must be detected.
 *
 *	t_sim_slurm: $SIM_SEEDS seeds (if unset 50, with TEST_LONG 100; with
 *	    sanitizers 3 and 10), and, without sanitizers, the bugs
 *	t_sim_slurm --seed N [BUG]: one seed, with its events
 */

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/log.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/engine/study-row.h"
#include "src/engine/tuner/tuner.h"
#include "src/model/study/study.h"
#include "src/model/trial.h"
#include "src/store/store.h"
#include "tests/sim/sim-cluster.h"
#include "tests/support/scratch.h"
#include "tests/support/tap.h"
#include "tests/torture/fail-bug.h"
#include "trials/backend.h"

#ifdef __SANITIZE_ADDRESS__
enum { SEEDS = 3, SEEDS_LONG = 10, WITH_BUGS = 0 };
#else
/* All of the bugs are found by the first 50 seeds. */
enum { SEEDS = 50, SEEDS_LONG = 100, WITH_BUGS = 1 };
#endif
enum {
	SEEDS_OF_A_BUG = 200,
	TURNS_MAX = 200000,
	DOWN_MAX_MS = 60000,
	/* With a server, until a job that waits for nothing is withdrawn. */
	UNWANTED_MS = 600 * 1000,
	/* Jobs of one attempt: its pauses double up to an hour. */
	SUBMITS_MAX = 40
};

extern const struct backend_type backend_slurm;

const struct backend_type *const backend_types[] = { &backend_slurm, NULL };

const struct backend_type *
backend_type_find(const char *name)
{
	return strcmp(name, backend_slurm.name) == 0 ? &backend_slurm : NULL;
}

static const struct bug {
	const char *point, *about;
	uint64_t seed;
} bugs[] = {
	{ "bug.submit_first", "submitting before the job is asked for", 2 },
	{ "bug.forget_create", "a server that does not look for jobs", 1 },
	{ "bug.empty_is_lost", "a run that is not listed is lost", 1 },
	{ "bug.copy_ends", "the end of a copy of a job counts", 44 },
};

struct sim {
	uint64_t seed;
	const char *bug;
	struct rng dice;
	char *dir, *db, *state_dir, *json;
	struct study *study;
	struct cluster_faults faults;
	int64_t trials, parallel;
	double crash, trouble;
	struct loop *loop;
	struct loop_timer *reopen;
	struct cluster *cluster;
	struct tuner *tuner; /* NULL while no server is up */
	struct store *reader;
	bool restart, ended, may_crash;
	int64_t turn_ms; /* of the last turn with a server */
	jmp_buf crashed;
	int turns, crashes;
	char wrong[400], why[256];
};

static struct sim *sim;

static void __attribute__((format(printf, 2, 3)))
sim_wrong(struct sim *s, const char *fmt, ...)
{
	va_list ap;

	if (*s->wrong != '\0')
		return;
	va_start(ap, fmt);
	(void)vsnprintf(s->wrong, sizeof s->wrong, fmt, ap);
	va_end(ap);
}

static bool
sim_chance(struct sim *s, double share)
{
	return rng_uniform(&s->dice) < share;
}

static int64_t
sim_below(struct sim *s, int64_t n)
{
	return (int64_t)rng_below(&s->dice, (uint64_t)n);
}

void
fail_point(const char *name)
{
#ifdef __SANITIZE_ADDRESS__
	/* The memory of these functions would be a leak. */
	if (strncmp(name, "slurm.", 6) == 0)
		return;
#endif
	(void)name;
	if (sim != NULL && sim->may_crash && sim_chance(sim, sim->crash))
		longjmp(sim->crashed, 1);
}

bool
fail_bug(const char *name)
{
	return sim != NULL && sim->bug != NULL && strcmp(sim->bug, name) == 0;
}

/* Half of the faults are off in a seed, so that each is seen alone, too. */
static double
sim_share(struct sim *s, double most)
{
	return sim_chance(s, 0.5) ? most * rng_uniform(&s->dice) : 0;
}

static void
sim_draw_faults(struct sim *s)
{
	s->faults.wait_ms = 60000;
	if (sim_chance(s, 0.05))
		return;
	s->faults = (struct cluster_faults){
		.wait_ms = sim_chance(s, 0.8) ? 60000 : 1500000,
		.empty = sim_share(s, 0.9),
		.old = sim_share(s, 0.7),
		.others = sim_share(s, 0.5),
		.drops = sim_share(s, 0.5),
		.refuses = sim_share(s, 0.7),
		.hangs = sim_share(s, 0.1),
		.lost = sim_share(s, 0.5),
		.unsent = sim_share(s, 0.3),
		.down = sim_share(s, 0.3),
		.quota = sim_share(s, 0.2),
		.nodes = sim_share(s, 0.1),
		/* A partition that is hidden. */
		.hidden = sim_chance(s, 0.3) ? 1 : sim_share(s, 0.3),
		.blind = sim_share(s, 1),
		.forgets = sim_share(s, 0.3),
		.drains = sim_share(s, 0.3),
		.node = sim_share(s, 0.2),
		.preempts = sim_share(s, 0.2),
		.launch = sim_share(s, 0.1),
		.again = sim_share(s, 1),
		.fail = sim_share(s, 0.3),
		.clock_s = sim_chance(s, 0.3) ? 7200 - sim_below(s, 14400) : 0,
		.odd_times = sim_chance(s, 0.2),
		.no_sacct = sim_chance(s, 0.5),
	};
	if (s->seed % 6 != 5)
		return;
	/* What no list shows is not withdrawn by a name that it has not. */
	s->faults.renames = true;
	s->faults.empty = s->faults.old = s->faults.others = 0;
	s->faults.drops = s->faults.hidden = 0;
}

static void
sim_study_make(struct sim *s)
{
	struct buf b = { 0 };
	struct err e = ERR_INIT;
	char *path = xasprintf("%s/study.json", s->dir);

	sim_draw_faults(s);
	s->crash = sim_chance(s, 0.3) ? 0 : 0.004 * rng_uniform(&s->dice);
	s->trouble = sim_chance(s, 0.3) ? 0 : 0.005 * rng_uniform(&s->dice);
	s->trials = 3 + sim_below(s, 10);
	s->parallel = 1 + sim_below(s, 5);
	buf_printf(&b,
	    "{\"study\": \"sim\", \"objective\": {\"metric\": \"m\", \"goal\": "
	    "\"maximize\"}, \"parameters\": {\"x\": {\"type\": \"float\", "
	    "\"min\": 0, \"max\": 1}}, \"strategy\": {\"name\": \"random\", "
	    "\"seed\": %" PRIu64 "}, \"stopping\": \"none\", "
	    "\"trial\": {\"command\": [\"/bin/true\"], \"grace\": 2, "
	    "\"retries\": %" PRId64 "}, \"backend\": {\"name\": \"slurm\"}, "
	    "\"limits\": {\"trials\": %" PRId64 ", \"parallel\": %" PRId64 "}}",
	    s->seed, sim_below(s, 4), s->trials, s->parallel);
	s->json = buf_take(&b);
	s->db = xasprintf("%s/sim.db", s->dir);
	s->state_dir = xasprintf("%s/sim.d", s->dir);
	if (mkdir(s->dir, 0700) == -1 || mkdir(s->state_dir, 0700) == -1 ||
	    study_parse(&s->study, s->json, strlen(s->json), path, &e) != 0)
		sim_wrong(s, "the study cannot be made: %s", e.text);
	free(path);
}

static struct store_rows *
sim_query(struct sim *s, const char *sql, const char *param)
{
	const char *params[] = { param, NULL };
	struct store_rows *r = NULL;
	struct err e = ERR_INIT;

	if (store_rows_open(&r, s->reader, sql, params, &e) != 0)
		sim_wrong(s, "%s", e.text);
	return r;
}

static int64_t
sim_number(struct sim *s, const char *sql, const char *param)
{
	struct store_rows *r = sim_query(s, sql, param);
	struct err e = ERR_INIT;
	int64_t n = -1;

	if (r != NULL && store_rows_next(r, &e) == 1)
		n = store_rows_int(r, 0);
	if (r != NULL)
		store_rows_close(r);
	return n;
}

/* Attempts that are open in the store: their uuids, each with a blank. */
static char *
sim_open_attempts(struct sim *s, size_t *n)
{
	struct store_rows *r = sim_query(
	    s, "SELECT uuid FROM t_attempt WHERE state <> 'ended'", NULL);
	struct err e = ERR_INIT;
	struct buf all = { 0 };

	for (*n = 0; r != NULL && store_rows_next(r, &e) == 1; (*n)++)
		buf_printf(&all, "%s ", store_rows_text(r, 0));
	if (r != NULL)
		store_rows_close(r);
	buf_putc(&all, ' ');
	return buf_take(&all);
}

/*
 * A job that no list shows, and whose attempt was given up, is known to the
 * server that gave it up; a server that is killed, or is not answered, leaves it
 * in the queue, where it begins and does nothing.
 */
static void
sim_excuse(struct sim *s)
{
	struct cluster *c = s->cluster;
	size_t i, n;
	char *open = sim_open_attempts(s, &n);

	for (i = 0; i < c->n; i++)
		if (c->jobs[i]->hidden &&
		    strstr(open, c->jobs[i]->uuid) == NULL)
			c->jobs[i]->excused = true;
	free(open);
}

static void
sim_server_down(struct sim *s, bool crashed, bool restart)
{
	const struct cluster_faults *bad = &s->faults;

	s->may_crash = false;
	if (s->reader != NULL &&
	    (crashed || bad->refuses > 0 || bad->hangs > 0))
		sim_excuse(s);
	s->cluster->dead = crashed;
	tuner_close(s->tuner);
	s->cluster->dead = false;
	s->tuner = NULL;
	s->restart = s->restart || restart;
	loop_timer_set(s->reopen,
	    1 + sim_below(s, sim_chance(s, 0.7) ? 500 : DOWN_MAX_MS));
}

static bool
sim_server_up(struct sim *s)
{
	struct tuner_env env = { .loop = s->loop,
		.study = s->study,
		.db = s->db,
		.state_dir = s->state_dir };
	struct err e = ERR_INIT;

	s->turn_ms = loop_now_ms(s->loop);
	if ((s->restart && study_row_open(&env.store, s->db, s->study, false,
			       STORE_WRITE, loop_wall_us(s->loop), &e) != 0) ||
	    tuner_open(&s->tuner, &env, &e) != 0) {
		s->tuner = NULL;
		/* sbatch --version has hung. */
		if (s->faults.hangs > 0)
			sim_server_down(s, false, true);
		else
			sim_wrong(s, "the server does not start: %s", e.text);
		return false;
	}
	s->restart = false;
	if (s->reader == NULL &&
	    store_open(&s->reader, s->db, STORE_READ, &e) != 0)
		sim_wrong(s, "the store cannot be read: %s", e.text);
	return true;
}

static void
sim_on_reply(void *arg, bool good, const char *text, const char *data)
{
	(void)arg;
	(void)good;
	(void)text;
	(void)data;
}

static void
sim_trouble(struct sim *s)
{
	switch (sim_below(s, 4)) {
	case 0:
		tuner_request(s->tuner, TUNER_STOP_TRIAL,
		    1 + sim_below(s, s->trials), NULL, sim_on_reply, NULL);
		break;
	case 1:
		sim_server_down(s, false, sim_chance(s, 0.7));
		break;
	case 2:
		tuner_shutdown(s->tuner, sim_chance(s, 0.3));
		break;
	case 3:
		s->cluster->boot_ms = loop_now_ms(s->loop);
		break;
	}
}

static bool
sim_may_begin(const struct cluster_job *j)
{
	return j->known && j->state == CLUSTER_PENDING;
}

/*
 * Read off the controller: an attempt has at most one job that may begin, and
 * there are no more of them than attempts that may run.  A job of an attempt
 * that is over is withdrawn.
 */
static void
sim_check_queue(struct sim *s)
{
	int64_t now = loop_now_ms(s->loop), passed = now - s->turn_ms;
	struct cluster *c = s->cluster;
	size_t i, k, n_open, wanted = 0;
	char *open = sim_open_attempts(s, &n_open);
	struct cluster_job *j;

	s->turn_ms = now;
	for (i = 0; i < c->n; i++) {
		j = c->jobs[i];
		if (!sim_may_begin(j))
			continue;
		if (strstr(open, j->uuid) != NULL)
			wanted++;
		else if (!j->excused &&
			 (j->unwanted_ms += passed) > UNWANTED_MS)
			sim_wrong(s,
			    "job %" PRId64 " of trial %" PRId64
			    " waits for nothing, and is not withdrawn",
			    j->id, j->trial);
		for (k = 0; k < i; k++)
			if (sim_may_begin(c->jobs[k]) &&
			    strcmp(c->jobs[k]->uuid, j->uuid) == 0)
				sim_wrong(s,
				    "jobs %" PRId64 " and %" PRId64
				    " of trial %" PRId64 " may both begin",
				    c->jobs[k]->id, j->id, j->trial);
	}
	if (wanted > n_open || (int64_t)wanted > s->parallel)
		sim_wrong(s,
		    "%zu jobs may begin, %zu trials may run, limits.parallel "
		    "is %" PRId64,
		    wanted, n_open, s->parallel);
	free(open);
}

/* Nothing runs twice, and no two attempts of a trial at once. */
static void
sim_check_runs(struct sim *s)
{
	const struct cluster *c = s->cluster;
	const struct cluster_run *a, *b;
	size_t i, k;

	for (i = 0; i < c->n_runs; i++)
		for (k = 0; k < i; k++) {
			a = &c->runs[i];
			b = &c->runs[k];
			if (a->trial != b->trial)
				continue;
			if (strcmp(a->uuid, b->uuid) == 0)
				sim_wrong(s,
				    "trial %" PRId64 " attempt %d ran twice",
				    a->trial, a->attempt);
			if (b->ended_ms == CLUSTER_NEVER ||
			    a->started_ms < b->ended_ms)
				sim_wrong(s,
				    "two attempts of trial %" PRId64
				    " ran at once",
				    a->trial);
		}
}

static void
sim_check_submits(struct sim *s)
{
	const struct cluster *c = s->cluster;
	size_t i, k, n;

	for (i = 0; i < c->n; i++) {
		for (k = 0, n = 0; k < c->n; k++)
			n += strcmp(c->jobs[i]->uuid, c->jobs[k]->uuid) == 0;
		/* A server that begins does not know the pauses of the last. */
		if (n > SUBMITS_MAX + (size_t)s->crashes)
			sim_wrong(s,
			    "trial %" PRId64 " attempt %d had %zu jobs",
			    c->jobs[i]->trial, c->jobs[i]->attempt, n);
	}
}

static void
sim_turn(struct sim *s)
{
	struct err e = ERR_INIT;

	if (setjmp(s->crashed) != 0) {
		s->crashes++;
		sim_server_down(s, true, true);
		return;
	}
	s->may_crash = true;
	if (tuner_turn(s->tuner, &e) < 0) {
		s->may_crash = false;
		sim_wrong(s, "a turn failed: %s", e.text);
		return;
	}
	s->may_crash = false;
	sim_check_queue(s);
	if (!tuner_done(s->tuner)) {
		if (sim_chance(s, s->trouble))
			sim_trouble(s);
		return;
	}
	(void)snprintf(s->why, sizeof s->why, "%s", tuner_end(s->tuner).why);
	sim_server_down(s, false, true);
	if (sim_number(s,
		"SELECT count(*) FROM t_study WHERE state IN ('interrupted', "
		"'paused')",
		NULL) == 0) {
		s->ended = true;
		loop_stop(s->loop);
	}
}

static void
sim_on_turn(void *arg)
{
	struct sim *s = arg;

	if (++s->turns > TURNS_MAX)
		sim_wrong(s, "no end after %d turns", TURNS_MAX);
	if (*s->wrong != '\0') {
		loop_stop(s->loop);
		return;
	}
	if (s->tuner == NULL &&
	    (loop_timer_pending(s->reopen) || !sim_server_up(s)))
		return;
	sim_turn(s);
}

static void
sim_check_run(struct sim *s, const struct cluster_run *run)
{
	struct store_rows *r = sim_query(s,
	    "SELECT coalesce(end_class, 'none'), (SELECT count(*) FROM metrics "
	    "AS m WHERE m.trial = a.trial AND m.attempt = a.attempt AND "
	    "m.name = 'm'), (SELECT count(DISTINCT step) FROM metrics AS m "
	    "WHERE m.trial = a.trial AND m.attempt = a.attempt AND "
	    "m.name = 'm' AND abs(value - trial - attempt / 1000.0 - "
	    "step / 100000.0) < 1e-9) FROM t_attempt AS a WHERE uuid = ?",
	    run->uuid);
	struct err e = ERR_INIT;
	const char *class, *own = run->code == 0 ? "ok" : "error";

	if (r == NULL || store_rows_next(r, &e) != 1) {
		sim_wrong(s, "trial %" PRId64 " attempt %d ran without a row",
		    run->trial, run->attempt);
		if (r != NULL)
			store_rows_close(r);
		return;
	}
	class = store_rows_text(r, 0);
	if (store_rows_int(r, 1) != run->steps ||
	    store_rows_int(r, 2) != run->steps)
		sim_wrong(s,
		    "trial %" PRId64 " attempt %d has written %" PRId64
		    " reports; %" PRId64 " are recorded, %" PRId64
		    " of them once and as written (%s)",
		    run->trial, run->attempt, run->steps, store_rows_int(r, 1),
		    store_rows_int(r, 2), class);
	/* The stop of the user came as it ended. */
	if (run->recorded && !run->stopped && strcmp(class, own) != 0 &&
	    (run->code == 0 || strcmp(class, "user") != 0))
		sim_wrong(s,
		    "trial %" PRId64 " attempt %d ended by itself with %d and "
		    "is %s",
		    run->trial, run->attempt, run->code, class);
	if (strcmp(class, "ok") == 0 && (run->code != 0 || run->signal != 0))
		sim_wrong(s, "trial %" PRId64 " attempt %d is ok and was not",
		    run->trial, run->attempt);
	store_rows_close(r);
}

static void
sim_check_end(struct sim *s)
{
	bool refused = strstr(s->why, "nothing works") != NULL ||
		       strstr(s->why, "have not begun") != NULL ||
		       strstr(s->why, "no job has begun") != NULL;
	const struct cluster *c = s->cluster;
	size_t i;

	sim_check_runs(s);
	sim_check_submits(s);
	for (i = 0; i < c->n_runs; i++) {
		if (c->runs[i].ended_ms == CLUSTER_NEVER)
			sim_wrong(s,
			    "trial %" PRId64 " attempt %d runs after the end",
			    c->runs[i].trial, c->runs[i].attempt);
		sim_check_run(s, &c->runs[i]);
	}
	if (!refused &&
	    sim_number(s, "SELECT count(*) FROM t_trial", NULL) != s->trials)
		sim_wrong(s, "there are not %" PRId64 " trials (%s)", s->trials,
		    s->why);
	if (sim_number(s,
		"SELECT count(*) FROM t_attempt WHERE state <> 'ended'",
		NULL) != 0)
		sim_wrong(s, "an attempt is open at the end");
	if (sim_number(s,
		"SELECT count(*) FROM t_attempt AS a WHERE end_class = 'ok' "
		"AND (SELECT count(*) FROM t_trial AS t WHERE t.trial = "
		"a.trial AND state IN ('completed', 'cancelled')) <> 1",
		NULL) != 0)
		sim_wrong(s, "a trial whose attempt is ok did not complete");
}

static void
sim_on_hour(void *arg)
{
	struct sim *s = arg;

	loop_stop(s->loop);
}

static void
sim_on_nothing(void *arg)
{
	(void)arg;
}

/* What is left in the queue begins, and does nothing. */
static void
sim_hour_pass(struct sim *s)
{
	struct loop_timer *t = loop_timer_new(s->loop, sim_on_hour, s);
	size_t n = s->cluster->n_runs;

	loop_timer_set(t, 3600 * 1000);
	loop_run(s->loop, sim_on_nothing, s);
	loop_timer_free(t);
	if (s->cluster->n_runs != n)
		sim_wrong(s, "something began after the end");
}

static void
sim_on_reopen(void *arg)
{
	(void)arg; /* the next turn opens the tuner */
}

static void
sim_run(struct sim *s)
{
	loop_open(&s->loop, LOOP_VIRTUAL, NULL);
	s->cluster = cluster_new(s->loop, s->seed, &s->faults);
	cluster_use(s->cluster);
	s->reopen = loop_timer_new(s->loop, sim_on_reopen, s);
	s->restart = true;
	loop_run(s->loop, sim_on_turn, s);
	s->may_crash = false;
	tuner_close(s->tuner);
	s->tuner = NULL;
	if (*s->wrong == '\0') {
		sim_hour_pass(s);
		sim_check_end(s);
	}
}

static void
sim_free(struct sim *s)
{
	store_close(s->reader);
	loop_timer_free(s->reopen);
	cluster_free(s->cluster);
	loop_close(s->loop);
	study_free(s->study);
	(void)scratch_delete(s->dir);
	free(s->dir);
	free(s->json);
	free(s->db);
	free(s->state_dir);
	free(s);
	sim = NULL;
}

static void
sim_quiet(void *arg, enum log_level level, const char *area, const char *text)
{
	(void)arg;
	(void)level;
	(void)area;
	(void)text;
}

static void
sim_loud(void *arg, enum log_level level, const char *area, const char *text)
{
	const struct sim *s = arg;

	printf("# %9.3f %s %s: %s\n",
	    s->loop != NULL ? (double)loop_now_ms(s->loop) / 1000 : 0,
	    log_level_name(level), area, text);
}

/* The whole of one seed; the caller frees. */
static struct sim *
sim_seed(const char *dir, uint64_t seed, const char *bug, bool verbose)
{
	struct sim *s = xcalloc(1, sizeof *s);

	sim = s;
	s->seed = seed;
	s->bug = bug;
	s->dir = xasprintf("%s/%" PRIu64, dir, seed);
	rng_init(&s->dice, seed, 3);
	if (verbose)
		log_set_level(LOG_LEVEL_DEBUG);
	log_set_sink(verbose ? sim_loud : sim_quiet, s);
	sim_study_make(s);
	if (*s->wrong == '\0')
		sim_run(s);
	log_set_sink(sim_quiet, NULL);
	return s;
}

static void
run_seeds(const char *dir, uint64_t n)
{
	int64_t turns = 0, crashes = 0, runs = 0, submits = 0, lies = 0;
	uint64_t seed, bad = 0;
	struct sim *s;

	for (seed = 1; seed <= n && bad < 5; seed++) {
		s = sim_seed(dir, seed, NULL, false);
		if (*s->wrong != '\0') {
			bad++;
			printf("# seed %" PRIu64 ": %s\n", seed, s->wrong);
		}
		turns += s->turns;
		crashes += s->crashes;
		if (s->cluster != NULL) {
			runs += (int64_t)s->cluster->n_runs;
			submits += s->cluster->submits;
			lies += s->cluster->lies;
		}
		sim_free(s);
		/* Who prints nothing for long is ended. */
		if (seed % 10 == 0) {
			printf("# %" PRIu64 " seeds\n", seed);
			(void)fflush(stdout);
		}
	}
	printf("# %" PRId64 " turns, %" PRId64 " jobs, %" PRId64
	       " runs, %" PRId64 " crashes, %" PRId64 " lists that lied\n",
	    turns, submits, runs, crashes, lies);
	ok(bad == 0, "%" PRIu64 " seeds", n);
	ok(submits >= (int64_t)n && lies >= (int64_t)n, "with enough lies");
}

/* Whether the seed shows the bug. */
static bool
shows(const char *dir, const struct bug *bug, uint64_t seed)
{
	struct sim *s = sim_seed(dir, seed, bug->point, false);
	bool found = *s->wrong != '\0';

	if (found)
		printf(
		    "# %s, seed %" PRIu64 ": %s\n", bug->point, seed, s->wrong);
	sim_free(s);
	return found;
}

static void
run_bugs(const char *dir)
{
	uint64_t seed;
	bool found;
	size_t i;

	for (i = 0; i < sizeof bugs / sizeof bugs[0]; i++) {
		found = shows(dir, &bugs[i], bugs[i].seed);
		for (seed = 1; seed <= SEEDS_OF_A_BUG && !found; seed++)
			found = shows(dir, &bugs[i], seed);
		ok(found, "found: %s", bugs[i].about);
	}
}

static int
run_one(const char *dir, uint64_t seed, const char *bug)
{
	struct sim *s = sim_seed(dir, seed, bug, true);
	bool good = *s->wrong == '\0';

	printf("# %d turns, %d crashes, %d jobs; %s\n", s->turns, s->crashes,
	    s->cluster != NULL ? s->cluster->submits : 0, s->why);
	printf("# seed %" PRIu64 ": %s\n", seed, good ? "good" : s->wrong);
	sim_free(s);
	return !good;
}

int
main(int argc, char **argv)
{
	const char *seeds = getenv("SIM_SEEDS");
	char *dir = xasprintf("%s/t_sim_slurm.XXXXXX", scratch_folder());
	int rc;

	store_settle();
	/* Copied for nodes that do not execute it. */
	if (mkdtemp(dir) == NULL || setenv("HPOTUNE_SHIM", "/bin/true", 1) != 0)
		return 1;
	if (argc >= 3 && strcmp(argv[1], "--seed") == 0)
		rc = run_one(dir, strtoull(argv[2], NULL, 10),
		    argc > 3 ? argv[3] : NULL);
	else {
		run_seeds(dir, seeds != NULL
				   ? strtoull(seeds, NULL, 10)
				   : (uint64_t)often(SEEDS, SEEDS_LONG));
		if (WITH_BUGS)
			run_bugs(dir);
		rc = done_testing();
	}
	log_set_sink(NULL, NULL);
	(void)rmdir(dir);
	free(dir);
	return rc;
}
