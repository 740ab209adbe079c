/* Coordinates of gp where conditions name several parameters. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/space.h"
#include "src/model/when.h"
#include "strategies/gp/gp.h"
#include "tests/support/tap.h"
#include "tests/support/when-space.h"

enum { SPACES = 600, POINTS = 30, ROWS = 20 };

static struct space *
read_space(const char *text)
{
	struct json_doc *doc;
	struct space *s = NULL;

	if (json_parse(&doc, text, strlen(text), "f", true, NULL) == 0)
		space_read(&s, json_root(doc), NULL);
	json_free(doc);
	return s;
}

/* The axes of a point are active where its parameters are. */
static const char *
check_point(const struct gp_axes *g, const double *u)
{
	struct value v[WHEN_PARAMS], back[WHEN_PARAMS];
	double x[WHEN_PARAMS], row[WHEN_PARAMS], again[WHEN_PARAMS];
	bool active[WHEN_PARAMS];
	size_t k, i;

	space_decode(g->space, u, v);
	space_encode(g->space, v, x);
	gp_axes_encode(g, x, row);
	gp_axes_active(g, row, active);
	for (k = 0; k < g->d; k++) {
		if (active[k] != (v[g->axes[k].at].kind != VALUE_NONE))
			return "an axis is active when its parameter is";
		if (!active[k] && row[k] != 0.5)
			return "an inactive one is in the middle";
	}
	memcpy(again, row, sizeof row);
	gp_axes_snap(g, again, 1);
	if (memcmp(again, row, g->d * sizeof *row) != 0)
		return "a row on levels stays";
	gp_axes_decode(g, row, x);
	space_decode(g->space, x, back);
	for (i = 0; i < g->space->n; i++)
		if (!param_value_equal(&v[i], &back[i]))
			return "a row is its setting";
	return NULL;
}

/* Whether parameter i depends on j, also through others. */
static bool
depends(const struct space *space, size_t i, size_t j)
{
	const struct when *w = space->params[i].when;
	size_t k;

	for (k = 0; w != NULL && k < w->n_parents; k++)
		if (w->parents[k] == j || depends(space, w->parents[k], j))
			return true;
	return false;
}

/* In a neighbour one coordinate differs, and what depends on it. */
static const char *
check_neighbours(const struct gp_axes *g, struct rng *rng, int *others)
{
	double centre[WHEN_PARAMS], rows[ROWS * WHEN_PARAMS], *row;
	size_t i, k, j, first;

	for (k = 0; k < g->d; k++)
		centre[k] = rng_uniform(rng);
	gp_axes_snap(g, centre, 1);
	for (i = 0; i < ROWS * g->d; i++)
		rows[i] = rng_uniform(rng);
	gp_neighbours_make(rows, ROWS, g, centre, rng);
	for (i = 0; i < ROWS; i++) {
		row = rows + i * g->d;
		first = g->d;
		for (k = 0; k < g->d; k++) {
			if (g->axes[k].levels == 0 || row[k] == centre[k])
				continue;
			j = first < g->d ? g->axes[first].at : 0;
			if (first == g->d)
				first = k;
			else if (!depends(g->space, g->axes[k].at, j))
				return "only what depends on it differs, too";
			else
				++*others;
		}
	}
	return NULL;
}

static void
test_random(void)
{
	struct when_space made;
	struct space *space;
	struct gp_axes g;
	struct rng r;
	const char *bad;
	double u[WHEN_PARAMS];
	int k, point, failed = 0, others = 0;
	size_t i;

	for (k = 0; k < SPACES; k++) {
		rng_init(&r, 17, (uint64_t)k);
		when_space_make(&made, &r, k % 2 != 0);
		space = read_space(buf_str(&made.text));
		bad = NULL;
		if (space != NULL) {
			gp_axes_init(&g, space);
			for (point = 0; bad == NULL && point < POINTS;
			     point++) {
				for (i = 0; i < space->n; i++)
					u[i] = rng_uniform(&r);
				bad = check_point(&g, u);
			}
			if (bad == NULL)
				bad = check_neighbours(&g, &r, &others);
			gp_axes_free(&g);
		}
		if (bad != NULL && failed++ < 5)
			printf("# %d: %s\n# %s\n", k, bad, buf_str(&made.text));
		buf_free(&made.text);
		space_free(space);
	}
	is_int(failed, 0, "random spaces");
	ok(others > SPACES / 2, "%d coordinates differ with a parent", others);
}

/* A condition over parameters of one value, which have no axis. */
static void
test_constants(void)
{
	static const char text[] =
	    "{\"below\":{\"type\":\"int\",\"min\":0,\"max\":3,"
	    "\"when\":{\"some\":[7],\"one\":[1]}},"
	    "\"some\":{\"type\":\"fixed\",\"value\":7,\"when\":{\"a\":[1]}},"
	    "\"always\":{\"type\":\"int\",\"min\":0,\"max\":3,"
	    "\"when\":\"one = 1\"},"
	    "\"a\":{\"type\":\"int\",\"min\":0,\"max\":1},"
	    "\"one\":{\"type\":\"choice\",\"values\":[1]}}";
	struct space *space = read_space(text);
	double row[3] = { 0.9, 0.9, 0.9 };
	bool active[3];
	struct gp_axes g;

	gp_axes_init(&g, space);
	is_int((int64_t)g.d, 3, "three axes");
	gp_axes_active(&g, row, active);
	ok(active[g.axis_of[0]] && active[g.axis_of[2]],
	    "with a = 1 all are active");
	row[g.axis_of[3]] = 0.1;
	gp_axes_active(&g, row, active);
	ok(!active[g.axis_of[0]] && active[g.axis_of[2]],
	    "with a = 0 some is not, nor what depends on it");
	gp_axes_free(&g);
	space_free(space);
}

int
main(void)
{
	test_random();
	test_constants();
	return done_testing();
}
