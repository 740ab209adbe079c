/* Reads peaks of memory and settings, and asks the model that is fitted to them. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "src/model/where.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/view/memory-fit.h"
#include "src/view/rows.h"
#include "src/view/trial-points.h"
#include "strategies/memory/memory-model.h"

enum {
	DRAWN = 2000, /* settings of which the largest is taken */
	CHANGED = 2000, /* changes of one parameter of it */
	OTHERS = 16, /* values of a parameter that are compared */
	NAMED = 5 /* parameters in a text */
};

/* A parameter is named that changes the memory by this part. */
static const double matters = 0.1;

struct memory_fit {
	const struct space *space;
	struct history *history;
	struct memory_model *model;
	bool of_gpu;
	int trials, overruns;
	double least; /* 0 = no peak */
};

/* A trial with settings of another space is left out. */
static void
memory_fit_add(struct memory_fit *f, const struct store_rows *row, double *u)
{
	double peak = rows_real(row, 1);
	bool over = store_rows_int(row, 2) != 0;
	struct err e = ERR_INIT;
	int64_t number;

	if (!(peak > 0) && !over)
		return;
	if (trial_points_read(u, f->space, store_rows_text(row, 3), &e) != 0)
		return;
	number = ++f->trials;
	history_add(f->history, number, u);
	history_end(f->history, number, TRIAL_COMPLETED, NAN);
	history_set_memory(f->history, number, peak, over);
	f->overruns += over;
	if (!over && (f->least == 0 || peak < f->least))
		f->least = peak;
}

static int
memory_fit_fill(struct memory_fit *f, struct store *store, struct err *e)
{
	double *u = xcalloc(f->space->n + 1, sizeof *u);
	struct store_rows *rows;
	int rc = store_list_memory_peaks(&rows, store, f->of_gpu, false, e);

	if (rc == 0) {
		while ((rc = store_rows_next(rows, e)) == 1)
			memory_fit_add(f, rows, u);
		store_rows_close(rows);
	}
	free(u);
	return rc;
}

static struct memory_fit *
memory_fit_new(const struct space *space, bool of_gpu)
{
	struct memory_fit *f = xcalloc(1, sizeof *f);

	f->space = space;
	f->of_gpu = of_gpu;
	f->history = history_new(space->n, false, HISTORY_POINTS);
	return f;
}

/* Without a model there is no fit. */
static void
memory_fit_keep(struct memory_fit **fit, struct memory_fit *f)
{
	*fit = f->model != NULL ? f : NULL;
	if (f->model == NULL)
		memory_fit_free(f);
}

int
memory_fit_gpu(struct memory_fit **fit, const struct space *space,
    struct store *store, struct err *e)
{
	struct memory_fit *f = memory_fit_new(space, true);
	int rc = memory_fit_fill(f, store, e);

	if (rc == 0)
		f->model = memory_model_of_peaks(space, f->history);
	memory_fit_keep(fit, f);
	return rc;
}

int
memory_fit_overrun(struct memory_fit **fit, const struct space *space,
    struct store *store, struct err *e)
{
	double of_gpu, of_machine;
	struct memory_fit *f;
	int rc;

	*fit = NULL;
	if (store_memory_overruns(store, &of_gpu, &of_machine, e) != 0)
		return -1;
	if (!(of_gpu + of_machine > 0))
		return 0;
	f = memory_fit_new(space, of_gpu >= of_machine);
	rc = memory_fit_fill(f, store, e);
	if (rc == 0)
		f->model = memory_model_new(space, f->history);
	memory_fit_keep(fit, f);
	return rc;
}

void
memory_fit_free(struct memory_fit *f)
{
	if (f == NULL)
		return;
	memory_model_free(f->model);
	history_free(f->history);
	free(f);
}

double
memory_fit_need(
    const struct memory_fit *f, const struct value *values, double *median)
{
	double *u = xcalloc(f->space->n + 1, sizeof *u), need;

	space_encode(f->space, values, u);
	need = memory_model_need(f->model, u);
	if (median != NULL)
		(void)memory_model_fits(f->model, u, median);
	free(u);
	return need;
}

