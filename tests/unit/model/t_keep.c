/* Which checkpoints are deleted. */

#include <stdlib.h>

#include "src/model/keep.h"
#include "tests/support/tap.h"

enum { ITEMS = 8 };

/*
 * Trials 1 to 8 of 10 bytes with these losses; trial 3 failed, trial 6 may be
 * continued, trial 8 breaks a constraint.  With hope trial 7 may become a good one.
 */
static const double losses[ITEMS] = { 5, 1, 0, 3, 2, 9, 8, 0.5 };

static const char *
deleted(const struct keep_rule *rule, bool front, bool hope)
{
	static char text[ITEMS + 1];
	struct keep_item list[ITEMS] = { 0 };
	size_t i;

	for (i = 0; i < ITEMS; i++)
		list[i] = (struct keep_item){ .trial = (int64_t)i + 1,
			.ranked = i != 2,
			.needed = i == 5,
			.violation = i == 7 ? 1 : 0,
			.loss = losses[i],
			.front = front && (i == 0 || i == 3),
			.hopeful = hope && i == 6,
			.bytes = 10 };
	keep_choose(rule, list, ITEMS);
	memset(text, '.', ITEMS);
	text[ITEMS] = '\0';
	for (i = 0; i < ITEMS; i++)
		if (list[i].deleted)
			text[list[i].trial - 1] = 'd';
	return text;
}

int
main(void)
{
	struct keep_rule rule = { .best = 2 };

	is_str(deleted(&rule, false, false), "........",
	    "without a rule all stay");
	rule.given = true;
	is_str(deleted(&rule, false, false), "d.dd..dd",
	    "the two best stay, and what is needed");
	rule.last = 3;
	is_str(deleted(&rule, false, false), "d.dd....",
	    "the two best, the three last and what is needed stay");
	rule.bytes = 40;
	is_str(deleted(&rule, false, false), "d.dd..d.",
	    "above the limit the oldest of the last ones goes first");
	rule.bytes = 30;
	is_str(deleted(&rule, false, false), "d.dd..dd",
	    "then the newest of them");
	rule.bytes = 29;
	is_str(
	    deleted(&rule, false, false), "d.ddd.dd", "then the second best");
	rule.bytes = 1;
	is_str(deleted(&rule, false, false), "d.ddd.dd",
	    "the best one and what is needed stay above any limit");
	rule.last = 0;
	is_str(deleted(&rule, false, true), "d.ddd.dd",
	    "above the limit the hopeful goes before the second best");
	rule.bytes = 30;
	is_str(deleted(&rule, false, true), "d.dd..dd", "which stays for it");
	rule.bytes = 40;
	is_str(deleted(&rule, false, true), "d.dd...d",
	    "one that may become a good one stays below the limit");
	rule.best = 0;
	rule.last = 0;
	rule.bytes = 0;
	is_str(deleted(&rule, false, false), "ddddd.dd", "none need be kept");
	is_str(deleted(&rule, true, false), ".dd.d.dd", "a front stays");
	rule.best = 100;
	is_str(deleted(&rule, false, false), "..d.....",
	    "a trial without a result is none of the best");
	return done_testing();
}
