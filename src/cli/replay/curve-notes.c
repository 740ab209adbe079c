/* Notes on curves whose figures would have no meaning. */

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/search.h"
#include "src/cli/replay/curve-notes.h"
#include "src/replay/curve-file.h"

/* Fewer curves decide nothing about how often a best trial is lost. */
enum { CURVES_FEW = 20 };

void
curve_notes_put_few(struct buf *notes, size_t trials, const char *path)
{
	if (trials > 0 && trials < CURVES_FEW)
		buf_printf(notes,
		    "%s: it has %zu trials: figures from fewer than %d "
		    "are not reliable\n",
		    path, trials, CURVES_FEW);
}

void
curve_notes_put_single(
    struct buf *notes, size_t trials, size_t reports, const char *path)
{
	if (trials > 0 && reports <= trials)
		buf_printf(notes,
		    "%s: each trial has one report: there is nothing that a "
		    "rule could save\n",
		    path);
}

/* The best value of a curve; NaN = none. */
static double
curve_best(const struct curve_file_curve *c, bool maximize)
{
	double best = NAN, v;
	size_t i;

	for (i = 0; i < c->n; i++) {
		v = maximize ? -c->values[i] : c->values[i];
		if (isfinite(v) && !(best <= v))
			best = v;
	}
	return best;
}

static void
notes_results(struct buf *notes, const struct curve_file *b, bool maximize,
    const char *path)
{
	double least = INFINITY, most = -INFINITY, best;
	size_t i, n = 0;

	for (i = 0; i < b->n; i++) {
		best = curve_best(&b->curves[i], maximize);
		if (!isfinite(best))
			continue;
		n++;
		least = best < least ? best : least;
		most = best > most ? best : most;
	}
	if (n == 0)
		buf_printf(notes, "%s: no value is finite\n", path);
	else if (n > 1 && !(least < most))
		buf_printf(notes,
		    "%s: all trials have the same best value: none can be "
		    "lost\n",
		    path);
}

static void
notes_steps(struct buf *notes, const struct curve_file *b, const char *path)
{
	int64_t *last = xcalloc(b->n + 1, sizeof *last), middle;
	size_t i, n = 0;

	for (i = 0; i < b->n; i++)
		if (b->curves[i].n > 0)
			last[n++] = b->curves[i].steps[b->curves[i].n - 1];
	qsort(last, n, sizeof *last, search_by_int64);
	middle = n > 0 ? last[n / 2] : 0;
	if (n > 0 && middle < b->last_step / 2)
		buf_printf(notes,
		    "%s: its steps go to %lld, but half of the trials end at "
		    "%lld or before: shares of max_steps are shares of %lld, "
		    "with "
		    "--own-steps of each\n",
		    path, (long long)b->last_step, (long long)middle,
		    (long long)b->max_steps);
	free(last);
}

void
curve_notes_put(struct buf *notes, const struct curve_file *b, bool maximize,
    const char *path)
{
	curve_notes_put_few(notes, b->n, path);
	notes_results(notes, b, maximize, path);
	notes_steps(notes, b, path);
}
