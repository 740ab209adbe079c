/*
 * A limit of Slurm on the jobs of a user: as many trials have jobs as there can be,
 * and more are tried after a pause.
 */

#include "src/base/loop.h"
#include "trials/slurm/slurm-internal.h"

enum {
	WAIT_MS = 60000, /* until more jobs are tried than the limit allows */
	WAIT_MAX_MS = 10 * 60000, /* … if that is refused again and again */
	SOON_MS = 2000 /* … if it was not */
};

static void
slurm_quota_on_timer(void *arg)
{
	struct slurm *s = arg;

	s->quota.due = true;
	loop_wake(s->loop);
}

void
slurm_quota_open(struct slurm *s)
{
	s->slots = s->parallel;
	s->quota.wait_ms = WAIT_MS;
	s->quota.timer = loop_timer_new(s->loop, slurm_quota_on_timer, s);
}

void
slurm_quota_close(struct slurm *s)
{
	if (s->quota.timer != NULL)
		loop_timer_free(s->quota.timer);
}

static void
slurm_quota_slots(struct slurm *s, int slots)
{
	struct launch_event ev = { .kind = LAUNCH_SLOTS };

	if (slots == s->slots)
		return;
	s->slots = slots;
	backend_emit(&s->source, &ev);
}

/* Trials whose jobs Slurm has. */
static int
slurm_quota_sent(const struct slurm *s)
{
	int n = 0;
	size_t i;

	for (i = 0; i < s->n; i++)
		n += s->attempts[i]->phase == SLURM_SENT &&
		     !s->attempts[i]->is_job;
	return n;
}

void
slurm_quota_reached(struct slurm *s, const char *text)
{
	int sent = slurm_quota_sent(s);

	if (sent > 0 && !s->quota.noted)
		backend_note(&s->source, LAUNCH_WARNING,
		    "Slurm takes no more jobs of this user for now (%s): "
		    "others are submitted as jobs end",
		    text);
	s->quota.noted |= sent > 0;
	s->quota.held = sent;
	s->quota.step = 1;
	slurm_quota_slots(s, sent > 0 ? sent : 1);
	loop_timer_set(s->quota.timer, s->quota.wait_ms);
	s->quota.wait_ms = s->quota.wait_ms * 2 < WAIT_MAX_MS
			       ? s->quota.wait_ms * 2
			       : WAIT_MAX_MS;
}

void
slurm_quota_look(struct slurm *s)
{
	int sent = slurm_quota_sent(s);

	if (s->slots == s->parallel || sent <= s->quota.held)
		return;
	s->quota.held = sent;
	s->quota.wait_ms = WAIT_MS;
	s->quota.step *= 2;
	loop_timer_set(s->quota.timer, SOON_MS);
}

/* Whether the limit was raised, or jobs of others have ended, shows a try. */
void
slurm_quota_collect(struct slurm *s)
{
	int slots = s->slots + s->quota.step;

	if (!s->quota.due)
		return;
	s->quota.due = false;
	slurm_quota_slots(s, slots < s->parallel ? slots : s->parallel);
	if (s->slots < s->parallel)
		loop_timer_set(s->quota.timer, s->quota.wait_ms);
}
