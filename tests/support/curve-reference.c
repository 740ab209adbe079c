/* Curves that fall, and what two backends make of them. */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tests/support/curve-reference.h"

void
curve_reference_make(struct curve_reference *c, size_t slots, size_t m)
{
	struct rng rng;
	size_t i, k;
	double fast, deep;

	rng_init(&rng, 7, slots);
	c->m = m;
	c->slots = slots;
	c->n = xcalloc(m, sizeof *c->n);
	c->y = xcalloc(m * slots, sizeof *c->y);
	c->threshold = xcalloc(m, sizeof *c->threshold);
	c->out = xcalloc(2 * m, sizeof *c->out);
	for (i = 0; i < m; i++) {
		c->n[i] = rng_below(&rng, slots + 1);
		c->threshold[i] = rng_uniform(&rng);
		fast = 5 * rng_uniform(&rng);
		deep = rng_uniform(&rng);
		for (k = 0; k < slots; k++)
			c->y[i * slots + k] =
			    i % 5 == 1 && rng_below(&rng, 3) == 0
				? (k % 2 == 0 ? NAN : INFINITY)
				: 1 - deep +
				      deep * pow((double)(k + 1), -fast) +
				      0.03 * rng_normal(&rng);
	}
}

void
curve_reference_free(struct curve_reference *c)
{
	free(c->n);
	free(c->y);
	free(c->threshold);
	free(c->out);
}

double
curve_reference_difference(const struct curve_reference *c,
    const struct kernels *cpu, const struct kernels *gpu)
{
	struct curve_bank *one = cpu->bank_new(cpu->dev, c->slots);
	struct curve_bank *other = gpu->bank_new(gpu->dev, c->slots);
	struct curve_guess *a = c->out, *b = a + c->m;
	double worst = 0, off;
	size_t i;

	for (i = 0; i < c->m; i++)
		b[i] = (struct curve_guess){ NAN, NAN, NAN };
	cpu->bank_guesses(
	    cpu->dev, one, c->y, c->n, c->m, 0.5, c->threshold, a);
	gpu->bank_guesses(
	    gpu->dev, other, c->y, c->n, c->m, 0.5, c->threshold, b);
	for (i = 0; i < c->m; i++) {
		off = fabs(a[i].p - b[i].p) + fabs(a[i].mean - b[i].mean) +
		      fabs(a[i].sd - b[i].sd);
		worst = fmax(worst, isnan(off) ? INFINITY : off);
	}
	cpu->bank_free(cpu->dev, one);
	gpu->bank_free(gpu->dev, other);
	return worst;
}
