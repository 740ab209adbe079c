/* What a history tells a strategy about one trial. */

#include <math.h>

#include "src/model/history/history.h"
#include "strategies/trial-rank.h"

static bool
has_losses(const struct history *h, int64_t trial)
{
	const double *losses = history_losses(h, trial);
	size_t i, n = history_n_objectives(h);

	for (i = 0; i < n; i++)
		if (isnan(losses[i]))
			return false;
	return true;
}

static enum told_kind
trial_kind(const struct history *h, int64_t trial)
{
	switch (history_state(h, trial)) {
	case TRIAL_COMPLETED:
		if (!has_losses(h, trial))
			return TOLD_FAILED;
		return history_violation(h, trial) > 0 ? TOLD_INFEASIBLE
						       : TOLD_COMPLETED;
	case TRIAL_STOPPED:
		return history_violation(h, trial) > 0 ? TOLD_INFEASIBLE
						       : TOLD_STOPPED;
	case TRIAL_FAILED:
		return TOLD_FAILED;
	case TRIAL_STARTING:
	case TRIAL_RUNNING:
	case TRIAL_STOPPING:
		return TOLD_PENDING;
	case TRIAL_WAITING:
	case TRIAL_CANCELLED:
	case TRIAL_STATES:
		break;
	}
	return TOLD_NOTHING;
}

static void
stopped_key(struct told *t, const struct history *h)
{
	struct curve c = history_curve(h, t->trial);

	t->first = 1;
	if (c.n == 0)
		return;
	t->first = -(double)curve_step(&c, c.n - 1);
	t->second = c.values[c.n - 1];
	if (isnan(t->second))
		t->second = INFINITY;
}

struct told
told_about(const struct history *h, int64_t trial)
{
	struct told t = { trial_kind(h, trial), 0, 0, trial };

	switch (t.kind) {
	case TOLD_COMPLETED:
		if (history_n_objectives(h) == 1)
			t.first = history_loss(h, trial);
		break;
	case TOLD_STOPPED:
		stopped_key(&t, h);
		break;
	case TOLD_INFEASIBLE:
		t.first = history_violation(h, trial);
		break;
	case TOLD_FAILED:
	case TOLD_PENDING:
	case TOLD_NOTHING:
		break;
	}
	return t;
}

bool
told_is_before(const struct told *a, const struct told *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return a->first < b->first ||
	       (a->first == b->first && a->second < b->second);
}

int
told_order(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	if (told_is_before(x, y))
		return -1;
	if (told_is_before(y, x))
		return 1;
	return (x->trial > y->trial) - (x->trial < y->trial);
}

bool
told_is_finished(enum told_kind kind)
{
	return kind != TOLD_PENDING && kind != TOLD_NOTHING;
}
