/* Rank of a trial, for strategies. */

#include <math.h>

#include "src/model/history/history.h"
#include "strategies/trial-rank.h"

static bool
trial_rank_has_losses(const struct history *h, int64_t trial)
{
	const double *losses = history_losses(h, trial);
	size_t i, n = history_n_objectives(h);

	for (i = 0; i < n; i++)
		if (isnan(losses[i]))
			return false;
	return true;
}

static enum trial_rank_kind
trial_kind(const struct history *h, int64_t trial)
{
	switch (history_state(h, trial)) {
	case TRIAL_COMPLETED:
		if (!trial_rank_has_losses(h, trial))
			return TRIAL_RANK_FAILED;
		return history_violation(h, trial) > 0 ? TRIAL_RANK_INFEASIBLE
						       : TRIAL_RANK_COMPLETED;
	case TRIAL_STOPPED:
		return history_violation(h, trial) > 0 ? TRIAL_RANK_INFEASIBLE
						       : TRIAL_RANK_STOPPED;
	case TRIAL_FAILED:
		return TRIAL_RANK_FAILED;
	case TRIAL_STARTING:
	case TRIAL_RUNNING:
	case TRIAL_STOPPING:
		return TRIAL_RANK_PENDING;
	case TRIAL_WAITING:
	case TRIAL_CANCELLED:
	case TRIAL_STATES:
		break;
	}
	return TRIAL_RANK_NONE;
}

static void
stopped_key(struct trial_rank *t, const struct history *h)
{
	struct curve c = history_curve(h, t->trial);

	t->first = 1;
	if (c.n == 0)
		return;
	t->first = -(double)curve_step(&c, c.n - 1);
	t->second = curve_value(&c, c.n - 1);
	if (isnan(t->second))
		t->second = INFINITY;
}

struct trial_rank
trial_rank_of(const struct history *h, int64_t trial)
{
	struct trial_rank t = { trial_kind(h, trial), 0, 0, trial };

	switch (t.kind) {
	case TRIAL_RANK_COMPLETED:
		if (history_n_objectives(h) == 1)
			t.first = history_loss(h, trial);
		break;
	case TRIAL_RANK_STOPPED:
		stopped_key(&t, h);
		break;
	case TRIAL_RANK_INFEASIBLE:
		t.first = history_violation(h, trial);
		break;
	case TRIAL_RANK_FAILED:
	case TRIAL_RANK_PENDING:
	case TRIAL_RANK_NONE:
		break;
	}
	return t;
}

bool
trial_rank_is_before(const struct trial_rank *a, const struct trial_rank *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return a->first < b->first ||
	       (a->first == b->first && a->second < b->second);
}

int
trial_rank_order(const void *a, const void *b)
{
	const struct trial_rank *x = a, *y = b;

	if (trial_rank_is_before(x, y))
		return -1;
	if (trial_rank_is_before(y, x))
		return 1;
	return (x->trial > y->trial) - (x->trial < y->trial);
}

bool
trial_rank_is_finished(enum trial_rank_kind kind)
{
	return kind != TRIAL_RANK_PENDING && kind != TRIAL_RANK_NONE;
}
