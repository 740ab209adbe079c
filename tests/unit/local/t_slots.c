/* Slots and GPUs: what the numbers of a study mean on this machine. */

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/local-backend.h"
#include "tests/support/tap.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"

/* Open a backend anew with these numbers: slots, or -1. */
static int
slots(struct local_backend *rig, int64_t gpus, int64_t cpus, int64_t parallel,
    struct err *e)
{
	if (rig->ctx != NULL)
		backend_local.close(rig->ctx);
	rig->ctx = NULL;
	rig->settings.gpus = gpus;
	rig->settings.cpus = cpus;
	rig->parallel = parallel;
	if (local_rig_backend_open(rig, e) == -1)
		return -1;
	return backend_local.slots(rig->ctx);
}

static void
test_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	struct err e = ERR_INIT;
	struct local_backend rig;

	local_rig_open(&rig, "{\"gpus\": 0}");
	is_int(slots(&rig, -1, 0, 0, &e), n, "one trial per core");
	is_int(slots(&rig, -1, n, 0, &e), 1, "or per so many");
	is_int(slots(&rig, -1, 1000 * n, 0, &e), 1, "but one at least");
	is_int(slots(&rig, 0, 0, 77, &e), 77, "limits.parallel is obeyed");
	is_int(slots(&rig, 1, 0, 0, &e), -1, "a GPU too many is an error");
	is_int(e.kind, ERR_LAUNCH, "for the server to say where");
	is_str(e.text, "a trial needs 1, but this machine has 0",
	    "which states what there is");
	local_rig_close(&rig);
}

/* Last: a hard limit does not go up again. */
static void
test_files(void)
{
	struct rlimit few = { .rlim_cur = 100, .rlim_max = 200 };
	struct err e = ERR_INIT;
	struct local_backend rig;

	local_rig_open(&rig, "{\"gpus\": 0}");
	ok(setrlimit(RLIMIT_NOFILE, &few) == 0, "a limit on open files");
	is_int(slots(&rig, 0, 0, 10, &e), 10, "few files are enough for ten");
	ok(slots(&rig, 0, 0, 60, &e) > 10, "the soft limit is raised");
	ok(slots(&rig, 0, 0, 60, &e) < 60,
	    "no more trials at once than the hard limit has files for");
	local_rig_close(&rig);
}

static void
test_gpus(void)
{
	struct err e = ERR_INIT;
	struct local_backend rig;

	local_rig_open(&rig, "{\"gpus\": {\"simulate\": 4}}");
	is_int(slots(&rig, -1, 0, 0, &e), 4, "one trial per GPU");
	is_int(slots(&rig, 2, 0, 0, &e), 2, "two GPUs per trial");
	is_int(slots(&rig, 3, 0, 0, &e), 1, "three: one GPU is left over");
	is_int(slots(&rig, 1, 0, 2, &e), 2, "limits.parallel bounds it");
	is_int(slots(&rig, 1, 0, 9, &e), 4, "and makes no GPUs");
	is_int(slots(&rig, 0, 0, 9, &e), 9, "a trial without GPUs gets cores");
	is_int(slots(&rig, 5, 0, 0, &e), -1, "five of four are too many");
	is_str(e.text, "a trial needs 5, but this machine has 4",
	    "it reports this");
	local_rig_close(&rig);

	local_rig_open(&rig,
	    "{\"gpus\": {\"simulate\": 2, \"memory\": \"8GiB\"}, "
	    "\"trials_per_gpu\": 3}");
	is_int(slots(&rig, 1, 0, 0, &e), 6, "three trials on each of two");
	rig.settings.gpu_memory = INT64_C(3) << 30;
	is_int(slots(&rig, 1, 0, 0, &e), 4, "two, where no more have room");
	rig.settings.gpu_memory = INT64_C(9) << 30;
	is_int(slots(&rig, 2, 0, 0, &e), -1, "more than any has");
	is_str(e.text,
	    "a trial declares 9.0 GiB of memory on each of 2, but 0 of the 2 "
	    "here have that (the largest 8.0 GiB)",
	    "which it reports");
	local_rig_close(&rig);
}

/* A look at so many GPUs, or none, of which some were lent to us. */
static const char *
found(int present, const char *visible)
{
	static char text[128];
	struct local_gpu_request w = { 0 };
	size_t i;

	text[0] = '\0';
	gpu_snapshot_simulate(&w.look, present, 1 << 30);
	for (i = 0; i < w.look.n; i++)
		(void)snprintf(
		    w.look.gpus[i].uuid, GPU_UUID, "GPU-%zu0123456-%zu", i, i);
	local_gpu_request_visible(&w, visible);
	for (i = 0; i < w.n_only; i++)
		(void)snprintf(text + strlen(text), sizeof text - strlen(text),
		    "%.5s ", w.only[i]);
	local_gpu_request_free(&w);
	return text;
}

static void
test_visible(void)
{
	is_str(found(0, "0,1"), "", "none where there are none");
	is_str(found(8, "3,GPU-50123456-5"), "GPU-3 GPU-5 ",
	    "GPUs of CUDA_VISIBLE_DEVICES by index and by UUID");
	is_str(found(8, "GPU-6012"), "GPU-6 ", "the beginning of a UUID");
	is_str(
	    found(8, "GPU-"), "", "a prefix that all UUIDs have selects none");
	is_str(found(8, ""), "", "none when none were lent");
	is_str(found(8, "1,-1,2"), "GPU-1 ", "a bad word ends the list");
	is_str(found(2, "1,1,0"), "GPU-1 GPU-0 ", "each once, in their order");
}

int
main(void)
{
	test_cpus();
	test_gpus();
	test_visible();
	test_files();
	return done_testing();
}
