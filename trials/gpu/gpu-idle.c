/*
 * Warning about idle GPUs: a mean over a moving window, stored as marks at a
 * tenth of its length, so that memory is bounded.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "trials/gpu/gpu-idle.h"

/* longest gap between two samples that counts as covered */
#define GAP_MS 30000

void
gpu_idle_begin(struct gpu_idle *g, int64_t window_ms)
{
	*g = (struct gpu_idle){ .window_ms = window_ms > 0 ? window_ms : 0 };
}

static struct gpu_idle_mark *
mark_at(struct gpu_idle *g, size_t i)
{
	return &g->marks[(g->first + i) % GPU_IDLE_MARKS];
}

static void
mark_add(struct gpu_idle *g, const struct gpu_idle_mark *now)
{
	const struct gpu_idle_mark *last;

	if (g->n > 0) {
		last = mark_at(g, g->n - 1);
		/* The driver was silent: this is no news. */
		if (now->seen == last->seen)
			return;
		/* The counters were reset: earlier values are useless. */
		if (now->busy < last->busy || now->seen < last->seen ||
		    now->ms < last->ms)
			g->n = 0;
		else if (now->ms - last->ms < g->window_ms / 10)
			return;
	}
	if (g->n == GPU_IDLE_MARKS) {
		g->first = (g->first + 1) % GPU_IDLE_MARKS;
		g->n--;
	}
	*mark_at(g, g->n++) = *now;
}

/* The newest mark at least a window old is the oldest that stays; or NULL. */
static const struct gpu_idle_mark *
window_begin(struct gpu_idle *g, int64_t now_ms)
{
	while (g->n > 1 && now_ms - mark_at(g, 1)->ms >= g->window_ms) {
		g->first = (g->first + 1) % GPU_IDLE_MARKS;
		g->n--;
	}
	if (g->n == 0 || now_ms - mark_at(g, 0)->ms < g->window_ms)
		return NULL;
	return mark_at(g, 0);
}

/* Whether no gap between two marks exceeds half the window (or GAP_MS). */
static bool
window_seen(struct gpu_idle *g, int64_t now_ms)
{
	int64_t next, gap;
	size_t i;

	for (i = 0; i < g->n; i++) {
		next = i + 1 < g->n ? mark_at(g, i + 1)->ms : now_ms;
		gap = next - mark_at(g, i)->ms;
		if (gap > g->window_ms / 2 && gap > GAP_MS)
			return false;
	}
	return true;
}

/* "10 minutes" */
static void
duration_words(int64_t ms, char *text, size_t n)
{
	static const struct {
		int64_t ms;
		const char *name;
	} units[] = { { 86400000, "day" }, { 3600000, "hour" },
		{ 60000, "minute" }, { 1000, "second" } };
	size_t i = 0;
	int64_t many;

	while (i < 3 && ms % units[i].ms != 0)
		i++;
	many = (ms + units[i].ms / 2) / units[i].ms;
	(void)snprintf(text, n, "%" PRId64 " %s%s", many, units[i].name,
	    many == 1 ? "" : "s");
}

bool
gpu_idle_update(struct gpu_idle *g, int gpus, double busy, double seen,
    int64_t now_ms, char *text, size_t n)
{
	struct gpu_idle_mark now = { now_ms, busy, seen };
	const struct gpu_idle_mark *from;
	char words[40], whose[32] = "its GPU has";
	double percent;

	if (g->window_ms == 0 || g->noted || gpus < 1 || isnan(busy) ||
	    isnan(seen))
		return false;
	mark_add(g, &now);
	from = window_begin(g, now_ms);
	if (from == NULL || !window_seen(g, now_ms) || seen <= from->seen)
		return false;
	percent = 100 * (busy - from->busy) / (seen - from->seen);
	if (!(percent < GPU_IDLE_PERCENT))
		return false;
	g->noted = true;
	if (gpus > 1)
		(void)snprintf(whose, sizeof whose, "its %d GPUs have", gpus);
	duration_words(g->window_ms, words, sizeof words);
	(void)snprintf(text, n, "%s been used %.0f %% for %s", whose,
	    floor(percent), words);
	return true;
}
