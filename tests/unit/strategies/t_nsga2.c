/* Which trials NSGA-II selects, and that children derive from parents. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "strategies/evolution/nsga2.h"
#include "strategies/strategy.h"
#include "tests/support/search-run.h"
#include "tests/support/tap.h"

static void
add(struct history *h, enum trial_state state, double a, double b,
    double violation)
{
	static const double point = 0.5;
	int64_t trial = history_count(h) + 1;
	double losses[] = { a, b };

	history_add(h, trial, &point);
	if (state == TRIAL_RUNNING)
		return;
	if (history_has_results(h))
		history_results(h, trial, losses, &violation);
	history_end(h, trial, state, a);
}

static void
selects(
    const struct history *h, size_t size, const char *want, const char *what)
{
	struct buf b = { 0 };
	size_t i, n;
	struct nsga2_member *m = nsga2_select(h, size, &n);

	for (i = 0; i < n; i++)
		buf_printf(&b, "%s%d", i > 0 ? " " : "", (int)m[i].told.trial);
	is_str(buf_str(&b), want, what);
	buf_free(&b);
	free(m);
}

static void
check_several(void)
{
	static const bool goals[] = { false, false };
	struct history *h =
	    history_new(1, false, HISTORY_POINTS | HISTORY_CURVES);

	history_set_objectives(h, 2, goals, 1);
	selects(h, 3, "", "of nothing, nobody");
	add(h, TRIAL_COMPLETED, 0, 10, 0);
	add(h, TRIAL_COMPLETED, 10, 0, 0);
	add(h, TRIAL_FAILED, NAN, NAN, NAN);
	add(h, TRIAL_COMPLETED, -9, -9, 0.5); /* 4: it violates */
	selects(h, 9, "1 2 4 3", "feasible, infeasible, failed");
	add(h, TRIAL_COMPLETED, 1, 8, 0); /* 5: less space than 6 */
	add(h, TRIAL_RUNNING, 0, 0, 0);
	add(h, TRIAL_CANCELLED, NAN, NAN, NAN);
	add(h, TRIAL_COMPLETED, 5, 5, 0);
	add(h, TRIAL_COMPLETED, 11, 11, 0); /* 9: the second front */
	add(h, TRIAL_COMPLETED, -9, -9, 0.2); /* 10: violates less than 4 */
	selects(h, 20, "1 2 8 5 9 10 4 3", "ranks, then space");
	selects(h, 3, "1 2 8", "only three");
	history_free(h);
}

/* A trial that was left out by one generation does not come back. */
static void
check_generations(void)
{
	static const bool goals[] = { false, false };
	struct history *h =
	    history_new(1, false, HISTORY_POINTS | HISTORY_CURVES);

	history_set_objectives(h, 2, goals, 0);
	add(h, TRIAL_COMPLETED, 0, 4, 0);
	add(h, TRIAL_COMPLETED, 4, 0, 0);
	add(h, TRIAL_COMPLETED, 1, 2.9, 0);
	selects(h, 2, "1 2", "the ends");
	add(h, TRIAL_COMPLETED, 0, 3.9, 0);
	selects(h, 2, "2 4", "a better one takes the place of the first");
	selects(h, 9, "2 4 3 1", "all in one generation");
	history_free(h);
}

static void
check_one(void)
{
	struct history *h =
	    history_new(1, true, HISTORY_POINTS | HISTORY_CURVES);

	add(h, TRIAL_COMPLETED, 1, 0, 0);
	add(h, TRIAL_STOPPED, NAN, 0, 0); /* step 2 */
	add(h, TRIAL_STOPPED, NAN, 0, 0); /* step 7 */
	add(h, TRIAL_COMPLETED, 3, 0, 0);
	add(h, TRIAL_FAILED, NAN, 0, 0);
	history_report(h, 2, 2, 9);
	history_report(h, 3, 7, 0);
	selects(h, 5, "4 1 3 2 5", "one objective: one order");
	history_free(h);
}

/* Without mutation every number of a child is one of its parents'. */
static void
check_children(void)
{
	const struct function *f = test_function_find("zdt1");
	static const char still[] =
	    "{\"mutation_prob\": 0, \"population_size\": 10}";
	static const char near[] =
	    "{\"mutation_prob\": 0, \"population_size\": 10, "
	    "\"crossover\": \"sbx\", \"crossover_eta\": 1000}";
	double x[FUNCTION_DIMS], nearest;
	const double *parent;
	bool inherited = true, close = true;
	int64_t trial;
	struct search_run_state s;
	int round, others = 0;
	size_t d;

	(void)search_run_open(&s, f, "nsga2", still, 3);
	(void)search_run(&s, 10, 1);
	for (round = 0; round < 50; round++, s.seed++) {
		(void)search_run_ask(&s, x);
		for (d = 0, others = 0; d < s.space->n; d++) {
			for (trial = 1; trial <= 10; trial++)
				if (history_point(s.history, trial)[d] == x[d])
					break;
			others += trial > 10;
		}
		/* One may be changed, where it would be the parent again. */
		inherited = inherited && others <= 1;
	}
	ok(inherited, "children are made of their parents");
	search_run_close(&s);
	(void)search_run_open(&s, f, "nsga2", near, 3);
	(void)search_run(&s, 10, 1);
	for (round = 0; round < 50; round++, s.seed++) {
		(void)search_run_ask(&s, x);
		for (d = 0, others = 0; d < s.space->n; d++) {
			nearest = 1;
			for (trial = 1; trial <= 10; trial++) {
				parent = history_point(s.history, trial);
				nearest = fmin(nearest, fabs(parent[d] - x[d]));
			}
			others += nearest > 0.01;
		}
		close = close && others <= 1;
	}
	ok(close, "sbx with a large index: near to a parent");
	search_run_close(&s);
}

int
main(void)
{
	check_several();
	check_generations();
	check_one();
	check_children();
	return done_testing();
}
