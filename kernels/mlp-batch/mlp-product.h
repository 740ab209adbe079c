/*
 * Products of the matrices of small networks, on one core.  Matrices are row by
 * row.  Each number of a result is summed in the order of its terms, whatever
 * the size of the matrices.
 */

#ifndef HPOTUNE_MLP_PRODUCT_H
#define HPOTUNE_MLP_PRODUCT_H

#include <stddef.h>

enum {
	/*
	 * Up to so many rows beyond the m of a, and numbers beyond the end of
	 * b, are read; their values do not matter.
	 */
	MLP_PRODUCT_ROWS = 8,
	MLP_PRODUCT_MORE = 16
};

/* c (m x n) = a (m x k) b (k x n) */
void mlp_product(
    size_t m, size_t n, size_t k, const float *a, const float *b, float *c);
/* c (m x n) = a' b: a is k x m, b is k x n; m is a multiple of 8. */
void mlp_product_transposed(
    size_t m, size_t n, size_t k, const float *a, const float *b, float *c);

/* The same for one kind of processor. */
struct mlp_product_kind {
	const char *name;
	void (*rows)(const float *a, size_t lda, const float *b, size_t k,
	    float *c, size_t m, size_t n);
	void (*columns)(const float *a, size_t lda, const float *b, size_t k,
	    float *c, size_t m, size_t n);
};
/*
 * Kind i of those that this processor can run, the fastest first: the one that the
 * functions above use.  NULL after the last.
 */
const struct mlp_product_kind *mlp_product_kind(size_t i);

#endif /* HPOTUNE_MLP_PRODUCT_H */
