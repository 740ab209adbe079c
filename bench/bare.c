/*
 * The floor of the overhead row: a bare loop that spawns a program through the
 * same supervisor, so many at a time, and waits for each.  No store, no
 * decisions.
 *
 *	bare N PARALLEL FOLDER PROGRAM [ARGUMENT ...]
 */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "trials/backend.h"

struct bare {
	const struct backend_type *type;
	void *ctx;
	struct loop *loop;
	struct study_trial settings;
	char **argv;
	const char *folder;
	int n, parallel, started, ended;
	int *slots; /* trial in each, 0 = free */
};

static void
start_one(struct bare *b, int slot)
{
	char *none[] = { NULL }, uuid[64];
	struct err e = ERR_INIT;
	char *dir = xasprintf("%s/trials/%d", b->folder, ++b->started);
	struct launch_spec spec = {
		.trial = b->started,
		.attempt = 1,
		.slot = slot,
		.study = "bare",
		.uuid = uuid,
		.trial_dir = dir,
		.argv = b->argv,
		.env = none,
		.params_json = "{}",
		.settings = &b->settings,
	};

	(void)snprintf(
	    uuid, sizeof uuid, "00000000-0000-4000-8000-%012d", b->started);
	b->slots[slot] = b->started;
	if (b->type->start(b->ctx, &spec, &e) != 0) {
		fprintf(stderr, "bare: %s\n", e.text);
		exit(1);
	}
	free(dir);
}

static void
on_event(void *arg, const struct launch_event *ev)
{
	struct bare *b = arg;
	int i;

	if (ev->kind != LAUNCH_EXIT && ev->kind != LAUNCH_LOST)
		return;
	b->ended++;
	for (i = 0; i < b->parallel; i++)
		if (b->slots[i] == ev->trial)
			b->slots[i] = 0;
}

static void
on_turn(void *arg)
{
	struct bare *b = arg;
	int i;

	b->type->collect(b->ctx);
	for (i = 0; i < b->parallel && b->started < b->n; i++)
		if (b->slots[i] == 0)
			start_one(b, i);
	if (b->ended == b->n)
		loop_stop(b->loop);
}

static double
now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int
bare_run(struct bare *b, struct err *e)
{
	struct launch_env env = { .study = "bare",
		.metric = "v",
		.state_dir = b->folder,
		.settings = &b->settings,
		.parallel = b->parallel,
		.event = on_event,
		.arg = b };
	struct option_value *options;

	b->type = backend_type_find("local");
	if (plugin_options_read(&options, b->type->options, NULL, NULL, e) !=
		0 ||
	    loop_open(&b->loop, LOOP_REAL, e) != 0)
		return -1;
	env.loop = b->loop;
	env.options = options;
	if (b->type->open(&b->ctx, &env, e) != 0)
		return -1;
	loop_run(b->loop, on_turn, b);
	b->type->close(b->ctx);
	loop_close(b->loop);
	plugin_options_free(options);
	return 0;
}

int
main(int argc, char **argv)
{
	struct bare b = { 0 };
	struct err e = ERR_INIT;
	char *none[] = { NULL };
	double began = now();

	if (argc < 5) {
		fputs("usage: bare N PARALLEL FOLDER PROGRAM [ARGUMENT ...]\n",
		    stderr);
		return 2;
	}
	b.n = atoi(argv[1]);
	b.parallel = atoi(argv[2]);
	b.folder = argv[3];
	b.argv = argv + 4;
	b.slots = xcalloc((size_t)b.parallel, sizeof *b.slots);
	b.settings = (struct study_trial){ .workdir = argv[3],
		.env = none,
		.pass_env = none,
		.grace_ms = 1000,
		.cpus = 0 };
	if (bare_run(&b, &e) != 0) {
		fprintf(stderr, "bare: %s\n", e.text);
		return 1;
	}
	printf("%.3f\n", now() - began);
	free(b.slots);
	return 0;
}
