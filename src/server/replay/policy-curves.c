/*
 * The curves of a recorded study.  Only those of completed trials are used: the
 * rest of the others is unknown.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/study/study.h"
#include "src/server/replay/curve-file.h"
#include "src/server/replay/replay-internal.h"
#include "src/server/replay/policy-search.h"
#include "src/store/store.h"

struct reading {
	struct history *ends; /* final states only */
	struct curve_file *bank;
	struct curve_file_curve *curve;
	int64_t trial; /* of the curve */
};

static int
on_end(void *arg, const struct store_record *row)
{
	struct reading *r = arg;

	while (history_count(r->ends) < row->trial)
		history_add(r->ends, history_count(r->ends) + 1, NULL);
	if (trial_state_final(row->state))
		history_end(r->ends, row->trial, row->state, row->value);
	return 0;
}

static int
on_report(void *arg, int64_t trial, int64_t step, double value)
{
	struct reading *r = arg;

	if (trial > history_count(r->ends) ||
	    history_state(r->ends, trial) != TRIAL_COMPLETED)
		return 0;
	if (trial != r->trial)
		r->curve = curve_file_begin(r->bank);
	r->trial = trial;
	curve_file_report(r->bank, r->curve, step, value);
	return 0;
}

/* It is none of the curves. */
static void
on_other(void *arg, int64_t trial)
{
	struct reading *r = arg;

	if (trial <= history_count(r->ends))
		history_retry(r->ends, trial);
}

int
policy_curves_read(struct curve_file *b, struct replay_plan *plan,
    struct store *s, struct err *e)
{
	struct reading r = { .bank = b };
	struct study *study;
	int rc;

	*b = (struct curve_file){ 0 };
	if (replay_recorded_study(&study, s, e) == -1)
		return -1;
	r.ends = history_new(0, study->maximize, 0);
	rc = store_walk_records(s, NULL, false, on_end, &r, e);
	if (rc == 0)
		rc = replay_each_other(s, on_other, &r, e);
	if (rc == 0)
		rc = store_walk_curves(s, on_report, &r, e);
	if (rc == 0 && b->n == 0)
		rc = err_set(e, ERR_USAGE,
		    "%s: no completed trial has reported anything",
		    study->name);
	plan->maximize = study->maximize;
	plan->value_last = study->value_last;
	if (study->trial.max_steps > 0)
		b->max_steps = study->trial.max_steps;
	history_free(r.ends);
	study_free(study);
	if (rc != 0)
		curve_file_free(b);
	return rc;
}
