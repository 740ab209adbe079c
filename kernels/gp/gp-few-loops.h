/*
 * The loops of gp-few.c for one kind of processor (kernels/kinds.h): a row of x is
 * FEW_LANE numbers, of which as many are processed at once as leave registers for
 * four rows.
 */

#include <stddef.h>

#define vec KIND(few_vec)
#define rows_load KIND(few_load)
#define rows_store KIND(few_store)
#define rows_divide KIND(few_divide)
#define take KIND(few_take)
#define forward_some KIND(few_forward_some)
#define forward_columns KIND(few_forward_columns)
#define back_columns KIND(few_back_columns)

#define INLINE inline __attribute__((always_inline)) KIND_TARGET

typedef double vec
    __attribute__((vector_size(KIND_WIDE * 8), aligned(8), may_alias));

enum {
	KIND(few_columns) = KIND_WIDE == 2 ? 4 : FEW_LANE,
	KIND(few_of_row) = KIND(few_columns) / KIND_WIDE /* vectors */
};
#define OF_ROW KIND(few_of_row)

static INLINE void
rows_load(vec *to, const double *x)
{
	size_t i;

	KIND_EACH
	for (i = 0; i < OF_ROW; i++)
		to[i] = *(const vec *)(x + i * KIND_WIDE);
}

static INLINE void
rows_store(double *x, const vec *from)
{
	size_t i;

	KIND_EACH
	for (i = 0; i < OF_ROW; i++)
		*(vec *)(x + i * KIND_WIDE) = from[i];
}

/* x = from / by. */
static INLINE void
rows_divide(double *x, const vec *from, double by)
{
	size_t i;

	KIND_EACH
	for (i = 0; i < OF_ROW; i++)
		*(vec *)(x + i * KIND_WIDE) = from[i] / by;
}

/* to -= w x. */
static INLINE void
take(vec *to, double w, const vec *x)
{
	size_t i;

	KIND_EACH
	for (i = 0; i < OF_ROW; i++)
		to[i] -= w * x[i];
}

/*
 * One unknown after another, from i to end; the part of those before known has
 * been taken off.
 */
static INLINE void
forward_some(const double *l, size_t known, size_t i, size_t end, size_t stride,
    double *x)
{
	vec sum[OF_ROW], row[OF_ROW];
	size_t j;

	for (; i < end; i++) {
		rows_load(sum, x + i * FEW_LANE);
		for (j = known; j < i; j++) {
			rows_load(row, x + j * FEW_LANE);
			take(sum, l[j * stride + i], row);
		}
		rows_divide(x + i * FEW_LANE, sum, l[i * stride + i]);
	}
}

static INLINE void
forward_columns(const double *l, size_t n, size_t stride, double *x)
{
	vec a[OF_ROW], b[OF_ROW], c[OF_ROW], d[OF_ROW], row[OF_ROW];
	const double *at;
	double *to = x;
	size_t i, j;

	for (i = 0; i + FEW_AT_ONCE <= n; i += FEW_AT_ONCE) {
		rows_load(a, to);
		rows_load(b, to + FEW_LANE);
		rows_load(c, to + 2 * FEW_LANE);
		rows_load(d, to + 3 * FEW_LANE);
		for (at = l + i, j = 0; j < i; j++, at += stride) {
			rows_load(row, x + j * FEW_LANE);
			take(a, at[0], row);
			take(b, at[1], row);
			take(c, at[2], row);
			take(d, at[3], row);
		}
		rows_store(to, a);
		rows_store(to + FEW_LANE, b);
		rows_store(to + 2 * FEW_LANE, c);
		rows_store(to + 3 * FEW_LANE, d);
		forward_some(l, i, i, i + FEW_AT_ONCE, stride, x);
		to += FEW_AT_ONCE * FEW_LANE;
	}
	forward_some(l, 0, i, n, stride, x);
}

static INLINE void
back_columns(const double *l, size_t n, size_t stride, double *x)
{
	vec a[OF_ROW], b[OF_ROW], c[OF_ROW], d[OF_ROW], row[OF_ROW];
	const double *at;
	double *to;
	size_t i = n, j, k;

	for (; i % FEW_AT_ONCE != 0; i--) {
		at = l + (i - 1) * stride;
		rows_load(a, x + (i - 1) * FEW_LANE);
		for (j = i; j < n; j++) {
			rows_load(row, x + j * FEW_LANE);
			take(a, at[j], row);
		}
		rows_divide(x + (i - 1) * FEW_LANE, a, at[i - 1]);
	}
	for (; i > 0; i -= FEW_AT_ONCE) {
		at = l + (i - FEW_AT_ONCE) * stride;
		to = x + (i - FEW_AT_ONCE) * FEW_LANE;
		rows_load(a, to);
		rows_load(b, to + FEW_LANE);
		rows_load(c, to + 2 * FEW_LANE);
		rows_load(d, to + 3 * FEW_LANE);
		for (j = i; j < n; j++) {
			rows_load(row, x + j * FEW_LANE);
			take(a, at[j], row);
			take(b, at[stride + j], row);
			take(c, at[2 * stride + j], row);
			take(d, at[3 * stride + j], row);
		}
		rows_store(to, a);
		rows_store(to + FEW_LANE, b);
		rows_store(to + 2 * FEW_LANE, c);
		rows_store(to + 3 * FEW_LANE, d);
		for (k = i; k-- > i - FEW_AT_ONCE;) {
			rows_load(a, x + k * FEW_LANE);
			for (j = k + 1; j < i; j++) {
				rows_load(row, x + j * FEW_LANE);
				take(a, l[k * stride + j], row);
			}
			rows_divide(x + k * FEW_LANE, a, l[k * stride + k]);
		}
	}
}

static KIND_TARGET void
KIND(few_forward)(const double *l, size_t n, size_t stride, double *x)
{
	size_t i;

	for (i = 0; i < FEW_LANE; i += KIND(few_columns))
		forward_columns(l, n, stride, x + i);
}

/* With the transposed triangle, from the last unknown to the first. */
static KIND_TARGET void
KIND(few_back)(const double *l, size_t n, size_t stride, double *x)
{
	size_t i;

	for (i = 0; i < FEW_LANE; i += KIND(few_columns))
		back_columns(l, n, stride, x + i);
}

#undef vec
#undef rows_load
#undef rows_store
#undef rows_divide
#undef take
#undef forward_some
#undef forward_columns
#undef back_columns
#undef INLINE
#undef OF_ROW
