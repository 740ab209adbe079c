/* Keeps the model of GPU memory of a study. */

#include <stddef.h>

#include "src/engine/gpu-need.h"
#include "src/view/memory-fit.h"

enum {
	EACH = 32, /* so many trials: a fit after each that ends */
	PART = 8 /* beyond, after this part of them */
};

static const double most = 1e15; /* bytes, more than any GPU has */

int
gpu_need_refresh(struct gpu_need *g, struct store *store,
    const struct space *space, int64_t over, int64_t failed, struct err *e)
{
	if (over == g->read_at ||
	    (over > EACH && over - g->read_at < g->read_at / PART &&
		failed == g->failed_at))
		return 0;
	memory_fit_free(g->fit);
	g->fit = NULL;
	g->read_at = over;
	g->failed_at = failed;
	return memory_fit_gpu(&g->fit, space, store, e);
}

void
gpu_need_close(struct gpu_need *g)
{
	memory_fit_free(g->fit);
	g->fit = NULL;
}

int64_t
gpu_need_of(
    const struct gpu_need *g, const struct value *values, double *median)
{
	double need;

	if (g->fit == NULL || values == NULL)
		return 0;
	need = memory_fit_need(g->fit, values, median);
	return (int64_t)(need < most ? need : most);
}

int64_t
gpu_need_least(const struct gpu_need *g)
{
	return g->fit == NULL ? 0 : (int64_t)memory_fit_least(g->fit);
}
