/*
 * Which of the rules by kind of run suits some curves: of those that do not
 * certainly lose the best trial too often, the one that saves most.
 */

#include <math.h>
#include <stdbool.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/replay/curve-file.h"
#include "src/replay/replay-presets.h"
#include "src/replay/replay.h"

const char *const replay_presets[] = { "begun", "short", "careful", NULL };

/* A rule certainly loses too many when its interval begins above this share. */
static const double lost_most = 0.02;

enum {
	PRESETS = 3,
	OWN_STUDIES = 20, /* drawn from the curves of a study */
	OWN_WORKERS = 8,
	OWN_TRIALS = 100
};

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

/*
 * The rules from their sums; returns the best one, or -1 where a rule was not run.
 * told: its interval is beyond those of the others.
 */
static int
presets_compare(
    struct preset *p, const struct replay_sum *sums, size_t n, bool *told)
{
	size_t best, i;

	for (i = 0; i < n; i++) {
		if (sums[i].studies == 0)
			return -1;
		p[i] = preset_of(&sums[i]);
	}
	best = preset_choose(p, n);
	*told = true;
	for (i = 0; i < n; i++)
		*told = *told && (i == best || p[i].low > lost_most ||
				     p[i].saved + p[i].error <
					 p[best].saved - p[best].error);
	return (int)best;
}

void
replay_presets_put(struct buf *out, const struct replay_sum *sums, size_t n)
{
	struct preset p[PRESETS];
	bool told;
	int best;
	size_t i;

	if (n != PRESETS || (best = presets_compare(p, sums, n, &told)) < 0)
		return;
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

int
replay_presets_of_study(struct buf *out, struct store *store,
    void (*turn)(void *arg), void *arg, struct err *e)
{
	struct replay_plan plan = { .workers = OWN_WORKERS,
		.trials = OWN_TRIALS,
		.seeds = OWN_STUDIES,
		.seed = 1,
		.turn = turn,
		.turn_arg = arg };
	struct replay_sum sums[PRESETS] = { 0 };
	struct err unused = ERR_INIT;
	struct preset p[PRESETS];
	struct curve_file curves;
	struct replay_rule *rule;
	bool told;
	int i, best;

	if (replay_recorded_curves(&curves, &plan, store, e) != 0)
		return -1;
	for (i = 0; i < PRESETS; i++) {
		if (replay_rule_read(&rule, replay_presets[i], &unused) != 0)
			break;
		/* A rule that needs max_steps leaves its sums empty. */
		(void)replay_simulate(&sums[i], &curves, &plan, rule, &unused);
		replay_rule_free(rule);
	}
	curve_file_free(&curves);
	best = presets_compare(p, sums, PRESETS, &told);
	if (best >= 0)
		buf_printf(out,
		    "%s suits these curves best%s: it saves %.0f to %.0f %% "
		    "and loses the best trial in %.2f to %.2f of such studies",
		    replay_presets[best], told ? "" : ", but not certainly",
		    100 * (p[best].saved - p[best].error),
		    100 * (p[best].saved + p[best].error), p[best].low,
		    p[best].high);
	return 0;
}
