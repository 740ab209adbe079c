/*
 * The local backend with simulated GPUs: the assignment, one attempt at a
 * time.
 */

#include <stdlib.h>

#include "tests/support/local-backend.h"
#include "tests/support/tap.h"
#include "trials/local/local-internal.h"

/* What an attempt was told, by one variable. */
static const char *
told(struct local_backend *rig, int64_t trial, const char *name)
{
	static char value[128];
	char path[128], *text, *at;

	(void)snprintf(
	    path, sizeof path, "%s/env%lld", rig->dir, (long long)trial);
	text = local_rig_text(path);
	(void)snprintf(path, sizeof path, "\n%s=", name);
	at = text != NULL ? strstr(text, path) : NULL;
	(void)snprintf(value, sizeof value, "%s", "(unset)");
	if (at != NULL) {
		at += strlen(path);
		(void)snprintf(
		    value, sizeof value, "%.*s", (int)strcspn(at, "\n"), at);
	}
	free(text);
	return value;
}

/* Start a trial that says where it is, and stays until a file is there. */
static int
stay(struct local_backend *rig, int64_t trial)
{
	char script[256];

	(void)snprintf(script, sizeof script,
	    "(echo; env) >new%lld && mv new%lld env%lld\n"
	    "echo hpotune: step=1 a=1\n"
	    "while ! test -e go%lld; do sleep 0.01; done",
	    (long long)trial, (long long)trial, (long long)trial,
	    (long long)trial);
	return local_rig_sh(rig, trial, script);
}

static void
touch(const struct local_backend *rig, const char *name)
{
	char path[128];
	FILE *f;

	(void)snprintf(path, sizeof path, "%s/%s", rig->dir, name);
	f = fopen(path, "w");
	if (f != NULL)
		(void)fclose(f);
}

static void
go(struct local_backend *rig, int64_t trial)
{
	char path[128];

	(void)snprintf(path, sizeof path, "go%lld", (long long)trial);
	touch(rig, path);
	local_rig_until(rig, local_rig_over, trial);
}

static bool
is_ready(struct local_backend *rig, int64_t arg)
{
	char why[160];

	(void)arg;
	return backend_local.ready(rig->ctx, 0, why, sizeof why);
}

static void
test_names(void)
{
	struct local_backend rig;
	char *text;

	local_rig_open(&rig, "{\"gpus\": {\"simulate\": 3}}");
	is_int(stay(&rig, 1), 0, "an attempt takes a GPU");
	is_int(stay(&rig, 2), 0, "a second attempt takes a GPU");
	local_rig_until(&rig, local_rig_reported, 1);
	local_rig_until(&rig, local_rig_reported, 2);
	is_str(told(&rig, 1, "HPOTUNE_GPU_UUIDS"), "SIM-0", "the first");
	is_str(told(&rig, 1, "HPOTUNE_GPU_INDICES"), "0",
	    "HPOTUNE_GPU_INDICES of the first attempt");
	is_str(told(&rig, 2, "HPOTUNE_GPU_UUIDS"), "SIM-1",
	    "HPOTUNE_GPU_UUIDS of the second attempt");
	is_str(told(&rig, 2, "CUDA_VISIBLE_DEVICES"), "",
	    "a simulated one is not a real one");
	is_str(told(&rig, 2, "CUDA_DEVICE_ORDER"), "PCI_BUS_ID",
	    "CUDA_DEVICE_ORDER is set");
	is_str(told(&rig, 2, "SM_NUM_GPUS"), "1", "SM_NUM_GPUS is set");
	local_rig_until(&rig, local_rig_is_up, 2);
	ok(strstr(rig.trial[2].place, " gpu 1") != NULL, "its place has it");
	text = local_rig_text(local_rig_path(&rig, 2, "gpus"));
	is_str(text, "SIM-1\n", "a file keeps it");
	free(text);
	go(&rig, 1);
	go(&rig, 2);
	ok(rig.gpus >= 3, "each GPU was reported");
	is_int(rig.trial[1].usages, 2, "what it used: at once, and at its end");
	is_int(rig.trial[1].usage.gpus, 1, "of one GPU");
	local_rig_close(&rig);
}

static void
test_full(void)
{
	struct err e = ERR_INIT;
	char *argv[] = { "true", NULL };
	struct launch_spec spec;
	struct local_backend rig;

	local_rig_open(&rig, "{\"gpus\": {\"simulate\": 4}}");
	rig.settings.gpus = 2;
	local_rig_restart(&rig);
	stay(&rig, 1);
	stay(&rig, 2);
	local_rig_until(&rig, local_rig_reported, 1);
	local_rig_until(&rig, local_rig_reported, 2);
	is_str(told(&rig, 1, "HPOTUNE_GPU_INDICES"), "0,1", "two GPUs");
	is_str(told(&rig, 2, "HPOTUNE_GPU_INDICES"), "2,3", "and two more");
	ok(!is_ready(&rig, 0), "there is no room for a third");
	spec = local_rig_spec(&rig, 3, argv);
	is_int(backend_local.start(rig.ctx, &spec, &e), -1, "it cannot start");
	is_int(e.kind, ERR_BUSY, "for now");
	go(&rig, 1);
	ok(local_rig_until(&rig, is_ready, 0), "when one ends there is room");
	stay(&rig, 3);
	local_rig_until(&rig, local_rig_reported, 3);
	is_str(told(&rig, 3, "HPOTUNE_GPU_INDICES"), "0,1", "its GPUs, again");
	go(&rig, 2);
	go(&rig, 3);
	local_rig_close(&rig);
}

