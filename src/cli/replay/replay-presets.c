/*
 * Which of the rules by kind of run suits some curves: of those that do not
 * certainly lose the best trial too often, the one that saves most.
 */

#include <math.h>
#include <stdbool.h>

#include "src/base/mem.h"
#include "src/cli/replay/replay-presets.h"
#include "src/replay/replay.h"

const char *const replay_presets[] = { "begun", "short", "careful", NULL };

/* A rule certainly loses too many when its interval begins above this share. */
static const double lost_most = 0.02;

static const double two_sided = 1.959964; /* of the normal distribution, 95 % */

/* What one rule comes to, after second looks. */
struct preset {
	double saved, error; /* mean, and half of its interval */
	double low, high; /* of the share of studies that lose the best trial */
};

static struct preset
preset_of(const struct replay_sum *s)
{
	double n = (double)s->studies, mean = s->looked.saved / n;
	double spread = s->looked.saved_squares / n - mean * mean;
	struct preset p = { .saved = mean };

	if (n > 1 && spread > 0)
		p.error = two_sided * sqrt(spread / (n - 1));
	replay_lost_interval(s, &p.low, &p.high);
	return p;
}

/* The one that saves most of those that may be used, else that loses least. */
static size_t
preset_choose(const struct preset *p, size_t n)
{
	size_t best = 0, i;
	bool safe, before;

	for (i = 1; i < n; i++) {
		safe = p[i].low <= lost_most;
		before = p[best].low <= lost_most;
		if (safe != before ? safe
		    : safe	   ? p[i].saved > p[best].saved
				   : p[i].low < p[best].low)
			best = i;
	}
	return best;
}

void
replay_presets_put(struct buf *out, const struct replay_sum *sums, size_t n)
{
	struct preset p[8];
	size_t best, i;
	bool told = true;

	if (n < 2 || n > sizeof p / sizeof *p)
		return;
	for (i = 0; i < n; i++) {
		if (sums[i].studies == 0)
			return;
		p[i] = preset_of(&sums[i]);
	}
	best = preset_choose(p, n);
	for (i = 0; i < n; i++)
		told = told && (i == best || p[i].low > lost_most ||
				   p[i].saved + p[i].error <
				       p[best].saved - p[best].error);
	buf_printf(out, "\n%s suits these curves best%s:\n",
	    replay_presets[best],
	    told ? "" : ", but not certainly: intervals overlap");
	for (i = 0; i < n; i++)
		buf_printf(out,
		    "  %s saves %.1f to %.1f %% and loses the best trial in "
		    "%.3f to %.3f of such studies\n",
		    replay_presets[i], 100 * (p[i].saved - p[i].error),
		    100 * (p[i].saved + p[i].error), p[i].low, p[i].high);
}
