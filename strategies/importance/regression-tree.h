/*
 * One regression tree, grown on a bootstrap of the trials (Breiman, "Random
 * forests", Machine Learning 45, 2001).  For importance only.
 */

#ifndef HPOTUNE_REGRESSION_TREE_H
#define HPOTUNE_REGRESSION_TREE_H

#include <stddef.h>
#include <stdint.h>

struct rng;

struct regression_tree_data {
	size_t n, dims;
	const double *x; /* dims rows of n; a choice: its index */
	const double *y; /* n */
	/* dims: number of choices; 0 = a number in [0, 1] */
	const size_t *choices;
};

/* A split, or a leaf if left is 0. */
struct regression_tree_node {
	size_t left, right; /* indices of nodes */
	size_t dim;
	double at; /* left: x <= at; of a choice: x == at */
	double value; /* mean of the values below it */
};

struct regression_tree {
	struct regression_tree_node *nodes; /* the first is the root */
	size_t n;
};

void regression_tree_grow(struct regression_tree *,
    const struct regression_tree_data *, struct rng *);
void regression_tree_free(struct regression_tree *);

#endif /* HPOTUNE_REGRESSION_TREE_H */
