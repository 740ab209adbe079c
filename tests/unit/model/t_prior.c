/* Normal distributions of numbers, weights of choices, and their errors. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/prior.h"
#include "src/model/space.h"
#include "tests/support/tap.h"

enum { DRAWS = 10000 };

static struct space *
space_of(const char *param, struct err *e)
{
	struct json_doc *doc = NULL;
	struct space *s = NULL;
	char text[256];

	(void)snprintf(text, sizeof text, "{\"p\": {%s}}", param);
	if (json_parse(&doc, text, strlen(text), "f", true, e) == 0)
		(void)space_read(&s, json_root(doc), e);
	json_free(doc);
	return s;
}

static double
value_at(const struct space *s, double u)
{
	struct value v;

	prior_move(s, &u);
	space_decode(s, &u, &v);
	return v.real;
}

/* Mean and deviation of evenly spread points, or of their logarithms. */
static void
check_normal(
    const char *param, bool logs, double mean, double sd, double within)
{
	struct err e = ERR_INIT;
	struct space *s = space_of(param, &e);
	double x, sum = 0, squares = 0, last = -INFINITY;
	bool ascends = true;
	int i;

	ok(s != NULL, "%s is read: %s", param, e.text);
	if (s == NULL)
		return;
	for (i = 0; i < DRAWS; i++) {
		x = value_at(s, (i + 0.5) / DRAWS);
		ascends &= x >= last;
		last = x;
		x = logs ? log(x) : x;
		sum += x / DRAWS;
		squares += x * x / DRAWS;
	}
	is_near(sum, mean, within, "its mean");
	is_near(sqrt(squares - sum * sum), sd, within, "its deviation");
	ok(ascends, "the order of points is kept");
	space_free(s);
}

static void
test_normal(void)
{
	/* Cut off at 4 sd, which takes 0.1 % from the deviation. */
	check_normal("\"type\": \"float\", \"mean\": 3, \"sd\": 0.5", false, 3,
	    0.5, 1e-3);
	check_normal("\"type\": \"float\", \"scale\": \"log\", \"mean\": -7, "
		     "\"sd\": 1.5",
	    true, -7, 1.5, 2e-3);
	/* The half of a normal one: mean sqrt(2 / pi) sd. */
	check_normal("\"type\": \"float\", \"min\": 0, \"max\": 50, "
		     "\"mean\": 0, \"sd\": 2",
	    false, 2 * 0.797884560802865, 2 * sqrt(1 - 2 / M_PI), 1e-3);
	/* Whole numbers and steps: Sheppard's correction. */
	check_normal("\"type\": \"int\", \"mean\": 20, \"sd\": 5", false, 20,
	    sqrt(25 + 1.0 / 12), 5e-3);
	check_normal("\"type\": \"float\", \"min\": -10, \"max\": 10, "
		     "\"step\": 0.5, \"mean\": 1, \"sd\": 2",
	    false, 1, sqrt(4 + 0.25 / 12), 2e-3);
	check_normal(
	    "\"type\": \"int\", \"min\": 8, \"max\": 80000, \"step\": 8, "
	    "\"scale\": \"log\", \"mean\": 7, \"sd\": 0.5",
	    true, 7, 0.5, 2e-3);
	check_normal("\"type\": \"int\", \"min\": 1, \"max\": 100000, "
		     "\"scale\": \"log\", \"mean\": 7, \"sd\": 0.5",
	    true, 7, 0.5, 2e-3);
}

static void
test_bounds(void)
{
	struct err e = ERR_INIT;
	struct space *s =
	    space_of("\"type\": \"int\", \"mean\": 20, \"sd\": 5", &e);
	struct space *log_int =
	    space_of("\"type\": \"int\", \"scale\": \"log\", \"mean\": 1, "
		     "\"sd\": 1",
		&e);
	double mean, sd;

	ok(s->params[0].min == 0 && s->params[0].max == 40,
	    "bounds that are not given are 4 sd away");
	ok(log_int->params[0].min == 1 && log_int->params[0].max == 148,
	    "on a log scale, too");
	ok(prior_normal(&s->params[0], &mean, &sd) &&
		fabs(mean - 0.5) < 1e-12 && fabs(sd - 5.0 / 41) < 1e-12,
	    "mean and deviation in the cube");
	space_free(s);
	space_free(log_int);
}

static void
test_weights(void)
{
	struct err e = ERR_INIT;
	struct space *s =
	    space_of("\"type\": \"choice\", \"values\": [0, 1, 2], "
		     "\"weights\": [1, 6, 3]",
		&e);
	int count[3] = { 0 }, i;

	for (i = 0; i < DRAWS; i++)
		count[(int)value_at(s, (i + 0.5) / DRAWS)]++;
	ok(count[0] == DRAWS / 10 && count[1] == DRAWS * 6 / 10,
	    "choices are as likely as their weights: %d, %d", count[0],
	    count[1]);
	ok(value_at(s, 0) == 0 && value_at(s, 1) == 2, "at the ends, too");
	ok(isnan(prior_move_one(&s->params[0], NAN)),
	    "an inactive one stays inactive");
	space_free(s);
}

static void
test_wrong(void)
{
	static const struct {
		const char *param, *error;
	} wrong[] = {
		{ "\"type\": \"float\", \"min\": 0, \"max\": 1, \"mean\": 0.5",
		    "mean and sd of a normal distribution go together" },
		{ "\"type\": \"float\", \"mean\": 0.5, \"sd\": 0",
		    "expected a number above 0" },
		{ "\"type\": \"float\", \"min\": 0, \"max\": 1, \"mean\": 2, "
		  "\"sd\": 1",
		    "the mean is not between min and max" },
		{ "\"type\": \"float\", \"min\": 0.1, \"max\": 1, "
		  "\"scale\": \"log\", \"mean\": 0.5, \"sd\": 1",
		    "the mean is that of the natural logarithm" },
		{ "\"type\": \"float\", \"min\": 0.1, \"max\": 0.9, "
		  "\"scale\": \"reverse-log\", \"mean\": 0.5, \"sd\": 1",
		    "mean and sd go with a linear or log scale only" },
		{ "\"type\": \"float\", \"mean\": 0.5, \"sd\": 1, "
		  "\"step\": 0.1",
		    "step needs min and max" },
		{ "\"type\": \"float\", \"scale\": \"log\", \"mean\": 9, "
		  "\"sd\": 900",
		    "this mean and sd need min and max" },
		{ "\"type\": \"int\", \"mean\": 0.5, \"sd\": 0.1",
		    "this mean and sd need min and max" },
		{ "\"type\": \"float\", \"min\": 0",
		    "the key \"max\" is missing" },
		{ "\"type\": \"choice\", \"values\": [1, 2], \"mean\": 1",
		    "this key does not go with type choice" },
		{ "\"type\": \"choice\", \"values\": [1, 2], \"weights\": [1]",
		    "expected 2 numbers, one for each of values" },
		{ "\"type\": \"choice\", \"values\": [1, 2], "
		  "\"weights\": [1, 0]",
		    "expected a number above 1e-9" },
		{ "\"type\": \"float\", \"min\": 0, \"max\": 1, "
		  "\"weights\": [1]",
		    "this key does not go with type float" },
	};
	size_t i;

	for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct err e = ERR_INIT;
		struct space *s = space_of(wrong[i].param, &e);

		ok(s == NULL && strstr(e.text, wrong[i].error) != NULL,
		    "an error: %s", e.text);
		space_free(s);
	}
}

int
main(void)
{
	test_normal();
	test_bounds();
	test_weights();
	test_wrong();
	return done_testing();
}
