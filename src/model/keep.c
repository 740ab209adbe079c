/* Chooses the checkpoints that are deleted. */

#include <stdlib.h>

#include "src/model/keep.h"

/*
 * The best ones first, the earlier of equals; those without a result behind
 * them.
 */
static int
item_compare(const void *a, const void *b)
{
	const struct keep_item *x = a, *y = b;

	if (x->front != y->front)
		return x->front ? -1 : 1;
	if (x->ranked != y->ranked)
		return x->ranked ? -1 : 1;
	if (x->ranked && x->violation != y->violation)
		return x->violation < y->violation ? -1 : 1;
	if (x->ranked && x->loss != y->loss)
		return x->loss < y->loss ? -1 : 1;
	return x->trial < y->trial ? -1 : x->trial > y->trial;
}

/* How many of the others are newer. */
static int64_t
newer_than(const struct keep_item *list, size_t n, int64_t trial)
{
	int64_t newer = 0;
	size_t i;

	for (i = 0; i < n; i++)
		newer += list[i].trial > trial;
	return newer;
}

/* Delete one of those kept as last, the oldest; false when there is none. */
static bool
oldest_drop(const struct keep_rule *rule, struct keep_item *list, size_t n,
    int64_t *bytes)
{
	struct keep_item *oldest = NULL;
	size_t i;

	for (i = 0; i < n; i++)
		if (!list[i].deleted && !list[i].needed && !list[i].front &&
		    !list[i].hopeful &&
		    ((int64_t)i >= rule->best || !list[i].ranked) &&
		    (oldest == NULL || list[i].trial < oldest->trial))
			oldest = &list[i];
	if (oldest == NULL)
		return false;
	oldest->deleted = true;
	*bytes -= oldest->bytes;
	return true;
}

static void
item_drop(struct keep_item *item, int64_t *bytes)
{
	if (item->deleted || item->needed || item->front)
		return;
	item->deleted = true;
	*bytes -= item->bytes;
}

void
keep_choose(const struct keep_rule *rule, struct keep_item *list, size_t n)
{
	int64_t bytes = 0, at;
	size_t i;

	for (i = 0; i < n; i++)
		list[i].front = list[i].front && list[i].ranked;
	qsort(list, n, sizeof *list, item_compare);
	for (i = 0; i < n; i++) {
		at = (int64_t)i;
		list[i].deleted =
		    rule->given && !list[i].needed && !list[i].front &&
		    !list[i].hopeful && !(list[i].ranked && at < rule->best) &&
		    !(rule->last > 0 &&
			newer_than(list, n, list[i].trial) < rule->last);
		bytes += list[i].deleted ? 0 : list[i].bytes;
	}
	if (!rule->given || rule->bytes == 0)
		return;
	while (bytes > rule->bytes && oldest_drop(rule, list, n, &bytes))
		;
	for (i = n; i-- > 1 && bytes > rule->bytes;)
		if (list[i].hopeful &&
		    ((int64_t)i >= rule->best || !list[i].ranked))
			item_drop(&list[i], &bytes);
	for (i = n; i-- > 1 && bytes > rule->bytes;)
		item_drop(&list[i], &bytes);
}