static void
test_bookings(void)
{
	struct local_backend rig;
	char uuid[64];

	local_rig_open(&rig, "{\"gpus\": {\"simulate\": 1}}");
	(void)snprintf(uuid, sizeof uuid, "%s", local_rig_uuid(1, 1));
	ok(backend_local.take(rig.ctx, 1, 1, 0, uuid), "a GPU is kept");
	ok(!is_ready(&rig, 0), "no other attempt can get it");
	ok(!backend_local.take(rig.ctx, 2, 1, 1, local_rig_uuid(2, 1)),
	    "or keep it");
	stay(&rig, 1);
	local_rig_until(&rig, local_rig_reported, 1);
	is_str(told(&rig, 1, "HPOTUNE_GPU_UUIDS"), "SIM-0", "it gets it");
	go(&rig, 1);
	local_rig_until(&rig, is_ready, 0);
	ok(backend_local.take(rig.ctx, 2, 1, 1, local_rig_uuid(2, 1)),
	    "kept again");
	ok(local_rig_until(&rig, is_ready, 0),
	    "and free again without a start");
	local_rig_close(&rig);
}

/* The ledger is in the folders. */
static void
test_restart(void)
{
	struct err e = ERR_INIT;
	struct local_backend rig;

	local_rig_open(&rig, "{\"gpus\": {\"simulate\": 3}}");
	stay(&rig, 1);
	stay(&rig, 2);
	local_rig_until(&rig, local_rig_reported, 1);
	local_rig_until(&rig, local_rig_reported, 2);
	go(&rig, 1);
	local_rig_restart(&rig);
	is_int(local_rig_look(&rig, 2, &e), ADOPT_ALIVE, "one lives on");
	is_int(local_rig_look(&rig, 1, &e), ADOPT_ENDED, "one had ended");
	stay(&rig, 3);
	local_rig_until(&rig, local_rig_reported, 3);
	local_rig_until(&rig, is_ready, 0);
	stay(&rig, 4);
	local_rig_until(&rig, local_rig_reported, 4);
	is_str(told(&rig, 3, "HPOTUNE_GPU_INDICES"), "2",
	    "what lives keeps its GPU, what ended is looked at first");
	is_str(told(&rig, 4, "HPOTUNE_GPU_INDICES"), "0", "and then free");
	go(&rig, 2);
	go(&rig, 3);
	go(&rig, 4);
	is_int(rig.trial[2].exits, 1, "its event arrives");
	local_rig_close(&rig);
}

/* Two on one GPU: the second when the first has reported. */
static void
test_shared(void)
{
	struct local_backend rig;

	local_rig_open(
	    &rig, "{\"gpus\": {\"simulate\": 1}, \"trials_per_gpu\": 2}");
	local_rig_sh(&rig, 1,
	    "while ! test -e talk; do sleep 0.01; done\n"
	    "echo hpotune: a=1; while ! test -e go1; do sleep 0.01; done");
	local_rig_until(&rig, local_rig_is_up, 1);
	ok(!is_ready(&rig, 0), "no second trial beside one that settles");
	touch(&rig, "talk");
	ok(local_rig_until(&rig, is_ready, 0), "when it has reported, one may");
	stay(&rig, 2);
	local_rig_until(&rig, local_rig_reported, 2);
	is_str(told(&rig, 2, "HPOTUNE_GPU_UUIDS"), "SIM-0", "they share it");
	ok(!is_ready(&rig, 0), "and no third");
	go(&rig, 1);
	go(&rig, 2);
	local_rig_close(&rig);
}

/* A command that is not there is no reason to keep a GPU. */
static void
test_never(void)
{
	char *argv[] = { "no-such-program-here", NULL };
	struct launch_spec spec;
	struct err e = ERR_INIT;
	struct local_backend rig;

	local_rig_open(&rig, "{\"gpus\": {\"simulate\": 1}}");
	spec = local_rig_spec(&rig, 1, argv);
	(void)backend_local.start(rig.ctx, &spec, &e);
	ok(local_rig_until(&rig, local_rig_over, 1), "it cannot run");
	ok(local_rig_until(&rig, is_ready, 0), "its GPU is free");
	local_rig_close(&rig);
}

int
main(void)
{
	test_names();
	test_full();
	test_bookings();
	test_restart();
	test_shared();
	test_never();
	return done_testing();
}
