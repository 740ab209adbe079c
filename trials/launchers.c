/* The table of launchers, in the order of the manual. */

#include <stddef.h>
#include <string.h>

#include "trials/launcher.h"

extern const struct launcher launcher_local;
extern const struct launcher launcher_pretend;
extern const struct launcher launcher_sagemaker;
extern const struct launcher launcher_slurm;

const struct launcher *const launchers[] = {
	&launcher_local,
	&launcher_pretend,
	&launcher_sagemaker,
	&launcher_slurm,
	NULL,
};

const struct launcher *
launcher_find(const char *name)
{
	size_t i;

	for (i = 0; launchers[i] != NULL; i++)
		if (strcmp(launchers[i]->name, name) == 0)
			return launchers[i];
	return NULL;
}
