/*
 * Event files of TensorBoard (src/base/tfevents.h).
 *
 * add_hparams of SummaryWriter writes results of the run, at its end and at step
 * 0, into a folder of their own.  They would replace the first point of a curve
 * of this name, so they are held back to the end of the trial, and passed over
 * where the metric has a curve.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/tfevents.h"
#include "trials/metric-files/metric-files-internal.h"

enum { HELD_MAX = 256, NAMES_MAX = 4096 };

static const char hparams[] = "_hparams_/";

/* A result that was held back. */
struct held {
	char *name;
	int64_t step, time_us;
	double value;
};

struct events {
	bool is_results; /* it has records of add_hparams */
	bool is_curve; /* a tag came twice: they are no results */
	struct held *held;
	size_t n_held, cap_held;
	char **names; /* sorted: metrics that were reported */
	size_t n_names, cap_names;
};

static bool
metric_events_fits(const char *name)
{
	return metric_search_is_events(name);
}

static void
metric_events_forget(struct events *s)
{
	while (s->n_held > 0)
		free(s->held[--s->n_held].name);
}

static void
metric_events_clear(void *state)
{
	struct events *s = state;
	size_t i;

	metric_events_forget(s);
	for (i = 0; i < s->n_names; i++)
		free(s->names[i]);
	free(s->names);
	free(s->held);
	free(s);
}

/* Where the name is, or would be. */
static size_t
metric_events_place(const struct events *s, const char *name, bool *found)
{
	size_t low = 0, high = s->n_names, mid;
	int order;

	*found = false;
	while (low < high) {
		mid = low + (high - low) / 2;
		order = strcmp(s->names[mid], name);
		if (order == 0) {
			*found = true;
			return mid;
		}
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void
metric_events_remember(struct events *s, const char *name)
{
	bool found;
	size_t at = metric_events_place(s, name, &found);

	if (found || s->n_names == NAMES_MAX)
		return;
	XGROW(s->names, s->n_names, s->cap_names);
	memmove(s->names + at + 1, s->names + at,
	    (s->n_names++ - at) * sizeof *s->names);
	s->names[at] = xstrdup(name);
}

static void
metric_events_report(struct metric_file *f, const struct held *h)
{
	metric_events_remember(f->state, h->name);
	metric_files_report(f, h->name, h->step, h->value, h->time_us);
}

/* Results have one value each: with a second one, they are a curve after all. */
static void
metric_events_release(struct metric_file *f)
{
	struct events *s = f->state;
	size_t i;

	s->is_curve = true;
	for (i = 0; i < s->n_held; i++)
		metric_events_report(f, &s->held[i]);
	metric_events_forget(s);
}

static bool
metric_events_is_held(const struct events *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->n_held; i++)
		if (strcmp(s->held[i].name, name) == 0)
			return true;
	return false;
}

static void
metric_events_value(struct metric_file *f, const struct held *h)
{
	struct events *s = f->state;

	if (s->is_results && f->below && !s->is_curve &&
	    (s->n_held == HELD_MAX || metric_events_is_held(s, h->name)))
		metric_events_release(f);
	if (!s->is_results || !f->below || s->is_curve) {
		metric_events_report(f, h);
		return;
	}
	XGROW(s->held, s->n_held, s->cap_held);
	s->held[s->n_held] = *h;
	s->held[s->n_held++].name = xstrdup(h->name);
}

/*
 * An event from before the attempt was written by an earlier one.  Some programs
 * write whole seconds, without their fraction.
 */
static bool
metric_events_is_old(int64_t time_us, int64_t since_us)
{
	const int64_t second = 1000000;

	return time_us != 0 &&
	       time_us + (time_us % second == 0 ? second : 0) < since_us;
}

static void
metric_events_scalar(void *arg, const struct tfevents_scalar *s)
{
	char room[METRIC_LINE_NAME_MAX + 1], copy[METRIC_LINE_NAME_MAX + 1];
	struct metric_file *f = arg;
	const char *name;

	if (metric_events_is_old(s->time_us, metric_files_since(f)))
		return;
	name = metric_files_name(f, s->tag, s->tag_len, room);
	if (name == NULL)
		return;
	(void)strncpy(copy, name, sizeof copy - 1);
	copy[sizeof copy - 1] = '\0';
	metric_events_value(
	    f, &(const struct held){ copy, s->step, s->time_us, s->value });
}

/*
 * A record with a wrong checksum may be half written on a shared file system:
 * only after the end of the trial it is passed over.
 */
static size_t
metric_events_read(
    struct metric_file *f, const char *bytes, size_t n, bool final)
{
	struct tfevents_record record;
	struct events *s;
	size_t at = 0;

	if (f->state == NULL)
		f->state = xcalloc(1, sizeof *s);
	s = f->state;
	for (;;) {
		switch (tfevents_record_read(&record, bytes + at, n - at)) {
		case TFEVENTS_RECORD:
			s->is_results |=
			    memmem(record.data, record.len, hparams,
				sizeof hparams - 1) != NULL;
			(void)tfevents_scalars(
			    record.data, record.len, metric_events_scalar, f);
			break;
		case TFEVENTS_SHORT:
			f->need = record.size;
			return at;
		case TFEVENTS_BAD_DATA:
			if (!final)
				return at;
			metric_file_note(f, "a damaged record was skipped");
			break;
		case TFEVENTS_BAD_LENGTH:
			if (final)
				metric_file_note(f,
				    "it is damaged: the rest of it is not "
				    "read");
			f->over = final;
			return at;
		}
		at += (size_t)record.size;
	}
}

/* Results whose metric has no curve are all that there is of it. */
static void
metric_events_end(struct metric_file *f)
{
	struct events *s = f->state;
	size_t i;

	for (i = 0; s != NULL && i < s->n_held; i++)
		if (!metric_files_has_name(f, s->held[i].name))
			metric_files_report(f, s->held[i].name, s->held[i].step,
			    s->held[i].value, s->held[i].time_us);
	if (s != NULL)
		metric_events_forget(s);
}

static bool
metric_events_has_name(const struct metric_file *f, const char *name)
{
	bool found = false;

	if (f->state != NULL)
		(void)metric_events_place(f->state, name, &found);
	return found;
}

const struct metric_reader metric_events = {
	.word = "tensorboard",
	.has_folders = true,
	.fits = metric_events_fits,
	.read = metric_events_read,
	.end = metric_events_end,
	.has_name = metric_events_has_name,
	.clear = metric_events_clear,
};
