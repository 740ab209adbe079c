/*
 * The GPUs of an attempt as text: variables of its environment, arguments of
 * its supervisor, and the file `gpus` in its folder (one UUID per line), from
 * which a restarted server reads them.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/file.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/local/local-gpu-internal.h"
#include "trials/local/local-internal.h"

enum { FILE_MAX = 1 << 16 };

/* The GPUs of an attempt, as indices for gpualloc_at; to be freed. */
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
gpu_names_name_put(const struct local_gpu *g, const struct gpu_device *s,
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
		if (g->by_index && !slice && !local_mps_serves(g, s))
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
		gpu_names_name_put(g, v.seen, name, b);
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
