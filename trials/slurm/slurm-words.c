/* Lists of words, for the command lines of Slurm. */

#include <stdlib.h>

#include "trials/slurm/slurm-internal.h"

void
slurm_words_add(char ***list, size_t *n, char *word)
{
	*list = xreallocarray(*list, *n + 2, sizeof **list);
	(*list)[(*n)++] = word;
	(*list)[*n] = NULL;
}

void
slurm_words_free(char **list)
{
	size_t i;

	for (i = 0; list != NULL && list[i] != NULL; i++)
		free(list[i]);
	free(list);
}
