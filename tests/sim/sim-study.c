/* A study and a world drawn from a seed. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "tests/sim/sim.h"

/* Half of the faults are off in a seed, so that each is seen alone, too. */
static double
share(struct sim *s, double most)
{
	return sim_chance(s, 0.5) ? most * rng_uniform(&s->dice) : 0;
}

static void
draw_faults(struct sim *s)
{
	if (sim_chance(s, 0.1))
		return;
	s->faults = (struct pretend_faults){
		.busy = share(s, 0.3),
		.refuse = share(s, 0.1),
		.late = share(s, 0.5),
		.no_run = share(s, 0.1),
		/* Some are lost so often that they fail for it. */
		.lost = sim_chance(s, 0.03) ? 0.97 : share(s, 0.3),
		.fail = share(s, 0.3),
		.oom = share(s, 0.2),
		.silent = share(s, 0.2),
		.hang = share(s, 0.1),
		.slow_stop = share(s, 1),
		.ignore_stop = share(s, 0.5),
		.last_words = share(s, 1),
		.nonfinite = share(s, sim_chance(s, 0.2) ? 0.9 : 0.1),
		.backwards = share(s, 0.3),
		.stepless = share(s, 0.5),
		.gaps = share(s, 0.7),
		.second = share(s, 1),
		.repeat = share(s, 1),
		.unknown = share(s, 0.6),
		.dribble = share(s, 0.5),
		.waits = share(s, 0.5),
		.again = share(s, 1),
	};
}

/* Most of what is stopped gets a second look. */
#define LOOK(rule, options) \
	"{\"rule\": \"" rule "\", " options ", \"second_look\": \"100%\"}"

static const char *const rules[] = {
	"\"none\"",
	"\"median\"",
	"{\"rule\": \"median\", \"min_trials\": 2, \"warmup_steps\": 1}",
	"{\"rule\": \"median\", \"min_trials\": 2, \"warmup_steps\": 1, "
	"\"guard\": false}",
	"{\"rule\": \"median\", \"min_trials\": 3, \"warmup_steps\": 2, "
	"\"value\": \"best\", \"reference\": \"mean\", "
	"\"pool\": \"completed\"}",
	"{\"rule\": \"median\", \"min_trials\": 2, \"warmup_steps\": 1, "
	"\"value\": \"window:40%\", \"interval_steps\": 2}",
	"{\"rule\": \"percentile\", \"min_trials\": 2, \"warmup_steps\": 1}",
	"{\"rule\": \"sagemaker\", \"min_trials\": 2}",
	"{\"rule\": \"optuna\", \"n_startup_trials\": 2, "
	"\"n_warmup_steps\": 1, \"interval_steps\": 2}",
	"{\"rule\": \"ray\", \"grace_period\": 1, "
	"\"min_samples_required\": 2}",
	"{\"rule\": \"nni\", \"start_step\": 2, \"guard\": true}",
	"{\"rule\": \"syne-tune\", \"grace_population\": 3}",
	"{\"rule\": \"katib\", \"min_trials_required\": 2, "
	"\"start_step\": 2}",
	"{\"rule\": \"patience\", \"steps\": 2}",
	"{\"rule\": \"asha\", \"reduction_factor\": 2, \"guard\": true}",
	"{\"rule\": \"hyperband\", \"reduction_factor\": 2}",
	"{\"rule\": \"asha\", \"reduction_factor\": 2, "
	"\"promote\": true}",
	"{\"rule\": \"hyperband\", \"reduction_factor\": 2, "
	"\"promote\": true}",
	"[{\"rule\": \"asha\", \"reduction_factor\": 3, "
	"\"promote\": true, \"guard\": true}, "
	"{\"rule\": \"threshold\", \"lower\": 0.2, \"upper\": 0.9}]",
	"{\"rule\": \"threshold\", \"lower\": 0.2, \"upper\": 0.8}",
	"{\"rule\": \"narrow\", \"min_trials\": 2, \"chance\": 0.5}",
	"[\"narrow\", {\"rule\": \"curve\", \"p\": 0.5, \"veto\": true}]",
	"[{\"rule\": \"median\", \"min_trials\": 2, \"warmup_steps\": 1}, "
	"{\"rule\": \"patience\", \"steps\": 2, \"veto\": true}]",
	"[{\"rule\": \"patience\", \"steps\": 3}, "
	"{\"rule\": \"optuna\", \"n_startup_trials\": 1}]",
	"{\"rule\": \"begun\", \"min_trials\": 2, \"warmup_steps\": 1, "
	"\"guard\": 2}",
	"{\"rule\": \"median\", \"aggregate\": \"rank\", \"min_trials\": 2, "
	"\"warmup_steps\": 1, \"diverged_after\": 1}",
	LOOK("median", "\"min_trials\": 2, \"warmup_steps\": 1, "
		       "\"guard\": false"),
	LOOK("threshold", "\"lower\": 0.3, \"upper\": 0.7"),
	LOOK("asha", "\"reduction_factor\": 2"),
	LOOK("asha", "\"reduction_factor\": 2, \"promote\": true"),
	LOOK("narrow", "\"min_trials\": 2, \"chance\": 0.5"),
	LOOK("begun", "\"min_trials\": 2, \"warmup_steps\": 1"),
};

