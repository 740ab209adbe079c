/*
 * Where another attempt can be placed: slots, the backend's limits,
 * limits.parallel over all backends, limits.cost against committed costs.
 */

#include <string.h>

#include "src/engine/attempts/slots.h"
#include "src/engine/tuner/capacity.h"
#include "src/engine/tuner/limits.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/start-failures.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/study/study.h"
#include "src/store/queries.h"

int64_t
capacity_parallel(const struct tuner *t)
{
	return t->env.parallel > 0 ? t->env.parallel
				   : t->study->limits.parallel;
}

double
capacity_committed(struct tuner *t)
{
	double dollars = 0;

	if (t->study->limits.cost > 0)
		(void)store_cost_committed(t->store, &dollars, NULL);
	return dollars;
}

/*
 * Record the upper bound of the cost of running attempts and of the next one,
 * as the backends report it. least: dollars in total when all training
 * attempts are stopped now; 0: stopping would not help.
 */
void
capacity_put_costs(struct tuner *t, double *least)
{
	struct launch_bill bill;
	struct backend *b;
	struct live_trial *l;
	bool any = false;
	size_t i;
	int k;

	for (k = 0; k < t->n_backends; k++) {
		b = &t->backends[k];
		if (b->type->bill != NULL && b->type->bill(b->ctx, 0, 0, &bill))
			b->worst_cost = bill.most;
	}
	*least = capacity_committed(t);
	for (i = 0; i < t->live.n; i++) {
		l = t->live.list[i];
		live_trial_set_trains(l, false);
		if (!l->open || l->external)
			continue;
		b = &t->backends[l->backend];
		if (b->type->bill == NULL ||
		    !b->type->bill(
			b->ctx, l->row.number, l->att.attempt, &bill))
			continue;
		live_trial_set_trains(l, bill.trains);
		any = any || l->trains;
		*least += bill.least -
			  (l->att.worst_cost > 0 ? l->att.worst_cost : 0);
		if (bill.recheck_ms > 0)
			tuner_wake_in(t, bill.recheck_ms);
		live_trial_set_worst_cost(t, l, bill.most);
	}
	if (!any || capacity_committed(t) <= t->study->limits.cost)
		*least = 0;
}

/* Allow for rounding of sums, so that the last attempt fits. */
static bool
affordable(const struct tuner *t, const struct backend *b, double dollars)
{
	double limit = t->study->limits.cost;

	return limit <= 0 || !(b->worst_cost > 0) ||
	       dollars + b->worst_cost <= limit * (1 + 1e-9);
}

static bool
capacity_any_waiting(const struct tuner *t)
{
	size_t i;

	for (i = 0; i < t->live.n; i++)
		if (t->live.list[i]->row.state == TRIAL_WAITING)
			return true;
	return limits_allow_new(t);
}

static void
capacity_cost_text(struct tuner *t, const struct backend *b, double dollars)
{
	if (t->warned_cost || !capacity_any_waiting(t))
		return;
	t->warned_cost = true;
	tuner_event(t, LOG_LEVEL_INFO, "cost", 0, 0,
	    "no further attempt is started on %s for now: $%.2f "
	    "of limits.cost $%.2f are committed, and an attempt "
	    "may cost $%.2f",
	    b->type->name, dollars, t->study->limits.cost, b->worst_cost);
}

/*
 * The first free slot for which the backend has the resources of an attempt,
 * or -1; held: one of those that are used last.
 */
static int
slot_ready(const struct backend *b, bool held)
{
	int slot = slots_free(&b->slots);
	char why[200];

	for (; slot >= 0; slot = slots_next(&b->slots, slot))
		if (slots_held(&b->slots, slot) == held &&
		    (b->type->ready == NULL ||
			b->type->ready(b->ctx, slot, why, sizeof why)))
			break;
	return slot;
}

/* Whether trials share GPUs of a backend without a declaration. */
static bool
memory_wanted(struct tuner *t)
{
	struct backend *b;
	int i;

	for (i = 0; i < t->n_backends && !t->gpu_need_asked; i++) {
		b = &t->backends[i];
		t->gpu_need_wanted =
		    t->gpu_need_wanted ||
		    (b->type->expect != NULL && b->type->expect(b->ctx, 0));
	}
	t->gpu_need_asked = true;
	return t->gpu_need_wanted;
}

