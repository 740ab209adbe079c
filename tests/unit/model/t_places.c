/*
 * Which places fail trials that neither other places nor the settings explain:
 * scripts of what happened where, one word each.  "a-3": trial 3 failed at once
 * at place a; "b+": a trial worked at b.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/places.h"
#include "tests/support/tap.h"

static void
happens(struct places *ps, const char *word)
{
	char name[2] = { word[0], '\0' };

	if (word[1] == '+')
		places_worked(ps, name);
	else
		places_failed(ps, name, strtoll(word + 2, NULL, 10));
	while (places_next_drained(ps) != NULL)
		;
}

static void
play(struct places *ps, const char *script)
{
	char *copy = xstrdup(script), *at = copy, *word;

	while ((word = strsep(&at, " ")) != NULL)
		if (*word != '\0')
			happens(ps, word);
	free(copy);
}

static char
letter(const struct places *ps, const char *name)
{
	const struct place *p = places_find(ps, name);

	return p == NULL ? '-' : "uhd"[places_verdict(p)];
}

#define SEVEN "a-1 a-2 a-3 a-4 a-5 a-6 a-7 "
#define TWELVE SEVEN "a-8 a-9 a-10 a-11 a-12 "
#define TWENTY TWELVE "a-13 a-14 a-15 a-16 a-17 a-18 a-19 a-20 "
#define WORKS12 "b+ c+ b+ c+ b+ c+ b+ c+ b+ c+ b+ c+ "

static const struct {
	const char *title, *script;
	char a; /* used, held, drained */
	int row;
} table[] = {
	{ "six failures say nothing", "a-1 a-2 a-3 a-4 a-5 a-6", 'u', 6 },
	{ "seven: first others are asked", SEVEN, 'h', 7 },
	{ "attempts of one trial are one failure",
	    "a-1 a-1 a-1 a-1 a-1 a-1 a-1 a-1 a-1", 'u', 1 },
	{ "twelve, and twelve work elsewhere", TWELVE WORKS12, 'd', 12 },
	{ "seven, and seven elsewhere: may be chance",
	    SEVEN "b+ c+ b+ c+ b+ c+ b+", 'u', 7 },
	{ "fewer than that", SEVEN "b+ b+ b+ b+ b+ b+", 'h', 7 },
	{ "what worked elsewhere before its row is no evidence", WORKS12 TWELVE,
	    'h', 12 },
	{ "others fail as well: it is used again",
	    SEVEN "b-11 c-12 b-13 c-14 b-15 c-16 b-17", 'u', 7 },
	{ "half of them fail elsewhere",
	    TWELVE "b+ c-32 b+ c-34 b+ c-36 b+ c-38 b+ c-40 b+ c-42", 'u', 12 },
	{ "… but twenty here",
	    TWENTY "b+ c-32 b+ c-34 b+ c-36 b+ c-38 b+ b-40 b+ b-42 b+ b-44 "
		   "b+ b-46 b+ b-48 " WORKS12,
	    'd', 20 },
	{ "a trial that works there ends the row", TWELVE "a+ " WORKS12, 'u',
	    0 },
	{ "a drained one on which a trial works after all", TWELVE WORKS12 "a+",
	    'u', 0 },
	{ "settings that fail elsewhere too are not in the row",
	    TWELVE "b-1 b-2 " WORKS12, 'u', 10 },
	{ "nor those that had failed elsewhere before",
	    "b-1 b-2 b-3 b+ " SEVEN WORKS12, 'u', 4 },
	{ "nor those that failed here when it worked",
	    "a-1 a-2 a-3 a+ " SEVEN WORKS12, 'u', 4 },
	{ "the only place", TWENTY, 'h', 20 },
	{ "the last one in use is not drained",
	    "b-51 b-52 b-53 b-54 b-55 b-56 b-57 b-58 b-59 b-60 b-61 b-62 a+ a+ "
	    "a+ a+ a+ a+ a+ "
	    "a+ a+ a+ a+ a+ " TWENTY "b-71 b-72 b-73 b-74 b-75 b-76 b-77 b-78 "
	    "b-79 b-80",
	    'h', 20 },
};

