/*
 * Many runs at once: lines on the standard input start and stop them, lines on
 * the standard output report.  A run that is stopped, and every run when the
 * input ends or SIGTERM comes, leaves a checkpoint.
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/fashion-mnist/pack/job.h"
#include "examples/fashion-mnist/pack/lines.h"
#include "examples/fashion-mnist/pack/settings.h"

/* The trials that have a slot. */
struct seat {
	bool used;
	long trial, attempt;
	struct line line; /* owns the texts of the job's options */
	struct job job;
};

struct packed {
	const struct settings *settings;
	const struct options *common;
	struct machine *machine;
	struct lines lines;
	size_t places;
	struct seat *seat;
	struct job **jobs; /* those in training; of places */
};

static struct seat *
packed_find(struct packed *p, long trial)
{
	size_t i;

	for (i = 0; i < p->places; i++)
		if (p->seat[i].used && p->seat[i].trial == trial)
			return &p->seat[i];
	return NULL;
}

static struct seat *
packed_free(struct packed *p)
{
	size_t i;

	for (i = 0; i < p->places; i++)
		if (!p->seat[i].used)
			return &p->seat[i];
	return NULL;
}

static int
seat_end(struct seat *s, const char *why)
{
	int rc = line_end(s->trial, s->attempt, why);

	job_end(&s->job);
	line_free(&s->line);
	s->used = false;
	return rc;
}

/* The options of the command line, then those of the trial. */
static int
seat_options(const struct packed *p, struct seat *s, struct fail *f)
{
	const struct settings *set = p->settings;
	const struct options *common = p->common;
	struct options *o = &s->job.options;
	size_t i, argc = (size_t)set->argc;
	char **argv = mem_zero(argc + s->line.n + 1, sizeof *argv);
	int rc;

	for (i = 0; i < argc; i++)
		argv[i] = set->argv[i];
	for (i = 0; i < s->line.n; i++)
		argv[argc + i] = s->line.param[i];
	rc = plugin_options_read(o, (int)(argc + s->line.n), argv, f);
	free(argv);
	if (rc == -1)
		return -1;
	if (strcmp(o->data, common->data) != 0 ||
	    o->train_size != common->train_size ||
	    o->validation_size != common->validation_size)
		return fail_set(f, "packed trials have the same pictures: data,"
				   " train-size, validation-size");
	o->checkpoint_dir = s->line.checkpoint_dir;
	if (s->line.until > 0 && s->line.until < o->epochs)
		o->epochs = s->line.until;
	return 0;
}

/* Takes the line over. */
static int
packed_start(struct packed *p, struct line *l, struct fail *f)
{
	struct seat *s = packed_free(p);

	if (s == NULL || packed_find(p, l->trial) != NULL)
		return line_end(l->trial, l->attempt,
		    s == NULL ? "all places are taken" : "it runs already");
	memset(s, 0, sizeof *s);
	s->trial = l->trial;
	s->attempt = l->attempt;
	s->line = *l;
	memset(l, 0, sizeof *l);
	if (seat_options(p, s, f) == -1 ||
	    job_begin(&s->job, p->machine, (size_t)(s - p->seat), f) == -1) {
		line_free(&s->line);
		return line_end(s->trial, s->attempt, f->text);
	}
	s->used = true;
	return 0;
}

static int
packed_stop(struct packed *p, const struct line *l)
{
	struct seat *s = packed_find(p, l->trial);

	if (s == NULL || s->attempt != l->attempt)
		return 0;
	job_save(&s->job);
	return seat_end(s, NULL);
}

static int
packed_open(struct packed *p, long places, struct fail *f)
{
	char text[300];

	if (p->places > 0 || places < 1)
		return fail_set(f, "a greeting with %ld places", places);
	p->places = (size_t)places;
	p->seat = mem_zero(p->places, sizeof *p->seat);
	p->jobs = mem_zero(p->places, sizeof *p->jobs);
	if (machine_open(p->machine, p->common, p->places, NULL, f) == -1)
		return -1;
	snprintf(text, sizeof text, "%ld places on %s", places,
	    p->machine->kernels->device);
	return line_log(text);
}

