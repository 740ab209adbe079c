/*
 * Fits a Parzen estimator: weights, centres and bandwidths of its components.
 *
 * Bandwidths are those of Bergstra, Bardenet, Bengio and Kegl, "Algorithms for
 * hyper-parameter optimization" (NIPS 2011): the distance to the farther
 * neighbour, but at least a share of the range that shrinks with the number of
 * observations.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "strategies/tpe/tpe-normal.h"
#include "strategies/tpe/tpe-parzen.h"

enum {
	RECENT = 25, /* observations that count fully */
	RADIX_FEW = 8, /* bits sorted by at a time */
	RADIX_MAX = 11,
	FOLD = 8 /* factors of a norm before its logarithm is taken */
};

#define HALVES_MAX 1e6 /* levels whose distances are rounded */
#define SQRT_2PI 2.50662827463100050242
#define SIGMA_LEAST 1e-12 /* without the magic clip, in the user's numbers */

/* An observation on its way into order; cell: the leading bits of z. */
struct mark {
	double z;
	uint32_t k, cell;
};

void
tpe_parzen_weigh(double *w, size_t n, enum parzen_weights weights)
{
	size_t i, old = n > RECENT ? n - RECENT : 0;
	double first = 1 / (double)n;

	for (i = 0; i < n; i++)
		w[i] = 1;
	if (weights == PARZEN_UNIFORM || old == 0)
		return;
	for (i = 0; i < old; i++)
		w[i] = old == 1 ? first
				: first + (1 - first) * (double)i /
					      (double)(old - 1);
}

/* Weights of all components, the prior's last, as logarithms and sums. */
static void
fit_weights(struct parzen *p, const struct parzen_rule *rule)
{
	size_t k, n = p->n - 1;
	double sum = 0;

	tpe_parzen_weigh(p->base, n, rule->weights);
	p->base[n] = n == 0 ? 1 : rule->prior_weight;
	for (k = 0; k < p->n; k++) {
		sum += p->base[k];
		p->share[k] = sum;
	}
	for (k = 0; k < p->n; k++) {
		p->share[k] /= sum;
		p->base[k] = log(p->base[k] / sum);
	}
	for (; k < p->stride; k++)
		p->base[k] = -INFINITY;
}

/* One pass of a radix sort by some bits of the coordinate; stable. */
static void
radix_pass(struct mark *to, const struct mark *from, size_t n, unsigned shift,
    unsigned bits)
{
	uint32_t at[1 << RADIX_MAX], sum = 0, count;
	uint32_t mask = (1u << bits) - 1;
	size_t i;

	memset(at, 0, (mask + 1) * sizeof *at);
	for (i = 0; i < n; i++)
		at[from[i].cell >> shift & mask]++;
	for (i = 0; i <= mask; i++) {
		count = at[i];
		at[i] = sum;
		sum += count;
	}
	for (i = 0; i < n; i++)
		to[at[from[i].cell >> shift & mask]++] = from[i];
}

/* Final pass for coordinates that share all those bits; stable. */
static void
insertion(struct mark *m, size_t n)
{
	struct mark one;
	size_t i, k;

	for (i = 1; i < n; i++) {
		if (m[i - 1].z <= m[i].z)
			continue;
		one = m[i];
		for (k = i; k > 0 && m[k - 1].z > one.z; k--)
			m[k] = m[k - 1];
		m[k] = one;
	}
}

/* By coordinate, stable. */
static void
sort(struct mark *m, struct mark *spare, size_t n)
{
	unsigned bits = n < 1024 ? RADIX_FEW : RADIX_MAX;
	double cells = (double)((1u << 2 * bits) - 1);
	size_t i;

	if (n > 32) {
		for (i = 0; i < n; i++)
			m[i].cell = (uint32_t)(m[i].z * cells);
		radix_pass(spare, m, n, 0, bits);
		radix_pass(m, spare, n, bits, bits);
	}
	insertion(m, n);
}

/* The bandwidth of observation j in order. */
static inline double
bandwidth(const struct mark *m, size_t j, size_t n, bool endpoints)
{
	double left = j > 0 ? m[j].z - m[j - 1].z : m[j].z;
	double right = j + 1 < n ? m[j + 1].z - m[j].z : 1 - m[j].z;
	double sigma = left > right ? left : right;

	if (!endpoints && n >= 2 && j == 0)
		sigma = right;
	if (!endpoints && n >= 2 && j + 1 == n)
		sigma = left;
	return sigma;
}

/*
 * Levels are at odd numbers of halves of their share: a distance of two is a
 * whole number of halves, which rounding must not make many numbers of.
 */
static inline double
halves(double sigma, double levels)
{
	const double round = 6755399441055744.0; /* 1.5 * 2^52 */

	return (sigma * 2 * levels + round - round) / (2 * levels);
}

/* The probability above x, mostly without a call. */
static inline double
above(double x)
{
	return x > 8.5 ? 0 : tpe_normal_above(x);
}

/* One dimension of component k; its norm gains a factor. */
static inline void
fit_kernel(
    struct parzen *p, size_t d, size_t k, double mu, double sigma, double *norm)
{
	size_t at = d * p->stride + k;
	double by = 1 / sigma, in = 1 - above(mu * by) - above((1 - mu) * by);

	p->mu[at] = mu;
	p->scale[at] = by * M_SQRT1_2;
	norm[k] *=
	    p->axes[d].kind == TPE_AXIS_NUMBER ? in * sigma * SQRT_2PI : in;
}

