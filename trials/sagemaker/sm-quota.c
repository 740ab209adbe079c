/*
 * Learns from AWS's refusals how many jobs may run at once, one cap for each
 * kind of machine (type; spot or not).  A cap rises by one at intervals, to
 * detect a raised quota; a kind with quota 0 is skipped until it is tried
 * again.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/loop.h"
#include "trials/sagemaker/sm-internal.h"

/* The number after these words, or -1. */
static int
number_after(const char *text, const char *words)
{
	const char *at = strcasestr(text, words);
	char *end;
	double n;

	if (at == NULL)
		return -1;
	at += strlen(words);
	n = strtod(at, &end);
	return end == at || n < 0 || n > 1e6 ? -1 : (int)n;
}

bool
sm_quota_limit_read(struct sm_limit *l, const char *text)
{
	const char *name, *end;
	size_t n;

	*l = (struct sm_limit){ .limit = -1, .in_use = -1, .delta = -1 };
	name = strcasestr(text, "limit '");
	if (name == NULL || (end = strchr(name += 7, '\'')) == NULL)
		return false;
	n = strcspn(name, " '");
	if (strncmp(name, "ml.", 3) == 0 && n < sizeof l->type) {
		memcpy(l->type, name, n);
		l->type[n] = '\0';
	}
	l->spot = memmem(name, (size_t)(end - name), "spot", 4) != NULL;
	l->warm = memmem(name, (size_t)(end - name), "warm pool", 9) != NULL;
	l->limit = number_after(end, "' is ");
	l->in_use = number_after(end, "utilization of ");
	l->delta = number_after(end, "delta of ");
	return l->limit >= 0;
}

static struct sm_cap *
cap_find(const struct sm *sm, const char *type, bool spot)
{
	size_t i;

	for (i = 0; i < sm->n_caps; i++)
		if (sm->caps[i].spot == spot &&
		    strcmp(sm->caps[i].type, type) == 0)
			return &sm->caps[i];
	return NULL;
}

static const char *
sm_quota_plan_type(const struct sm_plan *p)
{
	return p->type != NULL ? p->type->name : "";
}

/* Number of our jobs on this kind of machine that exist, or may exist. */
static int
jobs_of(const struct sm *sm, const char *type, bool spot,
    const struct sm_attempt *but)
{
	const struct sm_attempt *a;
	size_t i;
	int n = 0;

	for (i = 0; i < sm->n; i++) {
		a = sm->attempts[i];
		n += a != but && a->state >= SM_ADOPT && a->state < SM_DRAIN &&
		     a->plan.spot == spot &&
		     strcmp(sm_quota_plan_type(&a->plan), type) == 0;
	}
	return n;
}

/* How many jobs may run at once. */
static int
slots_now(const struct sm *sm)
{
	const struct sm_cap *c;
	struct sm_plan plan;
	int slots = sm->parallel;

	sm_quota_plan((struct sm *)sm, &plan, 0);
	c = cap_find(sm, sm_quota_plan_type(&plan), plan.spot);
	if (c != NULL && c->jobs < slots)
		slots = c->jobs;
	/* At least one, to detect when quota is available again. */
	return slots > 0 ? slots : 1;
}

static void
slots_tell(struct sm *sm)
{
	struct launch_event ev = { .kind = LAUNCH_SLOTS };
	int now = slots_now(sm);

	if (now == sm->slots)
		return;
	sm->slots = now;
	sm_events_emit(sm, &ev);
}

static void
cap_set(struct sm *sm, const char *type, bool spot, int jobs)
{
	struct sm_cap *c = cap_find(sm, type, spot);

	if (c == NULL) {
		sm->caps =
		    xreallocarray(sm->caps, sm->n_caps + 1, sizeof *sm->caps);
		c = &sm->caps[sm->n_caps++];
		*c = (struct sm_cap){ .spot = spot };
		(void)snprintf(c->type, sizeof c->type, "%s", type);
	}
	c->jobs = jobs;
	c->since_ms = loop_now_ms(sm->loop);
	if (!loop_timer_pending(sm->cap_timer))
		loop_timer_set(sm->cap_timer, sm_ms(sm, SM_PROBE_S));
}

void
sm_quota_hit(struct sm_attempt *a, const char *text)
{
	struct sm *sm = a->sm;
	struct sm_limit l;
	int each = a->plan.instances > 0 ? a->plan.instances : 1;
	int ours = jobs_of(sm, sm_quota_plan_type(&a->plan), a->plan.spot, a);
	int jobs = ours;

	/*
	 * Others may use the rest of the quota: our current number is the cap.
	 */
	if (sm_quota_limit_read(&l, text) && l.limit / each < jobs)
		jobs = l.limit / each;
	if (l.limit < 0 || l.limit >= each)
		jobs = jobs > 0 ? jobs : 1;
	cap_set(sm, sm_quota_plan_type(&a->plan), a->plan.spot, jobs);
	slots_tell(sm);
}

void
sm_quota_ended(struct sm_attempt *a)
{
	struct sm_cap *c =
	    cap_find(a->sm, sm_quota_plan_type(&a->plan), a->plan.spot);

	/* A place is free: restart the interval. */
	if (c != NULL && c->jobs > 0)
		c->since_ms = loop_now_ms(a->sm->loop);
}

void
sm_quota_plan(struct sm *sm, struct sm_plan *plan, int capacity)
{
	const struct sm_settings *set = sm->set;
	const struct sm_cap *c;
	int i, most = (int)set->n_types + set->on_demand_after + 1;

	for (i = 0; i <= most; i++) {
		sm_plan_make(plan, set, capacity + i);
		c = cap_find(sm, sm_quota_plan_type(plan), plan->spot);
		if (c == NULL || c->jobs > 0)
			return;
	}
	/*
	 * When no type has quota, use the first, which reports the refusal
	 * again.
	 */
	sm_plan_make(plan, set, capacity);
}

void
sm_quota_probe(void *arg)
{
	struct sm *sm = arg;
	int64_t now = loop_now_ms(sm->loop), wait;
	size_t i, kept = 0;
	struct sm_cap *c;

	for (i = 0; i < sm->n_caps; i++) {
		c = &sm->caps[i];
		wait = sm_ms(sm, c->jobs > 0 ? SM_PROBE_S : SM_PROBE_NONE_S);
		if (now - c->since_ms >= wait) {
			c->jobs++;
			c->since_ms = now;
		}
		if (c->jobs < sm->parallel)
			sm->caps[kept++] = *c;
	}
	sm->n_caps = kept;
	if (kept > 0)
		loop_timer_set(sm->cap_timer, sm_ms(sm, SM_PROBE_S));
	slots_tell(sm);
}
