/* Summaries of a curve at a report. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/history/history.h"
#include "strategies/stop/median/curve-summary.h"

static bool
curve_summary_counts(
    const struct curve_summary_rule *r, const struct curve *c, size_t i)
{
	if (r->infinite ? isnan(curve_value(c, i))
			: !isfinite(curve_value(c, i)))
		return false;
	if (r->kind == SUMMARY_MEAN_FROM)
		return curve_step(c, i) >= r->from;
	if (r->kind == SUMMARY_MEAN_FIRST)
		return i < r->count;
	return true;
}

/* Summed anew each time, so that equal windows give equal means. */
static double
window_mean(const struct curve_summary_rule *r, const struct curve *c, size_t i)
{
	double sum = 0, width = ceil(r->share * (double)(i + 1));
	size_t k, used = 0, n = width < 1 ? 1 : (size_t)width;

	for (k = n > i ? 0 : i + 1 - n; k <= i; k++)
		if (isfinite(curve_value(c, k))) {
			sum += curve_value(c, k);
			used++;
		}
	return used > 0 ? sum / (double)used : NAN;
}

static double
recent_best(const struct curve *c, size_t i)
{
	double best = NAN, v;
	size_t k;

	for (k = 0; k < CURVE_SUMMARY_RECENT && k <= i; k++) {
		v = curve_value(c, i - k);
		if (isfinite(v) && !(best <= v))
			best = v;
	}
	return best;
}

double
curve_summary_next(struct curve_summary_run *run,
    const struct curve_summary_rule *r, const struct curve *c)
{
	size_t i = run->n++;
	double v = curve_value(c, i);

	if (r->kind == SUMMARY_LAST)
		return v;
	if (r->kind == SUMMARY_WINDOW)
		return window_mean(r, c, i);
	if (r->kind == SUMMARY_RECENT)
		return recent_best(c, i);
	if (curve_summary_counts(r, c, i)) {
		run->best = run->used == 0 || v < run->best ? v : run->best;
		run->sum += v;
		run->used++;
	}
	if (run->used == 0)
		return NAN;
	return r->kind == SUMMARY_BEST ? run->best
				       : run->sum / (double)run->used;
}

double
curve_summary_at(
    const struct curve_summary_rule *r, const struct curve *c, size_t i)
{
	struct curve_summary_run run = { 0 };
	double v = NAN;

	if (r->kind == SUMMARY_LAST)
		return curve_value(c, i);
	if (r->kind == SUMMARY_WINDOW)
		return window_mean(r, c, i);
	if (r->kind == SUMMARY_RECENT)
		return recent_best(c, i);
	while (run.n <= i)
		v = curve_summary_next(&run, r, c);
	return v;
}

bool
curve_summary_parse(struct curve_summary_rule *r, const char *text)
{
	static const char window[] = "window:";

	*r = (struct curve_summary_rule){ .kind = SUMMARY_LAST };
	if (strcmp(text, "last") == 0)
		return true;
	if (strcmp(text, "best") == 0)
		r->kind = SUMMARY_BEST;
	else if (strcmp(text, "recent") == 0)
		r->kind = SUMMARY_RECENT;
	else if (strcmp(text, "mean") == 0)
		r->kind = SUMMARY_MEAN;
	else if (strncmp(text, window, sizeof(window) - 1) == 0) {
		r->kind = SUMMARY_WINDOW;
		r->share = strtod(text + sizeof(window) - 1, NULL) / 100;
		return r->share > 0 && r->share <= 1;
	} else
		return false;
	return true;
}

const char *
curve_summary_text(const struct curve_summary_rule *r)
{
	switch (r->kind) {
	case SUMMARY_LAST:
		return "";
	case SUMMARY_BEST:
		return "best";
	case SUMMARY_RECENT:
		return "recent best";
	case SUMMARY_MEAN:
	case SUMMARY_MEAN_FROM:
	case SUMMARY_MEAN_FIRST:
		return "mean";
	case SUMMARY_WINDOW:
		return "recent mean";
	}
	return "";
}