double
memory_fit_least(const struct memory_fit *f)
{
	return f->least;
}

/* The search for the setting that needs most of those that are likely to fit. */
struct largest {
	const struct memory_fit *fit;
	struct rng rng;
	double *u, *tried; /* the largest so far, and another */
	double bytes; /* 0 = none */
};

/* Take what was tried where it fits and needs more. */
static void
largest_try(struct largest *l)
{
	const struct space *space = l->fit->space;
	double bytes, *swap;

	space_snap(space, l->tried);
	if (!where_holds(space, l->tried) ||
	    !memory_model_allows(l->fit->model, l->tried))
		return;
	(void)memory_model_fits(l->fit->model, l->tried, &bytes);
	if (!(bytes > l->bytes))
		return;
	l->bytes = bytes;
	swap = l->u;
	l->u = l->tried;
	l->tried = swap;
}

static void
largest_find(struct largest *l)
{
	size_t n = l->fit->space->n, k;
	int i;

	for (i = 0; i < DRAWN; i++) {
		for (k = 0; k < n; k++)
			l->tried[k] = rng_uniform(&l->rng);
		largest_try(l);
	}
	for (i = 0; i < CHANGED && n > 0 && l->bytes > 0; i++) {
		memcpy(l->tried, l->u, n * sizeof *l->u);
		l->tried[rng_below(&l->rng, n)] = rng_uniform(&l->rng);
		largest_try(l);
	}
}

/* How much a parameter changes the memory of the largest: a logarithm. */
static double
largest_effect(struct largest *l, size_t k)
{
	double bytes, effect = 0;
	int i;

	for (i = 0; i < OTHERS && !isnan(l->u[k]); i++) {
		memcpy(l->tried, l->u, l->fit->space->n * sizeof *l->u);
		l->tried[k] = (i + 0.5) / OTHERS;
		space_snap(l->fit->space, l->tried);
		(void)memory_model_fits(l->fit->model, l->tried, &bytes);
		effect = fmax(effect, fabs(log(bytes / l->bytes)));
	}
	return effect;
}

/* The parameters that matter, those that matter most first. */
static void
largest_put_setting(struct buf *out, struct largest *l)
{
	const struct space *space = l->fit->space;
	struct value *values = xcalloc(space->n + 1, sizeof *values);
	double *effect = xcalloc(space->n + 1, sizeof *effect);
	size_t i, k, most;

	for (k = 0; k < space->n; k++)
		effect[k] = largest_effect(l, k);
	space_decode(space, l->u, values);
	for (i = 0; i < NAMED; i++) {
		for (most = 0, k = 1; k < space->n; k++)
			if (effect[k] > effect[most])
				most = k;
		if (!(effect[most] > matters))
			break;
		effect[most] = 0;
		buf_printf(out, "%s%s=", i == 0 ? ", such as " : ", ",
		    space->params[most].name);
		param_value_put(out, &values[most]);
	}
	free(values);
	free(effect);
}

/* "21.3 GiB" */
static void
bytes_put(struct buf *out, double bytes)
{
	static const double gib = 1073741824.0;

	if (bytes >= gib)
		buf_printf(out, "%.1f GiB", bytes / gib);
	else
		buf_printf(out, "%.0f MiB", bytes / 1048576.0);
}

void
memory_fit_put(struct buf *out, const struct memory_fit *f)
{
	struct largest l = { .fit = f };
	double *room = xcalloc(2 * (f->space->n + 1), sizeof *room);

	l.u = room;
	l.tried = room + f->space->n + 1;
	rng_init(&l.rng, 1, 0);
	largest_find(&l);
	if (l.bytes > 0) {
		buf_puts(out, "up to ");
		bytes_put(out, l.bytes);
		buf_printf(out, " of %smemory is likely to fit",
		    f->of_gpu ? "GPU " : "");
		largest_put_setting(out, &l);
	} else
		buf_printf(out, "no setting is known to fit into %smemory",
		    f->of_gpu ? "GPU " : "");
	buf_printf(out, "; %d trial%s ran out of it", f->overruns,
	    f->overruns == 1 ? "" : "s");
	free(room);
}
