/*
 * Products of small matrices, for several kinds of processors.  A tile of the
 * result stays in registers while its terms are added, and operands are read where
 * they are: OpenBLAS copies them first, which takes as long as a fifth of such
 * products.
 */

#include <stdbool.h>
#include <string.h>

#include "kernels/kinds.h"
#include "kernels/mlp-batch/mlp-product.h"

/* SSE2 or NEON, or what the compiler was told. */
#define TILE(name) mlp_tile_##name##_plain
#define TILE_TARGET
#define TILE_WIDE 4
#define TILE_HALF 4
#define TILE_ROWS 4
#include "kernels/mlp-batch/mlp-tile.h"

#ifdef HAVE_TARGET_CLONES

#define TILE(name) mlp_tile_##name##_v3
#define TILE_TARGET __attribute__((target("arch=x86-64-v3")))
#define TILE_WIDE 8
#define TILE_HALF 8
#define TILE_ROWS 4
#include "kernels/mlp-batch/mlp-tile.h"

#define TILE(name) mlp_tile_##name##_v4
#define TILE_TARGET __attribute__((target("arch=x86-64-v4")))
#define TILE_WIDE 16
#define TILE_HALF 8
#define TILE_ROWS 8
#include "kernels/mlp-batch/mlp-tile.h"

#endif

static const struct mlp_product_kind kinds[] = {
#ifdef HAVE_TARGET_CLONES
	{ "x86-64-v4", mlp_tile_rows_v4, mlp_tile_columns_v4 },
	{ "x86-64-v3", mlp_tile_rows_v3, mlp_tile_columns_v3 },
#endif
	{ "plain", mlp_tile_rows_plain, mlp_tile_columns_plain },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* How many of the first kinds this processor cannot run. */
static size_t
kinds_beyond(void)
{
	return KINDS - 1 - (size_t)kind_best();
}

const struct mlp_product_kind *
mlp_product_kind(size_t i)
{
	i += kinds_beyond();
	return i < KINDS ? &kinds[i] : NULL;
}

void
mlp_product(
    size_t m, size_t n, size_t k, const float *a, const float *b, float *c)
{
	mlp_product_kind(0)->rows(a, k, b, k, c, m, n);
}

void
mlp_product_transposed(
    size_t m, size_t n, size_t k, const float *a, const float *b, float *c)
{
	mlp_product_kind(0)->columns(a, m, b, k, c, m, n);
}
