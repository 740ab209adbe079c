/* The slots of one backend: bookkeeping without side effects. */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/engine/attempts/slots.h"

void
slots_init(struct slots *s, int n)
{
	*s = (struct slots){ .n = n, .n_all = n };
	s->slot = xcalloc(n > 0 ? (size_t)n : 1, sizeof *s->slot);
}

void
slots_fini(struct slots *s)
{
	free(s->slot);
	*s = (struct slots){ 0 };
}

/* Extend the arrays for slot n - 1. */
static void
slots_grow(struct slots *s, int n)
{
	size_t old = (size_t)s->n_all;

	if (n <= s->n_all)
		return;
	s->n_all = n;
	s->slot = xreallocarray(s->slot, (size_t)n, sizeof *s->slot);
	memset(s->slot + old, 0, ((size_t)n - old) * sizeof *s->slot);
}

void
slots_resize(struct slots *s, int n)
{
	slots_grow(s, n);
	s->n = n > 0 ? n : 0;
}

int
slots_next(const struct slots *s, int i)
{
	for (i++; i < s->n && !s->closed; i++)
		if (s->slot[i].trial == 0 && !s->slot[i].drained)
			return i;
	return -1;
}

int
slots_free(const struct slots *s)
{
	/* Adopted trials in slots beyond n count, too. */
	return slots_used(s) >= s->n ? -1 : slots_next(s, -1);
}

void
slots_take(struct slots *s, int i, int64_t trial)
{
	slots_grow(s, i + 1);
	s->slot[i].trial = trial;
}

void
slots_release(struct slots *s, int i)
{
	if (i >= 0 && i < s->n_all)
		s->slot[i].trial = 0;
}

int
slots_used(const struct slots *s)
{
	int i, used = 0;

	for (i = 0; i < s->n_all; i++)
		used += s->slot[i].trial != 0;
	return used;
}

void
slots_hold(struct slots *s, int i, bool held, bool drained)
{
	if (i < 0 || i >= s->n_all)
		return;
	s->slot[i].held = held;
	s->slot[i].drained = drained;
}

bool
slots_held(const struct slots *s, int i)
{
	return s->slot[i].held;
}

bool
slots_all_drained(const struct slots *s)
{
	int i;

	for (i = 0; i < s->n; i++)
		if (!s->slot[i].drained && !s->closed)
			return false;
	return s->n > 0;
}

void
slots_close(struct slots *s)
{
	s->closed = true;
}

void
slots_restore(struct slots *s)
{
	int i;

	s->closed = false;
	for (i = 0; i < s->n_all; i++)
		s->slot[i].drained = s->slot[i].held = false;
}
