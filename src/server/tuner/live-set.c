/* The set of trials that are not final, searchable by number. */

#include <stdlib.h>

#include "src/base/mem.h"
#include "src/server/tuner/live-set.h"
#include "src/server/tuner/live-trial.h"

void
live_set_free(struct live_set *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		live_trial_free(s->list[i]);
	free(s->list);
	*s = (struct live_set){ 0 };
}

struct live_trial *
live_set_find(struct live_set *s, int64_t trial)
{
	size_t i;

	if (s->last_found != NULL && s->last_found->row.number == trial)
		return s->last_found;
	for (i = 0; i < s->n; i++)
		if (s->list[i]->row.number == trial)
			return s->last_found = s->list[i];
	return NULL;
}

void
live_set_add(struct live_set *s, struct live_trial *l)
{
	s->list = xreallocarray(s->list, s->n + 1, sizeof *s->list);
	s->list[s->n++] = l;
}

void
live_set_take(struct live_set *s, const struct live_trial *l)
{
	size_t i;

	for (i = 0; s->list[i] != l; i++)
		;
	s->list[i] = s->list[--s->n];
	s->last_found = NULL;
}

void
live_set_remove(struct live_set *s, struct live_trial *l)
{
	live_set_take(s, l);
	live_trial_free(l);
}

size_t
live_set_n_placed(const struct live_set *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->n; i++)
		n += trial_state_placed(s->list[i]->row.state) &&
		     !s->list[i]->external;
	return n;
}

size_t
live_set_n_external(const struct live_set *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->n; i++)
		n += s->list[i]->external;
	return n;
}
