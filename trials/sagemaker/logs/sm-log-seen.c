/* Sets of hashes: events that have been read, reports of one millisecond. */

#include <stdlib.h>

#include "src/base/mem.h"
#include "trials/sagemaker/logs/sm-log-seen.h"

enum { SLOTS_LEAST = 16 };

uint64_t
sm_log_seen_hash(uint64_t h, const void *data, size_t n)
{
	const unsigned char *p = data;

	for (; n > 0; n--) /* FNV-1a */
		h = (h ^ *p++) * UINT64_C(1099511628211);
	return h;
}

void
sm_log_seen_free(struct sm_log_seen *seen)
{
	free(seen->slots);
	*seen = (struct sm_log_seen){ 0 };
}

static bool
slot_find(const struct sm_log_seen *seen, uint64_t h, size_t *at)
{
	size_t i;

	for (i = (size_t)h & (seen->cap - 1); seen->slots[i] != 0;
	     i = (i + 1) & (seen->cap - 1))
		if (seen->slots[i] == h) {
			*at = i;
			return true;
		}
	*at = i;
	return false;
}

static void
seen_grow(struct sm_log_seen *seen)
{
	struct sm_log_seen big = {
		.cap = seen->cap > 0 ? 2 * seen->cap : SLOTS_LEAST, .n = seen->n
	};
	size_t i, at;

	big.slots = xcalloc(big.cap, sizeof *big.slots);
	for (i = 0; i < seen->cap; i++)
		if (seen->slots[i] != 0) {
			(void)slot_find(&big, seen->slots[i], &at);
			big.slots[at] = seen->slots[i];
		}
	free(seen->slots);
	*seen = big;
}

bool
sm_log_seen_add(struct sm_log_seen *seen, uint64_t h)
{
	size_t at;

	h = h != 0 ? h : 1; /* 0 is an empty slot */
	if (2 * (seen->n + 1) > seen->cap)
		seen_grow(seen);
	if (slot_find(seen, h, &at))
		return true;
	seen->slots[at] = h;
	seen->n++;
	return false;
}

bool
sm_log_seen_has(const struct sm_log_seen *seen, uint64_t h)
{
	size_t at;

	return seen->cap > 0 && slot_find(seen, h != 0 ? h : 1, &at);
}

void
sm_log_seen_join(struct sm_log_seen *seen, const struct sm_log_seen *other)
{
	size_t i;

	for (i = 0; i < other->cap; i++)
		if (other->slots[i] != 0)
			(void)sm_log_seen_add(seen, other->slots[i]);
}
