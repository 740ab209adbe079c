/* The attempts and jobs that are followed. */

#include "src/base/loop.h"
#include "trials/slurm/slurm-internal.h"

enum { LOOK_SOON_MS = 50 };

struct slurm_attempt *
slurm_find(struct slurm *s, int64_t trial, int attempt)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->attempts[i]->source.trial == trial &&
		    s->attempts[i]->source.attempt == attempt &&
		    s->attempts[i]->phase != SLURM_OVER)
			return s->attempts[i];
	return NULL;
}

void
slurm_phase(struct slurm_attempt *a, enum slurm_phase phase)
{
	if (phase == a->phase)
		return;
	a->phase = phase;
	a->since_ms = loop_now_ms(a->slurm->loop);
	a->missing = 0;
	a->account = SLURM_ACCOUNT_UNASKED;
	loop_wake(a->slurm->loop);
}

void
slurm_look_soon(struct slurm *s)
{
	loop_timer_set(s->look_timer, LOOK_SOON_MS);
}

void
slurm_follow(struct slurm *s, struct slurm_attempt *a)
{
	a->phase = SLURM_DUE;
	a->since_ms = loop_now_ms(s->loop);
	a->final_ms = -1;
	XGROW(s->attempts, s->n, s->cap);
	s->attempts[s->n++] = a;
	slurm_look_soon(s);
	loop_wake(s->loop);
}
