/*
 * Steps of reports whose library does not print those of the trial.
 *
 * A line of transformers.Trainer has an epoch, its place, and is counted.  What
 * earlier attempts have reported is read from the database: the place of a report
 * is the value of the next report of the metric that names it, "epoch", since the
 * reports of a line are recorded together and this one last.
 *
 * XGBoost numbers the rounds of a continued training from 0 again, as it does those
 * of a training that begins anew.  They are told apart by the first value: it is near
 * the last one of the earlier attempts, or near their first one.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/engine/attempts/attempt-steps.h"
#include "src/store/store.h"
#include "trials/backend.h"

/* Four digits of an epoch, as transformers prints it. */
#define PLACE_SAME 5e-4

struct place {
	double at;
	int64_t step;
};

/* The places of one metric. */
struct attempt_places {
	struct place *list; /* by at, then by step */
	size_t n, cap;
	int64_t most; /* the greatest step */
	bool begun; /* the open attempt has reported */
	struct place last; /* by it */
};

/* Reports of a metric, as they were recorded. */
struct series {
	struct store_report *list;
	size_t n, cap;
};

static int
on_series(void *arg, const struct store_report *one)
{
	struct series *s = arg;

	XGROW(s->list, s->n, s->cap);
	s->list[s->n++] = *one;
	return 0;
}

static void
series_read(
    const struct attempt_steps_of *of, const char *name, struct series *s)
{
	*s = (struct series){ 0 };
	/* A failure of the store ends the turn. */
	(void)store_walk_series(of->store, of->trial, name, on_series, s, NULL);
}

void
attempt_steps_free(struct attempt_places *p)
{
	if (p == NULL)
		return;
	free(p->list);
	free(p);
}

static bool
place_before(const struct place *a, const struct place *b)
{
	return a->at < b->at || (a->at == b->at && a->step < b->step);
}

static void
places_add(struct attempt_places *p, double at, int64_t step)
{
	struct place one = { at, step };
	size_t i = p->n;

	if (step > p->most)
		p->most = step;
	XGROW(p->list, p->n, p->cap);
	for (; i > 0 && place_before(&one, &p->list[i - 1]); i--)
		p->list[i] = p->list[i - 1];
	p->list[i] = one;
	p->n++;
}

/* The reports of earlier attempts, and of this one before a restart. */
static void
places_read(const struct attempt_steps_of *of, const char *place_name,
    struct attempt_places *p)
{
	struct series mine, places;
	size_t i, k = 0;

	series_read(of, of->metric, &mine);
	series_read(of, place_name, &places);
	for (i = 0; i < mine.n; i++) {
		while (k < places.n && places.list[k].seq < mine.list[i].seq)
			k++;
		if (k == places.n ||
		    places.list[k].attempt != mine.list[i].attempt ||
		    !isfinite(places.list[k].value))
			continue;
		places_add(p, places.list[k].value, mine.list[i].step);
		if (mine.list[i].attempt != of->attempt)
			continue;
		p->begun = true;
		p->last =
		    (struct place){ places.list[k].value, mine.list[i].step };
	}
	free(mine.list);
	free(places.list);
}

/*
 * The step that was reported at this place: the first one behind after, else with
 * replaces the last one; -1 = none.
 */
static int64_t
attempt_steps_places_find(
    const struct attempt_places *p, double at, int64_t after, bool replaces)
{
	int64_t last = -1;
	size_t i;

	for (i = p->n; i > 0 && p->list[i - 1].at >= at; i--)
		;
	for (; i < p->n && p->list[i].at == at; i++) {
		if (p->list[i].step > after)
			return p->list[i].step;
		last = p->list[i].step;
	}
	return replaces ? last : -1;
}

/* The next step behind the places up to this one. */
static int64_t
places_next(const struct attempt_places *p, double at)
{
	int64_t step = p->begun ? p->last.step : 0;
	size_t i;

	if (p->n > 0 && at > p->list[p->n - 1].at)
		return p->most + 1;
	for (i = p->n; i > 0 && p->list[i - 1].at > at; i--)
		;
	if (i > 0 && p->list[i - 1].step > step)
		step = p->list[i - 1].step;
	return step + 1;
}

int64_t
attempt_steps_of_place(struct attempt_places **places,
    const struct attempt_steps_of *of, const struct launch_event *ev)
{
	double at = ev->u.report.place;
	bool replaces = ev->u.report.replaces;
	struct attempt_places *p = *places;
	int64_t step;

	if (p == NULL) {
		p = *places = xcalloc(1, sizeof *p);
		if (of->attempt > 1 || of->restored)
			places_read(of, ev->u.report.place_name, p);
	}
	if (replaces && p->begun &&
	    fabs(at - p->last.at) <= PLACE_SAME * fabs(at)) {
		/* The place itself is recorded behind what stands there. */
		if (strcmp(of->metric, ev->u.report.place_name) != 0)
			return -1;
		step = p->last.step;
	} else {
		step = attempt_steps_places_find(
		    p, at, p->begun ? p->last.step : 0, replaces);
		if (step == -1)
			step = places_next(p, at);
	}
	if (attempt_steps_places_find(p, at, step - 1, false) != step)
		places_add(p, at, step);
	p->begun = true;
	p->last = (struct place){ at, step };
	return step;
}

/* What earlier attempts have reported of a metric, and this one. */
struct past {
	bool begun; /* this attempt */
	int64_t least; /* … its least step */
	size_t n; /* of earlier attempts */
	struct store_report first, last; /* by step */
	size_t n_equal; /* reports of this value; the last of them: */
	int64_t equal;
};

static void
past_read(const struct attempt_steps_of *of, double value, struct past *p)
{
	const struct store_report *one;
	struct series s;
	size_t i;

	*p = (struct past){ 0 };
	series_read(of, of->metric, &s);
	for (i = 0; i < s.n; i++) {
		one = &s.list[i];
		if (one->attempt == of->attempt) {
			if (!p->begun || one->step < p->least)
				p->least = one->step;
			p->begun = true;
			continue;
		}
		if (p->n == 0 || one->step < p->first.step)
			p->first = *one;
		if (p->n++ == 0 || one->step >= p->last.step)
			p->last = *one;
		if (one->value == value) {
			p->n_equal++;
			p->equal = one->step;
		}
	}
	free(s.list);
}

/* Whether an attempt whose first value this is goes on from the earlier ones. */
static bool
past_goes_on(const struct past *p, double value)
{
	double first = fabs(value - p->first.value);

	if (p->n == 0 || value == p->first.value)
		return false;
	if (p->first.step == p->last.step)
		return first > 1e-3 * fabs(p->first.value);
	return fabs(value - p->last.value) < first;
}

struct attempt_steps_again
attempt_steps_begin(
    const struct attempt_steps_of *of, const struct launch_event *ev)
{
	struct attempt_steps_again again = { 0 };
	int64_t first = ev->u.report.first;
	struct past p;

	if (of->attempt == 1)
		return again;
	past_read(of, ev->u.report.value, &p);
	/* An earlier server has decided. */
	if (p.begun) {
		again.offset = p.least > first ? p.least - first : 0;
		return again;
	}
	if (ev->u.report.step != first || first > p.first.step ||
	    !past_goes_on(&p, ev->u.report.value))
		return again;
	again.near = p.last.step;
	/* A step that the checkpoint did not have is reported again. */
	again.offset = (p.n_equal == 1 ? p.equal : p.last.step + 1) - first;
	return again;
}
