/*
 * Known functions.  Sources: Surjanovic and Bingham, "Virtual library of
 * simulation experiments"; Zitzler, Deb and Thiele (2000) for zdt1; Deb,
 * Thiele, Laumanns and Zitzler (2002) for dtlz2; Binh and Korn (1997) for bnh;
 * Gelbart, Snoek and Adams (2014) for Branin on a disc.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/space.h"
#include "tests/support/test-functions.h"

#define FLOAT(name, min, max)                                    \
	"\"" name "\": {\"type\": \"float\", \"min\": " min ", " \
	"\"max\": " max "}"
#define LOG(name, min, max, more)                                  \
	"\"" name "\": {\"type\": \"float\", \"scale\": \"log\", " \
	"\"min\": " min ", \"max\": " max more "}"
#define BOX2(min, max) FLOAT("a", min, max) ", " FLOAT("b", min, max)
#define BOX3(min, max) BOX2(min, max) ", " FLOAT("c", min, max)
#define BOX4(min, max) BOX3(min, max) ", " FLOAT("d", min, max)
#define BOX5(min, max) BOX4(min, max) ", " FLOAT("e", min, max)
#define BOX6(min, max) BOX5(min, max) ", " FLOAT("f", min, max)
#define SVM ", \"when\": {\"model\": [\"svm\"]}"
#define NET ", \"when\": {\"model\": [\"net\"]}"

static void
branin(const struct value *v, double *losses, double *bounds)
{
	double x = v[0].real, y = v[1].real;
	double a = y - 5.1 / (4 * M_PI * M_PI) * x * x + 5 / M_PI * x - 6;

	(void)bounds;
	losses[0] = a * a + 10 * (1 - 1 / (8 * M_PI)) * cos(x) + 10;
}

/* Two of the three least points lie outside the disc. */
static void
branin_disc(const struct value *v, double *losses, double *bounds)
{
	double x = v[0].real - 2.5, y = v[1].real - 7.5;

	branin(v, losses, NULL);
	bounds[0] = x * x + y * y - 50;
}

/* Four hills: a and p have a row for each, p in 1/10000. */
static double
hartmann(const struct value *v, int dims, const double *a, const int *p)
{
	static const double height[] = { 1, 1.2, 3, 3.2 };
	double sum = 0, inner, d;
	int i, k;

	for (i = 0; i < 4; i++) {
		for (inner = 0, k = 0; k < dims; k++) {
			d = v[k].real - p[i * dims + k] * 1e-4;
			inner += a[i * dims + k] * d * d;
		}
		sum -= height[i] * exp(-inner);
	}
	return sum;
}

static void
hartmann3(const struct value *v, double *losses, double *bounds)
{
	static const double a[] = { 3, 10, 30, 0.1, 10, 35, 3, 10, 30, 0.1, 10,
		35 };
	static const int p[] = { 3689, 1170, 2673, 4699, 4387, 7470, 1091, 8732,
		5547, 381, 5743, 8828 };

	(void)bounds;
	losses[0] = hartmann(v, 3, a, p);
}

static void
hartmann6(const struct value *v, double *losses, double *bounds)
{
	static const double a[] = { 10, 3, 17, 3.5, 1.7, 8, 0.05, 10, 17, 0.1,
		8, 14, 3, 3.5, 1.7, 10, 17, 8, 17, 8, 0.05, 10, 0.1, 14 };
	static const int p[] = { 1312, 1696, 5569, 124, 8283, 5886, 2329, 4135,
		8307, 3736, 1004, 9991, 2348, 1451, 3522, 2883, 3047, 6650,
		4047, 8828, 8732, 5743, 1091, 381 };

	(void)bounds;
	losses[0] = hartmann(v, 6, a, p);
}

static void
ackley5(const struct value *v, double *losses, double *bounds)
{
	double squares = 0, cosines = 0;
	int i;

	(void)bounds;
	for (i = 0; i < 5; i++) {
		squares += v[i].real * v[i].real / 5;
		cosines += cos(2 * M_PI * v[i].real) / 5;
	}
	losses[0] = -20 * exp(-0.2 * sqrt(squares)) - exp(cosines) + 20 + M_E;
}

static void
rosenbrock4(const struct value *v, double *losses, double *bounds)
{
	double steep, flat;
	int i;

	(void)bounds;
	for (losses[0] = 0, i = 0; i < 3; i++) {
		steep = v[i + 1].real - v[i].real * v[i].real;
		flat = 1 - v[i].real;
		losses[0] += 100 * steep * steep + flat * flat;
	}
}

static void
levy4(const struct value *v, double *losses, double *bounds)
{
	double w[4], s;
	int i;

	(void)bounds;
	for (i = 0; i < 4; i++)
		w[i] = 1 + (v[i].real - 1) / 4;
	s = sin(M_PI * w[0]);
	losses[0] = s * s;
	for (i = 0; i < 3; i++) {
		s = sin(M_PI * w[i] + 1);
		losses[0] += (w[i] - 1) * (w[i] - 1) * (1 + 10 * s * s);
	}
	s = sin(2 * M_PI * w[3]);
	losses[0] += (w[3] - 1) * (w[3] - 1) * (1 + s * s);
}

/* Least at lr 0.01, 100 units, adam, drop 0.2. */
static void
mixed(const struct value *v, double *losses, double *bounds)
{
	double lr = log10(v[0].real) + 2, units = log(v[1].real / 100);
	double drop = v[3].real - 0.2;

	(void)bounds;
	losses[0] = lr * lr + units * units +
		    (strcmp(v[2].text, "adam") == 0 ? 0 : 0.7) +
		    20 * drop * drop;
}

