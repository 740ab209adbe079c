/*
 * The GPUs of an attempt as text: variables of its environment, arguments of
 * its supervisor, and the file `gpus` in its folder (one UUID per line), from
 * which a restarted server reads them.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/file.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/local/local-gpu-internal.h"
#include "trials/local/local-internal.h"

/* ---- a share of a GPU --------------------------------------------------- */

/*
 * Through NVIDIA MPS, when its daemon runs: each trial gets a share of the
 * cores and, if declared, of the memory.  The daemon is never started from
 * here.
 */

/* Whether the daemon runs; its folder alone is not enough. */
static bool
mps_lives(const char *dir)
{
	char *control = xasprintf("%s/control", dir);
	char *file = xasprintf("%s/nvidia-cuda-mps-control.pid", dir);
	FILE *f = fopen(file, "re");
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
is_wanted(const struct local_gpu *g)
{
	return g->gpus != NULL && g->mps && !g->simulated &&
	       g->per_trial == 1 && g->share > 1;
}

/* Whether trials share their GPUs through MPS. */
static bool
mps_serves(const struct local_gpu *g, const struct gpu_device *s)
{
	bool alone;
	char *dir = is_wanted(g) ? mps_find(s, &alone) : NULL;

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

	if (i >= g->n_told || g->told[i].noted_mps)
		return;
	g->told[i].noted_mps = true;
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
local_gpu_names_mps(
    const struct local *l, const char *key, const struct study_trial *t)
{
	struct local_gpu *g = l->gpus;
	struct strv words = { 0 };
	struct gpualloc_view v;
	size_t at;
	bool alone;
	char *dir;

	if (!is_wanted(g) || gpualloc_of(g->gpus, key, &at) != 1)
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

/* ---- its names ---------------------------------------------------------- */

enum { FILE_MAX = 1 << 16 };

/* Its GPUs, as indices for gpualloc_at; to be freed. */
static size_t *
mine(const struct local_gpu *g, const char *key, size_t *n)
{
	size_t *at = xcalloc((size_t)g->per_trial + 1, sizeof *at);

	*n = g->gpus != NULL ? gpualloc_of(g->gpus, key, at) : 0;
	return at;
}

const char *
local_gpu_key(struct local_gpu_key *key, const struct local *l, int slot,
    const char *uuid)
{
	if (l->pack.size > 0)
		(void)snprintf(key->text, sizeof key->text, "pack %d",
		    local_pack_place(l, slot));
	else
		(void)snprintf(key->text, sizeof key->text, "%s", uuid);
	return key->text;
}

size_t
local_gpu_names_count(const struct local *l, const char *key)
{
	size_t n;

	free(mine(l->gpus, key, &n));
	return n;
}

static void
name_put(const struct local_gpu *g, const struct gpu_device *s,
    enum local_gpu_name name, struct buf *b)
{
	bool slice = s->parent[0] != '\0';

	switch (name) {
	case LOCAL_GPU_UUID:
		buf_puts(b, s->uuid);
		break;
	case LOCAL_GPU_INDEX:
		if (slice)
			buf_puts(b, s->uuid);
		else
			buf_printf(b, "%d", s->index);
		break;
	case LOCAL_GPU_VISIBLE:
		/* Below MPS the device numbers differ. */
		if (g->by_index && !slice && !mps_serves(g, s))
			buf_printf(b, "%d", s->index);
		else
			buf_puts(b, s->uuid);
		break;
	}
}

void
local_gpu_names_put(const struct local *l, const char *key,
    enum local_gpu_name name, const char *comma, struct buf *b)
{
	const struct local_gpu *g = l->gpus;
	struct gpualloc_view v;
	size_t n, i, *at = mine(g, key, &n);

	/* A simulated one must not become a real one. */
	if (g->simulated && name == LOCAL_GPU_VISIBLE)
		n = 0;
	for (i = 0; i < n; i++) {
		gpualloc_at(g->gpus, at[i], &v);
		if (i > 0)
			buf_puts(b, comma);
		name_put(g, v.seen, name, b);
	}
	free(at);
}

const char *
local_gpu_names_cpus(const struct local *l, const char *key)
{
	const struct local_gpu *g = l->gpus;
	struct gpualloc_view v;
	size_t at;

	if (g->gpus == NULL || !g->bind || g->per_trial != 1 ||
	    gpualloc_of(g->gpus, key, &at) != 1)
		return "";
	gpualloc_at(g->gpus, at, &v);
	return v.seen->cpus;
}

struct local_gpu_lock_fds
local_gpu_names_lock_fds(const struct local *l, const char *key)
{
	const struct local_gpu *g = l->gpus;
	struct local_gpu_lock_fds locks = { 0 };
	size_t n, i, k, *at = mine(g, key, &n);
	struct gpualloc_view v;

	locks.fd = xcalloc(n + 1, sizeof *locks.fd);
	for (i = 0; i < n; i++) {
		gpualloc_at(g->gpus, at[i], &v);
		for (k = 0; k < g->n_locks && locks.n < n; k++)
			if (g->locks[k].fd != -1 &&
			    strcmp(g->locks[k].uuid, v.seen->uuid) == 0)
				locks.fd[locks.n++] = g->locks[k].fd;
	}
	free(at);
	return locks;
}

void
local_gpu_names_adopt(
    struct local *l, const struct launch_spec *spec, const char *dir)
{
	char *path, *text, *line, *save = NULL;
	const char **uuids = NULL;
	struct local_gpu_key key;
	size_t n = 0;

	(void)local_gpu_key(&key, l, spec->slot, spec->uuid);
	if (l->gpus->gpus == NULL || local_gpu_names_count(l, key.text) > 0)
		return;
	path = xasprintf("%s/gpus", dir);
	text = xcalloc(1, FILE_MAX + 1);
	(void)file_read(AT_FDCWD, path, text, FILE_MAX + 1);
	free(path);
	for (line = strtok_r(text, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		uuids = xreallocarray(uuids, n + 1, sizeof *uuids);
		uuids[n++] = line;
	}
	if (n > 0)
		gpualloc_adopt(l->gpus->gpus, key.text, spec->trial,
		    spec->attempt, uuids, n, loop_now_ms(l->loop));
	free(uuids);
	free(text);
}