void
capacity_learn_memory(struct tuner *t)
{
	static const char text[] =
	    "trials that share a GPU begin where the memory is free that each "
	    "is likely to need, by what earlier ones have used; "
	    "trial.gpu_memory would say what each needs";
	bool knew = t->gpu_need.fit != NULL;
	struct err e = ERR_INIT;

	if (!memory_wanted(t))
		return;
	if (gpu_need_refresh(&t->gpu_need, t->store, t->study->space,
		t->outcomes.n_over, t->outcomes.n_failed, &e) != 0)
		store_fail_with(t->store, &e);
	/* Once per study. */
	else if (!knew && t->gpu_need.fit != NULL &&
		 !store_event_is_last(t->store, "memory", text))
		tuner_event(t, LOG_LEVEL_INFO, "memory", 0, 0, "%s", text);
}

void
capacity_expect(struct tuner *t, int backend, struct live_trial *l)
{
	struct backend *b = &t->backends[backend];
	int64_t bytes = gpu_need_least(&t->gpu_need);
	struct err e = ERR_INIT;

	if (!memory_wanted(t) || b->type->expect == NULL)
		return;
	if (l != NULL)
		bytes = gpu_need_of(
		    &t->gpu_need, live_trial_values(t, l, &e), NULL);
	(void)b->type->expect(b->ctx, bytes);
}

/* The trial that is placed first of those that wait now; NULL: a new one. */
static struct live_trial *
capacity_first_waiting(const struct tuner *t)
{
	struct live_trial *l, *first = NULL;
	size_t i;

	for (i = 0; i < t->live.n; i++) {
		l = t->live.list[i];
		if (l->row.state == TRIAL_WAITING &&
		    l->row.not_before_us <= t->turn_us &&
		    (first == NULL || l->row.number < first->row.number))
			first = l;
	}
	return first;
}

void
capacity_find(struct tuner *t, struct capacity *room)
{
	int64_t parallel = capacity_parallel(t);
	size_t placed = live_set_n_placed(&t->live);
	double dollars = capacity_committed(t);
	struct backend *b;
	char why[256];
	bool full;
	int i;

	full = (parallel > 0 && (int64_t)placed >= parallel) ||
	       limits_hopeless(t, why, sizeof why);
	room->any = false;
	capacity_learn_memory(t);
	for (i = 0; i < t->n_backends; i++) {
		b = &t->backends[i];
		if (b->type->ends != NULL)
			b->type->ends(b->ctx, limits_end_us(t));
		if (t->gpu_need_wanted)
			capacity_expect(t, i, capacity_first_waiting(t));
		room->slot[i] = -1;
		room->last[i] = false;
		if (!full && start_failures_ready(t, i)) {
			room->slot[i] = slot_ready(b, false);
			room->last[i] = room->slot[i] < 0 && placed == 0;
		}
		if (room->last[i])
			room->slot[i] = slot_ready(b, true);
		if (room->slot[i] >= 0 && !affordable(t, b, dollars)) {
			capacity_cost_text(t, b, dollars);
			room->slot[i] = -1;
		}
		room->any = room->any || room->slot[i] >= 0;
	}
}

/* The backend of a trial, or -1 when it may use any. */
static int
backend_of(const struct tuner *t, const struct live_trial *l)
{
	int i;

	if (l == NULL || l->row.backend == NULL)
		return -1;
	for (i = 0; i < t->n_backends; i++)
		if (strcmp(t->backends[i].type->name, l->row.backend) == 0)
			return slots_all_drained(&t->backends[i].slots) ? -1
									: i;
	return -1;
}

/* Reserve places for trials that wait for a machine before new ones. */
static int
waiting_for(const struct tuner *t, int backend)
{
	const struct live_trial *l;
	size_t i;
	int n = 0;

	for (i = 0; i < t->live.n; i++) {
		l = t->live.list[i];
		n += l->past.waits > 0 && l->row.state == TRIAL_WAITING &&
		     backend_of(t, l) == backend;
	}
	return n;
}

int
capacity_backend(const struct tuner *t, const struct capacity *room,
    const struct live_trial *l)
{
	int i, last = -1, own = backend_of(t, l);
	const struct slots *s;

	if (own >= 0)
		return room->slot[own] >= 0 ? own : -1;
	for (i = 0; i < t->n_backends; i++) {
		s = &t->backends[i].slots;
		if (room->slot[i] < 0 ||
		    (l == NULL && slots_used(s) + waiting_for(t, i) >= s->n))
			continue;
		if (!room->last[i])
			return i;
		last = last < 0 ? i : last;
	}
	return last;
}

bool
capacity_money_for(
    const struct tuner *t, const struct live_trial *l, double dollars)
{
	int i, own = backend_of(t, l);

	for (i = 0; i < t->n_backends; i++)
		if ((own < 0 || own == i) &&
		    !slots_all_drained(&t->backends[i].slots) &&
		    affordable(t, &t->backends[i], dollars))
			return true;
	return false;
}
