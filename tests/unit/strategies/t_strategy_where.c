/* Every strategy suggests settings that satisfy the conditions of the space. */

#include <math.h>
#include <stdlib.h>

#include "kernels/kernels.h"
#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/model/plugin-options.h"
#include "src/model/where.h"
#include "tests/support/strategy-run.h"
#include "tests/support/tap.h"

/*
 * How many trials of a strategy that never ends; without TEST_LONG, and under
 * sanitizers, enough for all of its phases.  A grid ends by itself, before EVERY.
 */
#ifdef __SANITIZE_ADDRESS__
enum { TRIALS = 20, TRIALS_LONG = 20 };
#else
enum { TRIALS = 25, TRIALS_LONG = 60 };
#endif
enum { EVERY = 101 };

/* One setting of four; one of some millions. */
static const char common[] = "[\"a + b <= 0.9\", \"o = 'x' or n < 0.5\"]";
static const char rare[] = "[\"a < b < a + 0.001\", \"i * j = 420\"]";

static const char space_text[] = "{" UNIT("a") "," UNIT(
    "b") ","
	 "\"i\": {\"type\": \"int\", \"min\": 1, \"max\": 100},"
	 "\"j\": {\"type\": \"int\", \"min\": 1, \"max\": 1000, "
	 "\"scale\": \"log\"},"
	 "\"o\": {\"type\": \"choice\", \"values\": [\"x\", \"y\"]},"
	 "\"n\": {\"type\": \"float\", \"min\": 0, \"max\": 1, "
	 "\"when\": {\"o\": [\"y\"]}}}";

static const char levels_text[] =
    "{\"a\": {\"type\": \"int\", \"min\": 0, \"max\": 9},"
    "\"b\": {\"type\": \"int\", \"min\": 0, \"max\": 9}}";

static void
where_add(struct space *space, const char *list)
{
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;

	if (json_parse(&doc, list, strlen(list), NULL, false, &e) != 0 ||
	    where_read(space, json_root(doc), &e) != 0)
		printf("# %s\n", e.text);
	json_free(doc);
}

static void
trial_end(struct strategy_run *r, int64_t trial, const double *x)
{
	double loss = 0;
	size_t i;

	for (i = 0; i < r->space->n; i++)
		loss += isnan(x[i]) ? 0 : (x[i] - 0.7) * (x[i] - 0.7);
	history_report(r->history, trial, 1, loss);
	history_end(r->history, trial, TRIAL_COMPLETED, loss);
}

/* At most as many trials as most; each ends at once, the next learns of it. */
static void
check(const char *name, const char *text, const char *list, int64_t most,
    int64_t wanted)
{
	struct strategy_run r = { 0 };
	double x[DIMS_MAX];
	int64_t trial = 1, good = 0, n = 0;

	strategy_run_open(&r, name, text, "{}", 5);
	r.kernels = kernels_cpu();
	where_add(r.space, list);
	while (n < most && (trial = strategy_run_next(&r, x)) > 0) {
		n++;
		good += where_holds(r.space, x);
		trial_end(&r, trial, x);
	}
	ok(n == wanted && good == n, "%s: %lld settings satisfy %s", name,
	    (long long)n, list);
	if (good != n)
		printf("# %lld do\n", (long long)good);
	strategy_run_close(&r);
}

int
main(void)
{
	int trials = often(TRIALS, TRIALS_LONG);
	const struct strategy *s;
	size_t i;

	for (i = 0; strategies[i] != NULL; i++) {
		s = strategies[i];
		if (s->outside || strcmp(s->name, "grid") == 0)
			continue;
		check(s->name, space_text, common, trials, trials);
		check(s->name, space_text, rare, trials, trials);
	}
	check("grid", levels_text, "[\"a < b\"]", EVERY, 45);
	check("grid", levels_text, "[\"a = b\", \"b % 3 = 0\"]", EVERY, 4);
	return done_testing();
}
