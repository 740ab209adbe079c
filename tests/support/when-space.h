/*
 * Random small spaces whose parameters have conditions of every form, with a
 * second implementation of what they mean.
 */

#ifndef HPOTUNE_TESTS_WHEN_SPACE_H
#define HPOTUNE_TESTS_WHEN_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/mem.h"
#include "src/base/rng.h"

struct space;
struct value;

enum { WHEN_PARAMS = 6, WHEN_NODES = 64 };

/* A condition: the values of a comparison, or of what it is made of. */
struct when_node {
	enum { WHEN_AND, WHEN_OR, WHEN_NOT, WHEN_IS, WHEN_BELOW, WHEN_SUM } op;
	int left, right; /* nodes; of a comparison: parameters */
	double number; /* WHEN_IS: number of the value */
};

struct when_space {
	size_t n;
	int order[WHEN_PARAMS]; /* of study.json */
	int root[WHEN_PARAMS]; /* node, or -1: always active */
	struct when_node nodes[WHEN_NODES];
	int n_nodes;
	struct buf text; /* the "parameters" */
};

/*
 * Make one: parameter p0 is a choice of a, b, c; p1 a bool; p2 an int from 0 to
 * 2; p3 a float from 0 to 1 by 0.5; p4 like p0; p5 a float without step if
 * continuous, or else like p2.  The text is freed by the caller.
 */
void when_space_make(struct when_space *, struct rng *, bool continuous);
/* Whether parameter number i is active; values in the order of the space. */
bool when_space_active(const struct when_space *, int i, const struct space *,
    const struct value *);

#endif /* HPOTUNE_TESTS_WHEN_SPACE_H */
