/* Nodes that fail trials, and get none. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "trials/slurm/slurm-internal.h"

static size_t
slurm_nodes_index(const struct slurm *s, const char *node)
{
	size_t i;

	for (i = 0; i < s->avoided.n; i++)
		if (strcmp(s->avoided.v[i], node) == 0)
			break;
	return i;
}

void
slurm_nodes_avoid(void *ctx, const char *node, bool avoid)
{
	struct slurm *s = ctx;
	size_t i = slurm_nodes_index(s, node), n = s->avoided.n;

	if (avoid && i == n && *node != '\0' && strpbrk(node, "[, ") == NULL)
		strv_add(&s->avoided, xstrdup(node));
	if (avoid || i == n)
		return;
	free(s->avoided.v[i]);
	s->avoided.v[i] = s->avoided.v[n - 1];
	s->avoided.v[--s->avoided.n] = NULL;
}

void
slurm_nodes_forgive(struct slurm *s)
{
	strv_free(s->avoided.v);
	s->avoided = (struct strv){ 0 };
}

void
slurm_nodes_put(const struct slurm *s, char *list, size_t n)
{
	size_t i, len;

	for (i = 0; i < s->avoided.n; i++) {
		len = strlen(list);
		if (len + strlen(s->avoided.v[i]) + 2 > n)
			return;
		(void)snprintf(list + len, n - len, "%s%s", len > 0 ? "," : "",
		    s->avoided.v[i]);
	}
}
