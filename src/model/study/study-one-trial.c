/* A study as one trial of this machine, for hpotune try. */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/model/study/study-internal.h"
#include "src/model/study/study.h"

/* Keep the backend that runs trials on this machine. */
static bool
backend_keep_local(struct study *s)
{
	struct study_plugin local;
	size_t i, at;

	for (at = 0; at < s->n_backends; at++)
		if (strcmp(s->backends[at].name, "local") == 0)
			break;
	if (at == s->n_backends)
		return false;
	local = s->backends[at];
	for (i = 0; i < s->n_backends; i++)
		if (i != at)
			free(s->backends[i].name);
	s->backends[0] = local;
	s->n_backends = 1;
	return true;
}

bool
study_one_trial(struct study *s, const struct value *setting)
{
	size_t i;

	if (!backend_keep_local(s))
		return false;
	study_warm_clear(s);
	study_notify_clear(&s->notify);
	study_hooks_clear(&s->hooks);
	s->limits = (struct study_limits){ .trials = 1,
		.parallel = 1,
		.wall_time_ms = s->limits.wall_time_ms };
	s->has_target = false;
	s->replicates.count = 0;
	s->confirm.pairs = 0;
	s->trial.retries = 0;
	if (setting == NULL)
		return true;
	for (i = 0; i < s->n_enqueue; i++)
		free(s->enqueue[i]);
	s->enqueue = xreallocarray(s->enqueue, 1, sizeof *s->enqueue);
	s->enqueue[0] = xcalloc(s->space->n + 1, sizeof **s->enqueue);
	memcpy(s->enqueue[0], setting, s->space->n * sizeof *setting);
	s->n_enqueue = 1;
	return true;
}

void
study_stopping_none(struct study *s)
{
	size_t i;

	for (i = 0; i < s->n_stopping; i++)
		free(s->stopping[i].name);
	if (s->stopping == NULL)
		s->stopping = xcalloc(1, sizeof *s->stopping);
	s->stopping[0] = (struct study_plugin){ .name = xstrdup("none") };
	s->n_stopping = 1;
}
