/*
 * Studies drawn from curves: workers draw trials from a file, and each makes one
 * report in turn.
 */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "src/model/study/study.h"
#include "src/replay/curve-file.h"
#include "src/replay/replay-rerun.h"
#include "src/replay/replay-sums.h"
#include "src/replay/replay.h"
#include "strategies/stopper.h"

struct worker {
	const struct curve_file_curve *curve; /* NULL: idle */
	int64_t trial;
	size_t at;
};

/* The remaining steps of a stopped trial count as saved. */
static void
skip_rest(struct replay_rerun *r, struct worker *w)
{
	for (; w->at < w->curve->n; w->at++)
		replay_rerun_report(r, w->trial, w->curve->steps[w->at],
		    w->curve->values[w->at]);
	replay_rerun_end(r, w->trial, true);
	w->curve = NULL;
}

static void
worker_turn(struct replay_rerun *r, struct worker *w)
{
	bool over = w->at == w->curve->n;

	if (!over) {
		over = replay_rerun_report(r, w->trial, w->curve->steps[w->at],
		    w->curve->values[w->at]);
		w->at++;
		if (over) {
			skip_rest(r, w);
			return;
		}
		over = w->at == w->curve->n;
	}
	if (over) {
		replay_rerun_end(r, w->trial, true);
		w->curve = NULL;
	}
}

static void
run_study(struct replay_rerun *r, const struct curve_file *b,
    const size_t *order, size_t trials, struct worker *workers,
    size_t n_workers)
{
	size_t next = 0, i, busy;

	do {
		busy = 0;
		for (i = 0; i < n_workers; i++) {
			if (workers[i].curve == NULL && next < trials) {
				workers[i].curve = &b->curves[order[next++]];
				workers[i].trial = (int64_t)next;
				workers[i].at = 0;
				replay_rerun_trial(r, workers[i].trial)
				    ->weight = workers[i].curve->weight;
			}
			if (workers[i].curve == NULL)
				continue;
			worker_turn(r, &workers[i]);
			busy++;
		}
	} while (busy > 0);
}

int
replay_simulate(struct replay_sum *sum, const struct curve_file *b,
    const struct replay_plan *plan, const struct replay_rule *rule,
    struct err *e)
{
	struct stopper_env env = { .max_steps = b->max_steps,
		.last_step = curve_file_last_step(b),
		.maximize = plan->maximize,
		.study = "replay" };
	size_t trials = (size_t)plan->trials, n = (size_t)plan->workers;
	struct worker *workers = xcalloc(n, sizeof(*workers));
	size_t *order = xcalloc(b->n, sizeof(*order));
	struct replay_rerun r;
	int64_t k;
	int rc = 0;

	trials = trials > b->n ? b->n : trials;
	for (k = 0; k < plan->seeds && rc == 0; k++) {
		rng_sample(order, b->n, trials, plan->seed, (uint64_t)k);
		rc = replay_rerun_open(&r, rule, &env, plan->value_last, e);
		if (rc == -1)
			break;
		if (*stop_rule_set_metrics(r.set) != NULL) {
			rc = err_set(e, ERR_USAGE,
			    "rule %s reads another metric, seconds or cost: "
			    "these curves have one metric by steps; replay the "
			    "database of a study",
			    replay_rule_text(rule));
			replay_rerun_close(&r);
			break;
		}
		run_study(&r, b, order, trials, workers, n);
		replay_rerun_look(&r);
		replay_sums_add(sum, &r);
		replay_rerun_close(&r);
		if (plan->turn != NULL)
			plan->turn(plan->turn_arg);
	}
	free(order);
	free(workers);
	return rc;
}