static int
packed_take(struct packed *p, const char *text, struct fail *f)
{
	struct line l;
	int rc = 0;

	if (line_read(&l, text, f) == -1)
		return line_log(f->text);
	if (l.kind != LINE_HELLO && l.kind != LINE_NONE && p->places == 0)
		rc = fail_set(f, "the first message must be the greeting");
	else if (l.kind == LINE_HELLO)
		rc = packed_open(p, l.places, f);
	else if (l.kind == LINE_START)
		rc = packed_start(p, &l, f);
	else if (l.kind == LINE_STOP)
		rc = packed_stop(p, &l);
	line_free(&l);
	return rc;
}

static int
packed_hear(struct packed *p, bool wait, struct fail *f)
{
	char *text;
	int rc = 0;

	snprintf(
	    f->text, sizeof f->text, "the reader of the reports has exited");
	lines_hear(&p->lines, STDIN_FILENO, wait ? -1 : 0);
	while (rc == 0 && (text = lines_next(&p->lines)) != NULL) {
		rc = packed_take(p, text, f);
		free(text);
	}
	return rc;
}

/* The jobs of those seats for which it is time, into jobs; how many. */
static size_t
packed_pick(struct packed *p, bool (*time)(const struct job *))
{
	size_t i, n = 0;

	for (i = 0; i < p->places; i++)
		if (p->seat[i].used && time(&p->seat[i].job))
			p->jobs[n++] = &p->seat[i].job;
	return n;
}

static bool
job_measurable(const struct job *j)
{
	return job_at_epoch(j) && !j->measured &&
	       j->place->epoch < (uint64_t)j->options.epochs;
}

static bool
job_trains(const struct job *j)
{
	return !job_done(j);
}

/* Reports of all trials whose epoch has ended, evaluated together. */
static int
packed_report(struct packed *p, struct fail *f)
{
	size_t i, n = packed_pick(p, job_measurable);
	struct job_report *r;
	const struct seat *s;
	int rc;

	if (n == 0)
		return 0;
	r = mem_zero(n, sizeof *r);
	rc = jobs_measure(p->jobs, n, r, f);
	for (i = 0; rc == 0 && i < n; i++) {
		s = &p->seat[p->jobs[i]->slot];
		rc = line_report(s->trial, s->attempt, &r[i]);
		if (rc == -1)
			fail_set(f, "the reader of the reports has exited");
	}
	free(r);
	return rc;
}

/* With many networks a checkpoint after each epoch would take longer than the
 * epochs do: they are written at the end, and now and then. */
static int
packed_save(struct packed *p, struct fail *f)
{
	struct seat *s;
	size_t i;

	for (i = 0; i < p->places; i++) {
		s = &p->seat[i];
		if (!s->used)
			continue;
		if (!job_done(&s->job)) {
			job_save_in_time(&s->job);
			continue;
		}
		job_save(&s->job);
		if (seat_end(s, NULL) == -1)
			return fail_set(
			    f, "the reader of the reports has exited");
	}
	return 0;
}

/* Reports and ends of what is done, also of what came so from a checkpoint; then
 * a moment of training for everyone. */
static int
packed_train(struct packed *p, struct fail *f)
{
	size_t n;

	if (packed_report(p, f) == -1 || packed_save(p, f) == -1)
		return -1;
	if ((n = packed_pick(p, job_trains)) == 0)
		return 0;
	return jobs_advance(p->jobs, n, f);
}

static bool
packed_idle(const struct packed *p)
{
	size_t i;

	for (i = 0; i < p->places; i++)
		if (p->seat[i].used)
			return false;
	return true;
}

static void
packed_leave(struct packed *p)
{
	size_t i;

	for (i = 0; i < p->places; i++) {
		if (!p->seat[i].used)
			continue;
		job_save(&p->seat[i].job);
		job_end(&p->seat[i].job);
		line_free(&p->seat[i].line);
	}
	free(p->seat);
	free(p->jobs);
	lines_free(&p->lines);
}

int
packed_run(const struct settings *s, const struct options *o, struct machine *m,
    struct fail *f)
{
	struct packed p = { .settings = s, .common = o, .machine = m };
	int rc = 0;

	signal(SIGPIPE, SIG_IGN);
	while (rc == 0 && !*s->signal) {
		rc = packed_hear(&p, packed_idle(&p), f);
		if (p.lines.over)
			break;
		if (rc == 0 && !*s->signal)
			rc = packed_train(&p, f);
	}
	packed_leave(&p);
	return rc;
}
