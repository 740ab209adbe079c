/*
 * Test functions: their spaces as in study.json, their values, and their
 * minima.
 */

#ifndef HPOTUNE_TEST_FUNCTIONS_H
#define HPOTUNE_TEST_FUNCTIONS_H

#include <stddef.h>

struct value;

enum { FUNCTION_DIMS = 8, FUNCTION_LOSSES = 3, FUNCTION_BOUNDS = 2 };

struct function {
	const char *name;
	const char *space; /* the object "parameters" */
	size_t n_losses; /* all are minimized */
	size_t n_bounds; /* constraints: numbers, above 0 is violated */
	/* One objective: the least loss; several: the largest hypervolume. */
	double best;
	double reference[FUNCTION_LOSSES]; /* of the hypervolume */
	void (*give)(const struct value *, double *losses, double *bounds);
};

/* branin hartmann3 hartmann6 ackley5 rosenbrock4 levy4 mixed conditional
 * discrete; constrained: braninc; several objectives: zdt1, dtlz2, and bnh, constrained.
 * Ends with one without a name. */
extern const struct function functions[];
/* The one with this name; there must be one. */
const struct function *test_function_find(const char *name);

#endif /* HPOTUNE_TEST_FUNCTIONS_H */
