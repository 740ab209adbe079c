/*
 * Members of the front in one flat array.  Most trials are dominated, and often
 * by the same few members: one that dominates moves towards the beginning.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/pareto-front.h"

struct pareto_front {
	size_t n_losses;
	size_t n, cap; /* members */
	int64_t *trials;
	double *losses;
	int64_t *out; /* what the last call removed; room for cap */
};

enum order { ORDER_NONE, ORDER_BETTER, ORDER_WORSE, ORDER_EQUAL };

struct pareto_front *
pareto_front_new(size_t n)
{
	struct pareto_front *f = xcalloc(1, sizeof *f);

	f->n_losses = n;
	return f;
}

void
pareto_front_free(struct pareto_front *f)
{
	if (f == NULL)
		return;
	free(f->trials);
	free(f->losses);
	free(f->out);
	free(f);
}

size_t
pareto_front_count(const struct pareto_front *f)
{
	return f->n;
}

void
pareto_front_load(struct pareto_front *f, int64_t trial, const double *losses)
{
	if (f->n == f->cap) {
		f->cap = f->cap + f->cap / 2 + 16;
		f->trials = xreallocarray(f->trials, f->cap, sizeof *f->trials);
		f->out = xreallocarray(f->out, f->cap, sizeof *f->out);
		f->losses = xreallocarray(
		    f->losses, f->cap, f->n_losses * sizeof *f->losses);
	}
	f->trials[f->n] = trial;
	memcpy(f->losses + f->n++ * f->n_losses, losses,
	    f->n_losses * sizeof *losses);
}

/* How a compares to b. */
static enum order
losses_order(const double *a, const double *b, size_t n)
{
	bool better = false, worse = false;
	size_t i;

	for (i = 0; i < n && !(better && worse); i++) {
		better = better || a[i] < b[i];
		worse = worse || a[i] > b[i];
	}
	if (better == worse)
		return better ? ORDER_NONE : ORDER_EQUAL;
	return better ? ORDER_BETTER : ORDER_WORSE;
}

static void
member_swap(struct pareto_front *f, size_t i, size_t k)
{
	double *a = f->losses + i * f->n_losses;
	double *b = f->losses + k * f->n_losses, loss;
	int64_t trial = f->trials[i];
	size_t j;

	f->trials[i] = f->trials[k];
	f->trials[k] = trial;
	for (j = 0; j < f->n_losses; j++) {
		loss = a[j];
		a[j] = b[j];
		b[j] = loss;
	}
}

enum pareto_front_place
pareto_front_add(struct pareto_front *f, int64_t trial, const double *losses,
    const int64_t **out, size_t *n_out)
{
	enum pareto_front_place place = PARETO_FRONT_BETTER;
	size_t i = 0;

	*n_out = 0;
	*out = f->out;
	while (i < f->n) {
		switch (losses_order(
		    losses, f->losses + i * f->n_losses, f->n_losses)) {
		case ORDER_WORSE:
			member_swap(f, i, i / 2);
			return PARETO_FRONT_DOMINATED;
		case ORDER_EQUAL:
			place = PARETO_FRONT_EQUAL;
			i++;
			break;
		case ORDER_NONE:
			i++;
			break;
		case ORDER_BETTER:
			f->out[(*n_out)++] = f->trials[i];
			member_swap(f, i, --f->n);
			break;
		}
	}
	pareto_front_load(f, trial, losses);
	*out = f->out;
	return place;
}
