/* The loops of memory-model.c for one kind of processor (kernels/kinds.h). */

#define vec KIND(memory_vec)
#define vec_bits KIND(memory_bits)
#define feature_take KIND(memory_feature_take)
#define covariances KIND(memory_covariances)

typedef double vec
    __attribute__((vector_size(KIND_WIDE * 8), aligned(8), may_alias));
typedef int64_t vec_bits
    __attribute__((vector_size(KIND_WIDE * 8), aligned(8), may_alias));

/*
 * to = from + what a feature, whose number is a in one row and x in n others, adds
 * to l with this squared weight, from number i on.
 */
static inline __attribute__((always_inline)) KIND_TARGET void
feature_take(double *to, const double *from, const double *x, size_t i,
    size_t n, double a, bool category, double square)
{
	vec all = (vec){ 0 } + square, part;

	for (; i + KIND_WIDE <= n; i += KIND_WIDE) {
		part = *(const vec *)(x + i);
		if (category)
			part = (vec)((vec_bits)all & (part == a));
		else
			part *= square * a;
		*(vec *)(to + i) = *(const vec *)(from + i) + part;
	}
	for (; i < n; i++)
		to[i] = from[i] + (category ? (x[i] == a ? square : 0)
					    : square * a * x[i]);
}

/* A feature, or a change of its squared weight, in l of all pairs. */
static KIND_TARGET void
KIND(memory_linear_take)(double *to, const double *from, const double *x,
    size_t n, bool category, double square)
{
	size_t i;

	for (i = 0; i < n; i++, to += n, from += n)
		feature_take(to, from, x, i, n, x[i], category, square);
}

/* l of a row with n others. */
static KIND_TARGET void
KIND(memory_cross_fill)(
    const struct memory_model *m, const double *row, double *l)
{
	size_t n = m->rows.n, k;

	memset(l, 0, n * sizeof *l);
	for (k = 0; k < m->n_features; k++)
		feature_take(l, l, m->rows.x + k * n, 0, n, row[k],
		    m->features[k].category, m->squares[k]);
}

/* Covariances of n numbers l, from number i on. */
static inline __attribute__((always_inline)) KIND_TARGET void
covariances(double *to, const double *l, size_t i, size_t n, double products)
{
	for (; i + KIND_WIDE <= n; i += KIND_WIDE) {
		const vec *v = (const vec *)(l + i);

		*(vec *)(to + i) = of_mean + *v + products * *v * *v;
	}
	for (; i < n; i++)
		to[i] = of_mean + l[i] + products * l[i] * l[i];
}

static KIND_TARGET void
KIND(memory_matrix_fill)(double *to, const double *l, size_t n, double products)
{
	size_t i;

	for (i = 0; i < n; i++, to += n, l += n)
		covariances(to, l, i, n, products);
}

static KIND_TARGET void
KIND(memory_covariances_fill)(double *l, size_t n, double products)
{
	covariances(l, l, 0, n, products);
}

#undef vec
#undef vec_bits
#undef feature_take
#undef covariances