/* Rules that compare at the same number of seconds that the trials ran. */
static const char *const by_seconds[] = {
	LOOK("median",
	    "\"min_trials\": 2, \"warmup_steps\": 1, \"by\": \"seconds\""),
	LOOK("patience", "\"steps\": 2, \"by\": \"seconds\""),
	"[\"median\", {\"rule\": \"percentile\", \"percentile\": 60, "
	"\"min_trials\": 2, \"warmup_steps\": 0, \"by\": \"seconds\", "
	"\"guard\": false}]"
};

static const char *const strategies_used[] = { "random", "sobol", "grid",
	"slow-random", "slow-sobol", "slow-grid",
	"pbt\", \"population\": 3, \"perturbation_interval\": 2, "
	"\"quantile_fraction\": 0.5, \"mutate\": \"x" };

static void
put_limits(struct sim *s, struct buf *b)
{
	s->trials = 3 + sim_below(s, 12);
	/* Enough for a place to be blamed. */
	if (s->faults.worse > 0)
		s->trials += 40;
	s->parallel = 1 + sim_below(s, 5);
	buf_printf(b,
	    "\"limits\": {\"trials\": %" PRId64 ", \"parallel\": %" PRId64,
	    s->trials, s->parallel);
	if (sim_chance(s, 0.1))
		buf_printf(
		    b, ", \"failed_trials\": %" PRId64, 1 + sim_below(s, 3));
	if (sim_chance(s, 0.1))
		buf_printf(
		    b, ", \"no_improvement\": %" PRId64, 2 + sim_below(s, 4));
	if (sim_chance(s, 0.1))
		buf_printf(
		    b, ", \"wall_time\": %" PRId64, 20 + sim_below(s, 200));
	/* Not drawn: the other choices of a seed stay. */
	if (s->seed / 64 % 8 == 3)
		buf_printf(
		    b, ", \"completed\": %" PRIu64, 1 + s->seed / 512 % 8);
	buf_puts(b, "}");
}

/* Each setting is tried several times; rules that go with that. */
static void
put_replicates(struct sim *s, struct buf *b)
{
	static const char *const aggregates[] = { "\"mean\"", "\"worst\"",
		"0.5" };

	buf_printf(b,
	    "\"replicates\": {\"parameter\": \"fold\", %s, "
	    "\"racing\": %s, \"aggregate\": %s}, ",
	    s->seed / 8 % 3 == 0   ? "\"values\": [\"a\", \"b\"]"
	    : s->seed / 8 % 3 == 1 ? "\"count\": 3"
				   : "\"count\": 5",
	    s->seed / 16 % 4 != 0 ? "true" : "false",
	    aggregates[s->seed / 32 % 3]);
}