static void
test_table(void)
{
	struct places ps;
	size_t i;

	for (i = 0; i < sizeof table / sizeof *table; i++) {
		ps = (struct places){ 0 };
		play(&ps, table[i].script);
		ok(letter(&ps, "a") == table[i].a, "%s: %c", table[i].title,
		    letter(&ps, "a"));
		is_int(places_row(places_find(&ps, "a")), table[i].row,
		    "… in its row");
		places_free(&ps);
	}
}

static void
test_hopeless(void)
{
	struct places ps = { 0 };

	play(&ps, "a-1 a-1 b-1 b-2 a-3");
	is_int(places_count_failed(&ps), 3, "different trials");
	ok(!places_any_works(&ps), "nothing works");
	play(&ps, "b+");
	ok(places_any_works(&ps), "something does");
	places_forgive(&ps);
	is_int(places_count_failed(&ps), 0, "forgiven");
	ok(places_any_works(&ps), "and it still does");
	places_free(&ps);
}

static void
test_forgiven(void)
{
	struct places ps = { 0 };

	play(&ps, TWELVE WORKS12);
	ok(letter(&ps, "a") == 'd', "drained");
	places_forgive(&ps);
	ok(letter(&ps, "a") == 'u', "used again");
	is_int(places_row(places_find(&ps, "a")), 0, "from the beginning");
	play(&ps, TWELVE);
	places_settle(&ps, "a");
	places_settle(&ps, "z");
	ok(letter(&ps, "a") == 'u', "examined, and in order");
	is_int(places_count_failed(&ps), 12, "what failed is remembered");
	places_free(&ps);
}

/* Through its text all the same; the number of trials is bounded. */
static void
test_restored(void)
{
	struct places ps = { 0 }, copy;
	struct rng dice;
	struct buf b = { 0 };
	char word[8];
	int i, wrong = 0;
	size_t k;

	rng_init(&dice, 7, 0);
	for (i = 0; i < 2000; i++) {
		(void)snprintf(word, sizeof word, "%c%c%d",
		    (char)('a' + rng_below(&dice, 4)),
		    rng_below(&dice, 8) == 0 ? '+' : '-',
		    1 + (int)rng_below(&dice, 300));
		happens(&ps, word);
		copy = (struct places){ 0 };
		for (k = 0; k < ps.n; k++) {
			buf_clear(&b);
			places_put_trials(&b, &ps.list[k]);
			places_restore(&copy, &ps.list[k], buf_str(&b));
			wrong += places_verdict(&copy.list[k]) !=
				     places_verdict(&ps.list[k]) ||
				 places_row(&copy.list[k]) !=
				     places_row(&ps.list[k]) ||
				 ps.list[k].n_trials > PLACES_KEPT ||
				 copy.list[k].dirty;
		}
		places_free(&copy);
	}
	is_int(wrong, 0, "read back");
	copy = (struct places){ 0 };
	places_restore(&copy, &ps.list[0], "3 x 4");
	is_int(copy.list[0].n_trials, 1, "damage is nothing");
	places_free(&copy);
	places_free(&ps);
	buf_free(&b);
}

/* Half of the settings fail, at four places: none is ever drained. */
static void
test_half(void)
{
	struct places ps = { 0 };
	struct rng dice;
	char word[24];
	int64_t trial;
	int drained = 0;

	rng_init(&dice, 1, 0);
	for (trial = 1; trial <= 100000; trial++) {
		(void)snprintf(word, sizeof word, "%c%c%lld",
		    (char)('a' + rng_below(&dice, 4)),
		    rng_below(&dice, 2) == 0 ? '+' : '-', (long long)trial);
		happens(&ps, word);
		for (size_t k = 0; k < ps.n; k++)
			drained += ps.list[k].drained;
	}
	is_int(drained, 0, "of 100000 trials");
	places_free(&ps);
}

int
main(void)
{
	test_table();
	test_hopeless();
	test_forgiven();
	test_restored();
	test_half();
	return done_testing();
}