/* Components with the same centre and bandwidth, which lie side by side. */
static void
fit_groups(struct parzen *p, size_t d, const struct mark *m, size_t n)
{
	uint32_t *group = p->group + p->table[d] * p->stride;
	uint32_t *member = p->member + p->table[d] * p->stride;
	const double *mu = p->mu + d * p->stride;
	const double *scale = p->scale + d * p->stride;
	uint32_t k, before = 0, count = 0;
	size_t j;

	for (j = 0; j <= n; j++) {
		k = j < n ? m[j].k : (uint32_t)n;
		if (j == 0 || j == n || mu[k] != mu[before] ||
		    scale[k] != scale[before])
			member[count++] = k;
		group[k] = count - 1;
		before = k;
	}
	p->n_groups[d] = count;
}

static void
parzen_fit_number(struct parzen *p, size_t d, const struct parzen_rule *rule,
    const double *z, struct mark *m, double *norm)
{
	size_t j, n = p->n - 1;
	double sigma, levels = p->axes[d].levels;
	bool few = p->axes[d].kind == TPE_AXIS_LEVELS && levels < HALVES_MAX;
	double least = rule->magic_clip
			   ? 1 / fmin(100, (double)n + 2)
			   : fmin(SIGMA_LEAST / p->axes[d].width, 1);

	for (j = 0; j < n; j++)
		m[j] = (struct mark){ z[j], (uint32_t)j, 0 };
	sort(m, m + n, n);
	for (j = 0; j < n; j++) {
		sigma = bandwidth(m, j, n, rule->endpoints);
		if (few)
			sigma = halves(sigma, levels);
		fit_kernel(
		    p, d, m[j].k, m[j].z, sigma < least ? least : sigma, norm);
	}
	if (p->axes[d].sd > 0)
		fit_kernel(p, d, n, p->axes[d].mean, p->axes[d].sd, norm);
	else
		fit_kernel(p, d, n, 0.5, 1, norm);
	if (p->axes[d].kind != TPE_AXIS_NUMBER)
		fit_groups(p, d, m, n);
}

/* A component is the choice it saw; the group after the last is the prior. */
static void
fit_choice(struct parzen *p, size_t d, const double *z)
{
	uint32_t *group = p->group + p->table[d] * p->stride;
	double *mu = p->mu + d * p->stride, levels = p->axes[d].levels;
	size_t k, n = p->n - 1;

	for (k = 0; k <= n; k++) {
		mu[k] = k < n ? z[k] : levels;
		group[k] = (uint32_t)mu[k];
	}
	p->n_groups[d] = (size_t)levels + 1;
}

/* Assign every dimension with levels or choices a row of groups. */
static size_t
tables_count(struct parzen *p)
{
	size_t d, rows = 0;

	for (d = 0; d < p->dims; d++) {
		p->table[d] = rows;
		rows += p->axes[d].kind != TPE_AXIS_NUMBER;
	}
	return rows;
}

/* Padding components at the end have base -inf. */
static void
tpe_parzen_alloc(struct parzen *p)
{
	size_t all = p->dims * p->stride, d, k, rows;

	p->table = xcalloc(2 * p->dims, sizeof *p->table);
	p->n_groups = p->table + p->dims;
	rows = tables_count(p) * p->stride;
	p->mu = xreallocarray(NULL, 2 * all, sizeof *p->mu);
	p->scale = p->mu + all;
	p->group = xreallocarray(NULL, 2 * rows + 1, sizeof *p->group);
	p->member = p->group + rows;
	p->base = xcalloc(2 * p->stride, sizeof *p->base);
	p->share = p->base + p->stride;
	for (d = 0; d < p->dims; d++)
		for (k = d * p->stride + p->n; k < (d + 1) * p->stride; k++)
			p->mu[k] = p->scale[k] = 0;
	for (d = 0; d < rows; d += p->stride)
		for (k = d + p->n; k < d + p->stride; k++)
			p->group[k] = 0;
}

void
tpe_parzen_free(struct parzen *p)
{
	free(p->mu);
	free(p->group);
	free(p->table);
	free(p->base);
}

static void
parzen_fold(struct parzen *p, double *norm)
{
	size_t k;

	for (k = 0; k < p->n; k++) {
		p->base[k] -= log(norm[k]);
		norm[k] = 1;
	}
}

void
tpe_parzen_fit(struct parzen *p, const struct parzen_rule *rule,
    const struct axis *axes, size_t dims, const double *z, size_t n)
{
	struct mark *marks = xcalloc(2 * n + 1, sizeof *marks);
	double *norm = xcalloc(n + 1, sizeof *norm);
	size_t d, k;

	*p = (struct parzen){ .axes = axes,
		.dims = dims,
		.n = n + 1,
		.own = n == 0 ? 0 : 1,
		.other = n == 0 ? 1 : rule->prior_weight / (double)(n + 1) };
	p->stride = (n + PARZEN_BLOCK) / PARZEN_BLOCK * PARZEN_BLOCK;
	tpe_parzen_alloc(p);
	fit_weights(p, rule);
	for (k = 0; k <= n; k++)
		norm[k] = 1;
	for (d = 0; d < dims; d++) {
		if (axes[d].kind == TPE_AXIS_CHOICE)
			fit_choice(p, d, z + d * n);
		else
			parzen_fit_number(p, d, rule, z + d * n, marks, norm);
		if (d % FOLD == FOLD - 1 || d + 1 == dims)
			parzen_fold(p, norm);
	}
	free(norm);
	free(marks);
}
