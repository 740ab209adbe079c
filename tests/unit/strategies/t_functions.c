/* The test functions are correct: their minima. */

#include <math.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/model/space.h"
#include "strategies/evolution/pareto.h"
#include "tests/support/test-functions.h"
#include "tests/support/tap.h"

/* Where the least loss is: a setting as JSON. */
static const struct {
	const char *name, *setting;
	double tol;
} least[] = {
	{ "branin", "{\"x\": 3.14159265359, \"y\": 2.275}", 1e-9 },
	{ "hartmann3",
	    "{\"a\": 0.114589339, \"b\": 0.555648849, \"c\": 0.852546954}",
	    1e-9 },
	{ "hartmann6",
	    "{\"a\": 0.20169, \"b\": 0.150011, \"c\": 0.476874,"
	    " \"d\": 0.275332, \"e\": 0.311652, \"f\": 0.6573}",
	    1e-8 },
	{ "ackley5", "{\"a\": 0, \"b\": 0, \"c\": 0, \"d\": 0, \"e\": 0}",
	    1e-14 },
	{ "rosenbrock4", "{\"a\": 1, \"b\": 1, \"c\": 1, \"d\": 1}", 1e-20 },
	{ "levy4", "{\"a\": 1, \"b\": 1, \"c\": 1, \"d\": 1}", 1e-20 },
	{ "mixed",
	    "{\"lr\": 0.01, \"units\": 100, \"opt\": \"adam\", \"drop\": 0.2}",
	    1e-20 },
	{ "conditional", "{\"model\": \"svm\", \"c\": 1, \"gamma\": 0.01}",
	    1e-20 },
	{ "braninc", "{\"x\": 3.14159265359, \"y\": 2.275}", 1e-9 },
};

static struct space *
space_of(const struct function *f)
{
	struct json_doc *doc = NULL;
	struct space *space = NULL;
	struct err e = ERR_INIT;

	if (json_parse(&doc, f->space, strlen(f->space), f->name, false, &e) ==
		-1 ||
	    space_read(&space, json_root(doc), &e) == -1)
		printf("# %s\n", e.text);
	json_free(doc);
	return space;
}

static void
check_least(size_t i)
{
	const struct function *f = test_function_find(least[i].name);
	struct space *space = space_of(f);
	struct value values[FUNCTION_DIMS];
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;
	double losses[FUNCTION_LOSSES], bounds[FUNCTION_BOUNDS];

	if (!ok(space != NULL && space->n <= FUNCTION_DIMS, "%s", f->name))
		return;
	if (json_parse(&doc, least[i].setting, strlen(least[i].setting), "it",
		false, &e) == -1 ||
	    space_read_values(space, json_root(doc), values, &e) == -1)
		printf("# %s\n", e.text);
	f->give(values, losses, bounds);
	is_near(losses[0], f->best, least[i].tol, "its least loss");
	ok(f->n_bounds == 0 || bounds[0] <= 0, "keeps the constraints");
	json_free(doc);
	space_free(space);
}

/* Many points of a front of two losses, made by its first parameters. */
static void
check_front(const char *name, double x_max, double y_max)
{
	enum { N = 20000 };
	const struct function *f = test_function_find(name);
	struct value v[FUNCTION_DIMS] = { { .real = 0 } };
	static double rows[N * 2];
	double bounds[FUNCTION_BOUNDS], got, t;
	bool kept = true;
	int i;

	for (i = 0; i < N; i++) {
		t = i / (N - 1.0);
		v[0].real = t * x_max;
		v[1].real = fmin(t * x_max, y_max);
		f->give(v, rows + 2 * i, bounds);
		kept = kept && (f->n_bounds == 0 || bounds[0] <= 1e-12) &&
		       (f->n_bounds < 2 || bounds[1] <= 1e-12);
	}
	got = hypervolume_of(rows, N, 2, f->reference);
	ok(got <= f->best + 1e-9 && got > f->best * 0.9995,
	    "%s: the front has the volume", name);
	ok(kept, "%s: and keeps the constraints", name);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof least / sizeof least[0]; i++)
		check_least(i);
	check_front("zdt1", 1, 0);
	check_front("bnh", 5, 3);
	return done_testing();
}
