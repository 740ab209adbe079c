/* Reads the words of CUDA_VISIBLE_DEVICES. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "trials/gpu/gpu-snapshot.h"
#include "trials/gpu/gpu-visible.h"

enum {
	PREFIX_LEAST = 8, /* of a UUID: "GPU-" and four more */
	WORD_SHOWN = 80 /* characters of a wrong word */
};

const struct gpu_device *
gpu_visible_find(const struct gpu_snapshot *look, const char *name, size_t len)
{
	const struct gpu_device *found = NULL, *g;
	char index[16];
	size_t i;

	for (i = 0; i < look->n; i++) {
		g = &look->gpus[i];
		(void)snprintf(index, sizeof index, "%d", g->index);
		if (strlen(index) == len && strncmp(index, name, len) == 0)
			return g;
		if (strncmp(g->uuid, name, len) != 0)
			continue;
		if (g->uuid[len] == '\0')
			return g;
		/* Two with the same beginning are none. */
		if (len >= PREFIX_LEAST && found != NULL)
			return NULL;
		if (len >= PREFIX_LEAST)
			found = g;
	}
	return found;
}

/* As gpu_visible_list; *bad: the first word that names none, or NULL. */
static size_t
gpu_visible_read(const struct gpu_snapshot *look, const char *visible,
    const struct gpu_device **list, const char **bad)
{
	const struct gpu_device *g;
	size_t len, i, n = 0;

	*bad = NULL;
	for (; *visible != '\0'; visible += len + (visible[len] == ',')) {
		len = strcspn(visible, ",");
		g = gpu_visible_find(look, visible, len);
		/* As CUDA reads it: nothing counts from a bad word on. */
		if (g == NULL) {
			*bad = visible;
			return n;
		}
		for (i = 0; i < n && list[i] != g; i++)
			;
		if (i == n)
			list[n++] = g;
	}
	return n;
}

size_t
gpu_visible_list(const struct gpu_snapshot *look, const char *visible,
    const struct gpu_device **list)
{
	const char *bad;

	return gpu_visible_read(look, visible, list, &bad);
}

bool
gpu_visible_why(char *text, size_t size, const struct gpu_snapshot *look,
    const char *visible)
{
	const struct gpu_device **list = xcalloc(look->n + 1, sizeof *list);
	const char *bad;
	size_t n = gpu_visible_read(look, visible, list, &bad);
	int len = bad != NULL ? (int)strcspn(bad, ",") : 0;

	free(list);
	*text = '\0';
	if (*visible == '\0')
		(void)snprintf(text, size,
		    "CUDA_VISIBLE_DEVICES is empty: trials use none of the "
		    "%zu GPU%s of this machine",
		    look->n, look->n == 1 ? "" : "s");
	else if (bad != NULL)
		(void)snprintf(text, size,
		    "CUDA_VISIBLE_DEVICES has %.*s, which names no GPU of this "
		    "machine (hpotune doctor lists them): trials use %zu of "
		    "%zu",
		    len < WORD_SHOWN ? len : WORD_SHOWN, bad, n, look->n);
	else if (n < look->n)
		(void)snprintf(text, size,
		    "CUDA_VISIBLE_DEVICES is %.*s: trials use %zu of %zu",
		    WORD_SHOWN, visible, n, look->n);
	return *visible == '\0' || bad != NULL;
}