/* Least at svm with c = 1 and gamma = 0.01; the net gets 0.1 at best. */
static void
conditional(const struct value *v, double *losses, double *bounds)
{
	double a, b;

	(void)bounds;
	if (strcmp(v[0].text, "svm") == 0) {
		a = log10(v[1].real);
		b = log10(v[2].real) + 2;
		losses[0] = a * a + b * b;
		return;
	}
	a = log10(v[3].real) + 3;
	b = (double)v[4].integer - 3;
	losses[0] = 0.1 + a * a + b * b;
}

/* Least at 3, "c" and 0.4; there are 6 x 4 x 11 settings. */
static void
discrete(const struct value *v, double *losses, double *bounds)
{
	double a = (double)v[0].integer - 3, b = v[2].real - 0.4;

	(void)bounds;
	losses[0] = a * a + (strcmp(v[1].text, "c") == 0 ? 0 : 1) + 10 * b * b;
}

static void
zdt1(const struct value *v, double *losses, double *bounds)
{
	double g = 1;
	int i;

	(void)bounds;
	for (i = 1; i < 5; i++)
		g += 9 * v[i].real / 4;
	losses[0] = v[0].real;
	losses[1] = g * (1 - sqrt(v[0].real / g));
}

/* Three objectives: the front is an eighth of a ball's surface. */
static void
dtlz2(const struct value *v, double *losses, double *bounds)
{
	double g = 1, x = v[0].real * M_PI_2, y = v[1].real * M_PI_2;
	int i;

	(void)bounds;
	for (i = 2; i < 5; i++)
		g += (v[i].real - 0.5) * (v[i].real - 0.5);
	losses[0] = g * cos(x) * cos(y);
	losses[1] = g * cos(x) * sin(y);
	losses[2] = g * sin(x);
}

static void
bnh(const struct value *v, double *losses, double *bounds)
{
	double x = v[0].real, y = v[1].real;

	losses[0] = 4 * x * x + 4 * y * y;
	losses[1] = (x - 5) * (x - 5) + (y - 5) * (y - 5);
	bounds[0] = (x - 5) * (x - 5) + y * y - 25;
	bounds[1] = 7.7 - (x - 8) * (x - 8) - (y + 3) * (y + 3);
}

const struct function functions[] = {
	{ "branin", "{" FLOAT("x", "-5", "10") ", " FLOAT("y", "0", "15") "}",
	    1, 0, 0.39788735772973816, { 0 }, branin },
	{ "hartmann3", "{" BOX3("0", "1") "}", 1, 0, -3.8627797869493365, { 0 },
	    hartmann3 },
	{ "hartmann6", "{" BOX6("0", "1") "}", 1, 0, -3.3223680114155147, { 0 },
	    hartmann6 },
	{ "ackley5", "{" BOX5("-32.768", "32.768") "}", 1, 0, 0, { 0 },
	    ackley5 },
	{ "rosenbrock4", "{" BOX4("-5", "10") "}", 1, 0, 0, { 0 },
	    rosenbrock4 },
	{ "levy4", "{" BOX4("-10", "10") "}", 1, 0, 0, { 0 }, levy4 },
	{ "mixed",
	    "{" LOG("lr", "1e-5", "1",
		"") ", "
		    "\"units\": {\"type\": \"int\", \"min\": 4, \"max\": 1024, "
		    "\"scale\": \"log\"}, "
		    "\"opt\": {\"type\": \"choice\", "
		    "\"values\": [\"sgd\", \"adam\", \"lion\"]}, "
		    "\"drop\": {\"type\": \"float\", \"min\": 0, \"max\": 0.5, "
		    "\"step\": 0.1}}",
	    1, 0, 0, { 0 }, mixed },
	{ "conditional",
	    "{\"model\": {\"type\": \"choice\", \"values\": [\"net\", "
	    "\"svm\"]}, " LOG("c", "1e-3", "1e3", SVM) ", " LOG(
		"gamma", "1e-5", "10", SVM) ", " LOG("lr", "1e-5", "1",
		NET) ", "
		     "\"layers\": {\"type\": \"int\", \"min\": 1, \"max\": "
		     "8" NET "}}",
	    1, 0, 0, { 0 }, conditional },
	{ "discrete",
	    "{\"n\": {\"type\": \"int\", \"min\": 0, \"max\": 5}, "
	    "\"kind\": {\"type\": \"choice\", "
	    "\"values\": [\"a\", \"b\", \"c\", \"d\"]}, "
	    "\"rate\": {\"type\": \"float\", \"min\": 0, \"max\": 1, "
	    "\"step\": 0.1}}",
	    1, 0, 0, { 0 }, discrete },
	{ "braninc", "{" FLOAT("x", "-5", "10") ", " FLOAT("y", "0", "15") "}",
	    1, 1, 0.39788735772973816, { 0 }, branin_disc },
	{ "zdt1", "{" BOX5("0", "1") "}", 2, 0, 1.1 * 1.1 - 1 / 3.0,
	    { 1.1, 1.1 }, zdt1 },
	{ "dtlz2", "{" BOX5("0", "1") "}", 3, 0, 1.331 - M_PI / 6,
	    { 1.1, 1.1, 1.1 }, dtlz2 },
	{ "bnh", "{" FLOAT("x", "0", "5") ", " FLOAT("y", "0", "3") "}", 2, 2,
	    5285.333333333333, { 140, 50 }, bnh },
	{ NULL, NULL, 0, 0, 0, { 0 }, NULL },
};

const struct function *
test_function_find(const char *name)
{
	const struct function *f;

	for (f = functions; f->name != NULL; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	abort();
}
