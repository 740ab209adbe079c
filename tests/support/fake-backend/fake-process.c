/*
 * The backends of a program in which "far" is an additional one.  Files in
 * $FAR_DIR control it, and its calls are written to "calls" there:
 *
 *	id-STUDY: the study's id in tags (written)
 *	jobs: lines NAME STUDY ID UUID STATE ("-" is a missing tag)
 *	none: while it exists, no attempt gets a machine
 *	slow: while it exists, no stop is acknowledged
 *	end: stopped jobs have ended
 *	done-TRIAL: that trial has ended, when the file has its cost
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "tests/support/fake-backend/fake-backend.h"

enum { LOOK_MS = 20 };

extern const struct backend_type backend_local, backend_pretend;

static struct backend_type process;
const struct backend_type *const backend_types[] = { &backend_local,
	&backend_pretend, &process, NULL };

/* The attempts that the tuner waits for. */
static struct job {
	int64_t trial;
	int attempt;
	bool up, stop, told, over;
} jobs[FAKE_BACKEND_MAX];
static size_t n_jobs;
static struct loop_timer *timer;

const struct backend_type *
backend_type_find(const char *name)
{
	size_t i;

	for (i = 0; backend_types[i] != NULL; i++)
		if (strcmp(backend_types[i]->name, name) == 0)
			return backend_types[i];
	return NULL;
}

static FILE *
fake_process_file(const char *name, const char *mode)
{
	const char *dir = getenv("FAR_DIR");
	char *path = xasprintf("%s/%s", dir != NULL ? dir : ".", name);
	FILE *f = fopen(path, mode);

	free(path);
	return f;
}

static bool
there(const char *name)
{
	FILE *f = fake_process_file(name, "r");

	return f != NULL && fclose(f) == 0;
}

static void
called(const char *what, const char *name, int64_t number)
{
	FILE *f = fake_process_file("calls", "a");

	if (f == NULL)
		return;
	(void)fprintf(f, "%s %s%lld\n", what, name, (long long)number);
	(void)fclose(f);
}

/* A file that is still empty is about to be written. */
static bool
job_done(const struct job *j, double *cost)
{
	char name[32];
	bool done;
	FILE *f;

	(void)snprintf(name, sizeof name, "done-%lld", (long long)j->trial);
	if ((f = fake_process_file(name, "r")) == NULL)
		return false;
	done = fscanf(f, "%lf", cost) == 1;
	(void)fclose(f);
	return done;
}

static void
job_look(struct job *j)
{
	double cost;

	if (there("none") && !j->up) {
		fake_backend_exit(&far, j->trial, j->attempt,
		    (struct launch_exit){
			.end = END_CAPACITY, .priced = true, .billed = true });
		j->over = true;
		return;
	}
	if (!j->up)
		fake_backend_up(&far, j->trial, j->attempt, 0);
	j->up = true;
	j->told = j->told || (j->stop && !there("slow"));
	if (j->told && there("end")) {
		fake_backend_exit(&far, j->trial, j->attempt,
		    (struct launch_exit){
			.ran = true, .stopped = true, .signal = 15 });
		j->over = true;
	} else if (job_done(j, &cost)) {
		fake_backend_report(
		    &far, j->trial, j->attempt, 1, cost, 1000000);
		fake_backend_exit(&far, j->trial, j->attempt,
		    (struct launch_exit){ .ran = true,
			.priced = true,
			.billed = true,
			.billable_s = 1,
			.cost = cost });
		j->over = true;
	}
}

static void
on_timer(void *arg)
{
	size_t i;

	(void)arg;
	far.pending = 0;
	for (i = 0; i < n_jobs; i++) {
		if (!jobs[i].over)
			job_look(&jobs[i]);
		far.pending += jobs[i].stop && !jobs[i].told && !jobs[i].over;
	}
	loop_timer_set(timer, LOOK_MS);
}

static int
process_open(void **ctx, const struct launch_env *env, struct err *e)
{
	char name[64];
	FILE *f;

	(void)snprintf(name, sizeof name, "id-%s", env->study);
	if ((f = fake_process_file(name, "w")) != NULL) {
		(void)fputs(env->study_id, f);
		(void)fclose(f);
	}
	timer = loop_timer_new(env->loop, on_timer, NULL);
	loop_timer_set(timer, LOOK_MS);
	return backend_far.open(ctx, env, e);
}

static void
process_close(void *ctx)
{
	loop_timer_free(timer);
	backend_far.close(ctx);
}

static void
job_add(const struct launch_spec *spec)
{
	jobs[n_jobs++] = (struct job){
		.trial = spec->trial, .attempt = spec->attempt, .up = spec->up
	};
}

static int
process_start(void *ctx, const struct launch_spec *spec, struct err *e)
{
	(void)ctx;
	(void)e;
	job_add(spec);
	called("start", "", spec->trial);
	return 0;
}

static enum launch_adoption
process_look(void *ctx, const struct launch_spec *spec, struct err *e)
{
	(void)ctx;
	(void)e;
	job_add(spec);
	return ADOPT_ALIVE;
}

static void
process_stop(void *ctx, int64_t trial, int attempt, bool now)
{
	size_t i;

	(void)ctx;
	(void)now;
	for (i = 0; i < n_jobs; i++)
		if (jobs[i].trial == trial && jobs[i].attempt == attempt &&
		    !jobs[i].over && !jobs[i].stop) {
			jobs[i].stop = true;
			far.pending++;
			called("stop", "", trial);
		}
}

static int
process_strays(
    const struct launch_env *env, launch_stray_cb *cb, void *arg, struct err *e)
{
	char word[5][64], *tag[5];
	FILE *f = fake_process_file("jobs", "r");
	struct launch_stray j;
	int i;

	(void)env;
	if (f == NULL)
		return err_set(e, ERR_REMOTE, "the far side cannot be asked");
	while (fscanf(f, "%63s %63s %63s %63s %63s", word[0], word[1], word[2],
		   word[3], word[4]) == 5) {
		for (i = 0; i < 5; i++)
			tag[i] = strcmp(word[i], "-") == 0 ? NULL : word[i];
		j = (struct launch_stray){ .name = tag[0],
			.study = tag[1],
			.study_id = tag[2],
			.uuid = tag[3],
			.state = tag[4],
			.place = "far-1",
			.started_us = 1000000 };
		if (cb(arg, &j))
			called("end", j.name, 0);
	}
	(void)fclose(f);
	return 0;
}

static int
process_doctor(const struct launch_env *env, launch_doctor_cb *cb, void *arg,
    struct err *e)
{
	char *text = xasprintf("known to %s", env->study);

	(void)e;
	cb(arg, LAUNCH_INFO, "far credentials", text, NULL);
	cb(arg, there("none") ? LAUNCH_ERROR : LAUNCH_WARNING, "far machines",
	    "few", "ask for more");
	free(text);
	return 0;
}

static void __attribute__((constructor)) process_make(void)
{
	process = backend_far;
	process.open = process_open;
	process.close = process_close;
	process.start = process_start;
	process.adopt = process_look;
	process.stop = process_stop;
	process.strays = process_strays;
	process.doctor = process_doctor;
}
