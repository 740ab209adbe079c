/*
 * Expected members.  The backend starts a server per attempt, and the
 * attempt's own process connects a moment later or earlier.  Until then the
 * place does not exit.
 */

#include "trials/pack/pack-arrivals.h"
#include "trials/pack/pack.h"

enum { EXPECT_MS = 30000 /* for a supervisor to make its claim */ };

static void
expect_prune(struct pack *p)
{
	struct pack_arrival *x = p->expected;
	size_t i, kept = 0;

	for (i = 0; i < p->n_expected; i++)
		if (x[i].until_ms > p->now_ms)
			x[kept++] = x[i];
	p->n_expected = kept;
}

/* Whether the other half of it was noted before; else this half is now. */
static void
expect_note(struct pack *p, int64_t trial, int64_t attempt, bool came)
{
	struct pack_arrival *x = p->expected;
	size_t i;

	expect_prune(p);
	for (i = 0; i < p->n_expected; i++)
		if (x[i].trial == trial && x[i].attempt == attempt) {
			if (x[i].came != came)
				x[i] = x[--p->n_expected];
			return;
		}
	if (p->n_expected == p->cap_expected) {
		p->cap_expected = p->cap_expected * 2 + 64;
		p->expected = xreallocarray(
		    p->expected, p->cap_expected, sizeof *p->expected);
	}
	p->expected[p->n_expected++] = (struct pack_arrival){ trial, attempt,
		p->now_ms + EXPECT_MS, came };
}

void
pack_arrivals_add(struct pack *p, int64_t trial, int64_t attempt)
{
	expect_note(p, trial, attempt, false);
}

void
pack_arrivals_came(struct pack *p, int64_t trial, int64_t attempt)
{
	expect_note(p, trial, attempt, true);
}

int64_t
pack_arrivals_until(struct pack *p)
{
	int64_t last = -1;
	size_t i;

	expect_prune(p);
	for (i = 0; i < p->n_expected; i++)
		if (!p->expected[i].came && p->expected[i].until_ms > last)
			last = p->expected[i].until_ms;
	return last;
}
