/* Curves in memory, and their readers: CSV, and TensorBoard event files. */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "src/replay/curve-csv.h"
#include "src/replay/curve-events.h"
#include "src/replay/curve-file.h"
#include "src/replay/curve-weights.h"

#define STRETCH_MAX 1000000000 /* of study_axis_step */

/* Both arrays grow at powers of two. */
static bool
curve_file_is_full(size_t n)
{
	return (n & (n - 1)) == 0;
}

struct curve_file_curve *
curve_file_begin(struct curve_file *b)
{
	if (curve_file_is_full(b->n))
		b->curves =
		    xreallocarray(b->curves, b->n * 2 + 1, sizeof(*b->curves));
	b->curves[b->n] = (struct curve_file_curve){ .weight = 1 };
	return &b->curves[b->n++];
}

static void
curve_file_lengthen(
    struct curve_file *b, const struct curve_file_curve *c, int64_t step)
{
	int64_t before = c->n > 0 ? c->steps[c->n - 1] : step, more = 0;

	if (step > before && (b->interval == 0 || step - before < b->interval))
		b->interval = step - before;
	b->from_zero = b->from_zero || (c->n == 0 && step == 0);
	b->last_step = step > b->last_step ? step : b->last_step;
	if (b->from_zero)
		more = b->interval > 0 ? b->interval : 1;
	b->max_steps =
	    b->last_step <= INT64_MAX - more ? b->last_step + more : INT64_MAX;
}

void
curve_file_stretch_one(
    const struct curve_file *b, struct curve_file_curve *c, int64_t own)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		c->steps[i] = study_axis_step(b->max_steps, own, c->steps[i]);
}

int
curve_file_stretch(struct curve_file *b, const char *path, struct err *e)
{
	int64_t more = b->max_steps - b->last_step;
	struct curve_file_curve *c;
	size_t i;

	if (b->max_steps > STRETCH_MAX)
		return err_set(e, ERR_USAGE,
		    "%s: steps go to %lld: at most %d can be compared by "
		    "shares",
		    path, (long long)b->last_step, STRETCH_MAX);
	for (i = 0; i < b->n; i++) {
		c = &b->curves[i];
		if (c->n > 0)
			curve_file_stretch_one(b, c, c->steps[c->n - 1] + more);
	}
	return 0;
}

int64_t
curve_file_last_step(const struct curve_file *b)
{
	return b->last_step < b->max_steps ? b->last_step : 0;
}

void
curve_file_report(struct curve_file *b, struct curve_file_curve *c,
    int64_t step, double value)
{
	curve_file_lengthen(b, c, step);
	if (curve_file_is_full(c->n)) {
		c->steps =
		    xreallocarray(c->steps, c->n * 2 + 1, sizeof(*c->steps));
		c->values =
		    xreallocarray(c->values, c->n * 2 + 1, sizeof(*c->values));
	}
	c->steps[c->n] = step;
	c->values[c->n++] = value;
}

/* The number of reports of the longest curve. */
static size_t
most_reports(const struct curve_file *b)
{
	size_t i, most = 0;

	for (i = 0; i < b->n; i++)
		most = b->curves[i].n > most ? b->curves[i].n : most;
	return most;
}

int
curve_file_load(
    struct curve_file *b, const char *path, const char *metric, struct err *e)
{
	struct stat st;
	int rc;

	*b = (struct curve_file){ 0 };
	if (stat(path, &st) == -1)
		return err_set(e, ERR_USAGE, "%s: %s", path, strerror(errno));
	rc = S_ISDIR(st.st_mode) ? curve_events_read(b, path, metric, e)
				 : curve_csv_read(b, path, metric, e);
	if (rc == 0 && !S_ISDIR(st.st_mode))
		rc = curve_weights_read(b, path, e);
	if (rc == 0 && b->n == 0)
		rc = err_set(e, ERR_USAGE, "%s: no curves", path);
	else if (rc == 0 && most_reports(b) < 2)
		rc = err_set(e, ERR_USAGE,
		    "%s: each trial has one report: there is nothing that a "
		    "rule could save",
		    path);
	if (rc == -1)
		curve_file_free(b);
	return rc;
}

void
curve_file_free(struct curve_file *b)
{
	size_t i;

	for (i = 0; i < b->n; i++) {
		free(b->curves[i].steps);
		free(b->curves[i].values);
	}
	free(b->curves);
	*b = (struct curve_file){ 0 };
}
