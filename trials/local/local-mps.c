/*
 * A share of a GPU through NVIDIA MPS, when its daemon runs: each trial gets a
 * share of the cores and, if declared, of the memory.  The daemon is never
 * started from here.
 */

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/local/local-gpu-internal.h"
#include "trials/local/local-internal.h"

/* Whether the daemon runs; its folder alone is not enough. */
static bool
mps_lives(const char *dir)
{
	char *control = xasprintf("%s/control", dir);
	char *file = xasprintf("%s/nvidia-cuda-mps-control.pid", dir);
	int fd = file_open_user(file);
	FILE *f = fd != -1 ? fdopen(fd, "r") : NULL;
	bool lives = access(control, F_OK) == 0;
	char path[64];
	int pid;

	if (f != NULL) {
		if (fscanf(f, "%d", &pid) == 1) {
			(void)snprintf(path, sizeof path, "/proc/%d", pid);
			lives = lives && access(path, F_OK) == 0;
		}
		(void)fclose(f);
	}
	free(control);
	free(file);
	return lives;
}

/* The folder of the daemon of this GPU alone, else of all of them, or NULL. */
static char *
mps_find(const struct gpu_device *s, bool *alone)
{
	const char *base = getenv("CUDA_MPS_PIPE_DIRECTORY");
	char *dir;

	if (base == NULL || *base == '\0')
		base = "/tmp/nvidia-mps";
	*alone = true;
	dir = xasprintf("%s-%d", base, s->index);
	if (mps_lives(dir))
		return dir;
	free(dir);
	dir = xasprintf("%s-%s", base, s->uuid);
	if (mps_lives(dir))
		return dir;
	free(dir);
	*alone = false;
	if (mps_lives(base))
		return xstrdup(base);
	return NULL;
}

/* Whether the options ask for sharing through MPS when it runs. */
static bool
mps_is_wanted(const struct local_gpu *g)
{
	return g->gpus != NULL && g->mps && !g->simulated &&
	       g->per_trial == 1 && g->share > 1;
}

bool
local_mps_serves(const struct local_gpu *g, const struct gpu_device *s)
{
	bool alone;
	char *dir = mps_is_wanted(g) ? mps_find(s, &alone) : NULL;

	if (dir == NULL)
		return false;
	free(dir);
	return true;
}

static void
mps_note(struct local_gpu *g, size_t i, const char *dir, bool alone)
{
	struct gpualloc_view v;
	char text[400];

	if (i >= g->n_shown || g->shown[i].noted_mps)
		return;
	g->shown[i].noted_mps = true;
	gpualloc_at(g->gpus, i, &v);
	(void)snprintf(text, sizeof text,
	    "trials share GPU %d through MPS (%.200s)%s", v.seen->index, dir,
	    alone ? ""
		  : "; its daemon serves all GPUs, so a fault of one trial "
		    "can end those on others: run one per GPU, with folders "
		    "that end in -INDEX");
	local_gpu_poll_note(
	    g, !alone && gpualloc_count(g->gpus) > 1, 0, 0, text);
}

char **
local_mps_options(
    const struct local *l, const char *key, const struct study_trial *t)
{
	struct local_gpu *g = l->gpus;
	struct strv words = { 0 };
	struct gpualloc_view v;
	size_t at;
	bool alone;
	char *dir;

	if (!mps_is_wanted(g) || gpualloc_of(g->gpus, key, &at) != 1)
		return NULL;
	gpualloc_at(g->gpus, at, &v);
	dir = mps_find(v.seen, &alone);
	if (dir == NULL)
		return NULL;
	strv_add(&words, xasprintf("CUDA_MPS_PIPE_DIRECTORY=%s", dir));
	strv_add(&words, xasprintf("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=%d",
			     (100 + g->share - 1) / g->share));
	/* CUDA sees only this GPU, as number 0. */
	if (t->gpu_memory > 0)
		strv_add(&words,
		    xasprintf("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=%lldM",
			(long long)(t->gpu_memory >> 20)));
	mps_note(g, at, dir, alone);
	free(dir);
	return words.v;
}