static void
put_study(struct sim *s, struct buf *b)
{
	int64_t steps = 2 + sim_below(s, 10);
	bool small = sim_chance(s, 0.3);
	bool curves, replicates, known;
	const char *strategy, *rule;

	s->retries = sim_below(s, 4);
	buf_puts(b, "{\"study\": \"sim\", ");
	sim_aims_put(s, b, sim_chance(s, 0.5) ? "maximize" : "minimize");
	/* The last one has one objective. */
	strategy = strategies_used[sim_below(s, s->several ? 6 : 7)];
	/* Without a draw, so that all other studies stay as they were. */
	replicates = s->seed % 8 == 5;
	if (replicates && strncmp(strategy, "pbt", 3) == 0)
		strategy = strategies_used[s->seed % 6];
	/* A small space has each setting once, and then an end. */
	buf_printf(b,
	    "\"parameters\": {\"x\": {\"type\": \"float\", %s}, "
	    "\"c\": {\"type\": \"choice\", \"values\": [\"a\", \"b\"]}}, ",
	    small ? "\"min\": 0.1, \"max\": 0.9, \"step\": 0.1"
		  : "\"min\": 1e-4, \"max\": 1, \"scale\": \"log\"");
	buf_printf(b,
	    "\"strategy\": {\"name\": \"%s\", \"seed\": %" PRIu64
	    ", \"duplicates\": \"%s\"}, ",
	    strategy, s->seed,
	    sim_chance(s, 0.5) && !replicates ? "reuse" : "resample");
	if (replicates)
		put_replicates(s, b);
	rule = rules[sim_below(s, sizeof rules / sizeof rules[0])];
	/* Without a draw, so that all other studies stay as they were. */
	if (s->seed % 6 == 4)
		rule = by_seconds[s->seed / 6 %
				  (sizeof by_seconds / sizeof by_seconds[0])];
	/* Members of a population are not paused, nor looked at again. */
	if (strncmp(strategy, "pbt", 3) == 0 &&
	    (strstr(rule, "promote") != NULL || strstr(rule, "look") != NULL))
		rule = rules[0];
	/* Where a curve leads needs to be known. */
	curves = strstr(rule, "narrow") != NULL;
	if (!s->several)
		buf_printf(b, "\"stopping\": %s, ", rule);
	buf_puts(b, "\"trial\": {\"command\": [\"/bin/true\", \"{params}\"], ");
	known = sim_chance(s, 0.8) || curves;
	/* Without a draw, so that all other studies stay as they were. */
	if (known && s->seed % 5 == 2)
		buf_printf(b,
		    "\"max_steps\": \"round(%" PRId64 " * (0.5 + 0.5 * x))\", ",
		    steps);
	else if (known)
		buf_printf(b, "\"max_steps\": %" PRId64 ", ", steps);
	/* What hangs must end some day. */
	if (s->faults.hang > 0 || sim_chance(s, 0.1))
		buf_printf(
		    b, "\"max_run\": %" PRId64 ", ", 5 + sim_below(s, 60));
	buf_printf(b, "\"grace\": %" PRId64 ", \"retries\": %" PRId64 "}, ",
	    1 + sim_below(s, 10), s->retries);
	buf_printf(b,
	    "\"backend\": {\"name\": \"pretend\", \"steps\": %" PRId64
	    ", \"noise\": 0.05, \"gpus\": %d, \"seed\": %" PRIu64
	    ", \"curve\": \"%s\"}, ",
	    steps, SIM_GPUS, s->seed, sim_chance(s, 0.5) ? "exp" : "crossing");
	put_limits(s, b);
	buf_puts(b, "}");
}

void
sim_study_make(struct sim *s)
{
	struct buf b = { 0 };
	struct err e = ERR_INIT;
	char *path;

	draw_faults(s);
	/* Without a draw, so that all other studies stay as they were. */
	if (s->seed % 8 == 3)
		s->faults.worse = s->seed / 8 % 2 == 0 ? 0.5 : 0.8;
	s->crash = sim_chance(s, 0.3) ? 0 : 0.05 * rng_uniform(&s->dice);
	s->trouble = sim_chance(s, 0.3) ? 0 : 0.1 * rng_uniform(&s->dice);
	put_study(s, &b);
	s->json = buf_take(&b);
	path = xasprintf("%s/study.json", s->dir);
	s->db = xasprintf("%s/sim.db", s->dir);
	s->state_dir = xasprintf("%s/sim.d", s->dir);
	if (study_parse(&s->study, s->json, strlen(s->json), path, &e) != 0)
		sim_wrong(s, "the study cannot be read: %s", e.text);
	free(path);
}

void
sim_study_free(struct sim *s)
{
	static const char *const tails[] = { "", "-wal", "-shm", "-journal" };
	char *path;
	size_t i;

	for (i = 0; i < sizeof tails / sizeof tails[0]; i++) {
		path = xasprintf("%s%s", s->db, tails[i]);
		(void)unlink(path);
		free(path);
	}
	study_free(s->study);
	free(s->json);
	free(s->db);
	free(s->state_dir);
}
