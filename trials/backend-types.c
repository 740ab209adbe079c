/* The table of backends, in the order of the manual. */

#include <stddef.h>
#include <string.h>

#include "trials/backend.h"

extern const struct backend_type backend_local;
extern const struct backend_type backend_pretend;
extern const struct backend_type backend_sagemaker;
extern const struct backend_type backend_slurm;

const struct backend_type *const backend_types[] = {
	&backend_local,
	&backend_pretend,
	&backend_sagemaker,
	&backend_slurm,
	NULL,
};

const struct backend_type *
backend_type_find(const char *name)
{
	size_t i;

	for (i = 0; backend_types[i] != NULL; i++)
		if (strcmp(backend_types[i]->name, name) == 0)
			return backend_types[i];
	return NULL;
}
