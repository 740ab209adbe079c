/* Several rules as one. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "strategies/stopper.h"

struct member {
	const struct stopper *rule;
	void *state;
	bool veto;
};

struct stop_rule_set {
	struct member *members;
	size_t n;
};

struct stop_rule_set *
stop_rule_set_new(void)
{
	return xcalloc(1, sizeof(struct stop_rule_set));
}

int
stop_rule_set_add(struct stop_rule_set *set, const struct stopper *rule,
    const struct option_value *values, const struct stopper_env *env, bool veto,
    struct err *e)
{
	struct member m = { .rule = rule, .veto = veto };

	if (rule->open(&m.state, values, env, e) == -1)
		return -1;
	set->members =
	    xreallocarray(set->members, set->n + 1, sizeof(*set->members));
	set->members[set->n++] = m;
	return 0;
}

void
stop_rule_set_free(struct stop_rule_set *set)
{
	size_t i;

	if (set == NULL)
		return;
	for (i = 0; i < set->n; i++)
		set->members[i].rule->close(set->members[i].state);
	free(set->members);
	free(set);
}

void
stop_rule_set_observe(struct stop_rule_set *set, const struct history *h,
    int64_t trial, int64_t step)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		set->members[i].rule->observe(
		    set->members[i].state, h, trial, step);
}

void
stop_rule_set_ended(
    struct stop_rule_set *set, const struct history *h, int64_t trial)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		set->members[i].rule->ended(set->members[i].state, h, trial);
}

bool
stop_rule_set_median(struct stop_rule_set *set, const struct history *h,
    int64_t step, int64_t *trials, double *median)
{
	const struct member *m;
	size_t i;

	for (i = 0; i < set->n; i++) {
		m = &set->members[i];
		if (m->rule->median != NULL &&
		    m->rule->median(m->state, h, step, trials, median))
			return true;
	}
	return false;
}

static bool
verdict_ends(enum verdict v)
{
	return v == VERDICT_STOP || v == VERDICT_PAUSE;
}

/* A veto rule allows a stop if it would stop the trial itself. */
static void
set_veto(struct stop_rule_set *set, const struct history *h, int64_t trial,
    int64_t step, struct judgement *j)
{
	struct judgement second;
	char why[sizeof(j->why)];
	size_t i;

	for (i = 0; i < set->n; i++) {
		if (!set->members[i].veto)
			continue;
		set->members[i].rule->judge(
		    set->members[i].state, h, trial, step, &second);
		if (verdict_ends(second.verdict))
			continue;
		memcpy(why, j->why, sizeof(why));
		snprintf(j->why, sizeof(j->why), "%.140s, but %s keeps it", why,
		    second.rule);
		j->verdict = VERDICT_SUSPENDED;
		return;
	}
}

/* How much a verdict counts beside those of other rules. */
static int
verdict_weight(enum verdict v)
{
	switch (v) {
	case VERDICT_KEEP:
		return 0;
	case VERDICT_SUSPENDED:
		return 1;
	case VERDICT_PAUSE:
		return 2;
	case VERDICT_STOP:
		return 3;
	}
	return 0;
}

void
stop_rule_set_judge(struct stop_rule_set *set, const struct history *h,
    int64_t trial, int64_t step, struct judgement *j)
{
	struct judgement one;
	bool any = false;
	size_t i;

	*j = (struct judgement){ .verdict = VERDICT_KEEP,
		.rule = "none",
		.value = NAN,
		.threshold = NAN };
	for (i = 0; i < set->n && j->verdict != VERDICT_STOP; i++) {
		if (set->members[i].veto)
			continue;
		set->members[i].rule->judge(
		    set->members[i].state, h, trial, step, &one);
		if (verdict_ends(one.verdict) && !one.diverged)
			set_veto(set, h, trial, step, &one);
		/* Of those that keep it, the first one's numbers are shown. */
		if (!any ||
		    verdict_weight(one.verdict) > verdict_weight(j->verdict))
			*j = one;
		any = true;
	}
}

int64_t
stop_rule_set_promote(struct stop_rule_set *set, const struct history *h,
    const struct stopper_paused *paused, size_t n, struct judgement *j)
{
	const struct member *m;
	int64_t trial = 0;
	size_t i;

	for (i = 0; i < set->n && trial == 0; i++) {
		m = &set->members[i];
		if (m->rule->promote != NULL && !m->veto)
			trial = m->rule->promote(m->state, h, paused, n, j);
	}
	return trial;
}
