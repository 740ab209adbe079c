/* Places and GPUs: what the numbers of a study mean on this machine. */

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/local-rig.h"
#include "tests/tap.h"
#include "trials/local.h"

/* Open a launcher anew with these numbers: slots, or -1. */
static int
slots(struct rig *rig, int64_t gpus, int64_t cpus, int64_t parallel,
    struct err *e)
{
	if (rig->ctx != NULL)
		launcher_local.close(rig->ctx);
	rig->ctx = NULL;
	rig->settings.gpus = gpus;
	rig->settings.cpus = cpus;
	rig->parallel = parallel;
	if (rig_launcher_open(rig, e) == -1)
		return -1;
	return launcher_local.slots(rig->ctx);
}

static void
is_slot(struct rig *rig, int slot, const char *want)
{
	char text[64];

	launcher_local.slot_name(rig->ctx, slot, text, sizeof text);
	is_str(text, want, want);
}

static void
test_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	struct err e = ERR_INIT;
	struct rig rig;

	rig_open(&rig, "{\"gpus\": 0}");
	is_int(slots(&rig, -1, 0, 0, &e), n, "one trial per core");
	is_int(slots(&rig, -1, n, 0, &e), 1, "or per so many");
	is_int(slots(&rig, -1, 1000 * n, 0, &e), 1, "but one at least");
	is_int(slots(&rig, 0, 0, 77, &e), 77, "limits.parallel is obeyed");
	is_slot(&rig, 76, "cpu");
	is_int(slots(&rig, 1, 0, 0, &e), -1, "a GPU too many is an error");
	is_int(e.kind, ERR_LAUNCH, "for the server to say where");
	is_str(e.text, "a trial wants 1, but there are 0 here",
	    "which says what there is");
	rig_close(&rig);
}

/* Last: a hard limit does not go up again. */
static void
test_files(void)
{
	struct rlimit few = { .rlim_cur = 100, .rlim_max = 200 };
	struct err e = ERR_INIT;
	struct rig rig;

	rig_open(&rig, "{\"gpus\": 0}");
	ok(setrlimit(RLIMIT_NOFILE, &few) == 0, "a limit on open files");
	is_int(slots(&rig, 0, 0, 10, &e), 10, "few files are enough for ten");
	ok(slots(&rig, 0, 0, 60, &e) > 10, "the soft limit is raised");
	ok(slots(&rig, 0, 0, 60, &e) < 60,
	    "no more trials at once than the hard limit has files for");
	rig_close(&rig);
}

static void
test_gpus(void)
{
	struct err e = ERR_INIT;
	struct rig rig;

	rig_open(&rig, "{\"gpus\": 4}");
	is_int(slots(&rig, -1, 0, 0, &e), 4, "one trial per GPU");
	is_slot(&rig, 0, "gpu 0");
	is_slot(&rig, 3, "gpu 3");
	is_int(slots(&rig, 2, 0, 0, &e), 2, "two GPUs per trial");
	is_slot(&rig, 1, "gpu 2,3");
	is_int(slots(&rig, 3, 0, 0, &e), 1, "three: one GPU is left over");
	is_slot(&rig, 0, "gpu 0,1,2");
	is_int(slots(&rig, 1, 0, 2, &e), 2, "limits.parallel bounds it");
	is_int(slots(&rig, 1, 0, 9, &e), 4, "and makes no GPUs");
	rig_close(&rig);

	rig_open(&rig,
	    "{\"gpus\": [\"GPU-aa\", \"GPU-bb\"], \"trials_per_gpu\": 2}");
	is_int(slots(&rig, 1, 0, 0, &e), 4, "two trials on each of two");
	is_slot(&rig, 0, "gpu GPU-aa");
	is_slot(&rig, 1, "gpu GPU-bb");
	is_slot(&rig, 2, "gpu GPU-aa");
	rig_close(&rig);
}

/* The names that "auto" finds, joined. */
static const char *
found(size_t present, const char *visible)
{
	static char text[64];
	struct local_gpus g = { 0 };
	size_t i;

	text[0] = '\0';
	local_gpus_auto(&g, present, visible);
	for (i = 0; i < g.n; i++) {
		(void)snprintf(text + strlen(text), sizeof text - strlen(text),
		    "%s ", g.name[i]);
		free(g.name[i]);
	}
	free(g.name);
	return text;
}

static void
test_auto(void)
{
	is_str(found(3, NULL), "0 1 2 ", "auto: all there are");
	is_str(found(0, "0,1"), "", "none where there is no driver");
	is_str(found(8, "3,GPU-aa"), "3 GPU-aa ", "those we were lent");
	is_str(found(8, ""), "", "none when none were");
	is_str(found(8, "1,-1,2"), "1 ", "a bad word ends the list");
}

static void
test_environment(void)
{
	struct rig rig;
	char path[128], *text;

	rig_open(&rig, "{\"gpus\": [\"GPU-aa\", \"GPU-bb\"]}");
	rig.slot = 1;
	rig_sh(&rig, 1, "env >env1");
	rig_until(&rig, rig_over, 1);
	(void)snprintf(path, sizeof path, "%s/env1", rig.dir);
	text = rig_text(path);
	ok(strstr(text, "CUDA_VISIBLE_DEVICES=GPU-bb\n") != NULL,
	    "a trial sees its GPU alone");
	ok(strstr(text, "SM_NUM_GPUS=1\n") != NULL, "and how many");
	ok(strstr(rig.trial[1].place, " gpu GPU-bb") != NULL,
	    "its place names it");
	free(text);
	rig_close(&rig);
}

int
main(void)
{
	test_cpus();
	test_gpus();
	test_auto();
	test_environment();
	test_files();
	return done_testing();
}
