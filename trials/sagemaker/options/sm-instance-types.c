/*
 * Numbers of GPUs and NeuronCores of instance types, from AWS's data.  An unlisted
 * type is accepted, with unknown numbers.
 */

#include <ctype.h>
#include <string.h>

#include "trials/sagemaker/options/sm-settings.h"

/*
 * Types with accelerators; build-aux/sagemaker-types.py writes them.  NeuronCores
 * are counted as a framework counts them: on Trainium 2 two physical cores are
 * one, which AWS's training toolkit supports only for this size.
 */
static const struct {
	const char *type; /* without ml. */
	int gpus, cores;
} table[] = {
#include "trials/sagemaker/options/sm-instance-types.inc"
};

/* Families without GPUs: general, computing, memory, Trainium. */
static bool
family_plain(const char *family, size_t n)
{
	if (n > 3 && strncmp(family, "trn", 3) == 0)
		return true;
	return n > 1 && strchr("cmrt", family[0]) != NULL &&
	       isdigit((unsigned char)family[1]);
}

/* The row of a type, or -1. */
static int
sm_instance_type_row(const char *type)
{
	size_t i;

	if (strncmp(type, "ml.", 3) != 0)
		return -1;
	for (i = 0; i < sizeof table / sizeof table[0]; i++)
		if (strcmp(table[i].type, type + 3) == 0)
			return (int)i;
	return -1;
}

int
sm_instance_type_gpus(const char *type)
{
	int row = sm_instance_type_row(type);
	size_t n;

	if (row >= 0)
		return table[row].gpus;
	if (strncmp(type, "ml.", 3) != 0)
		return -1;
	type += 3;
	n = strcspn(type, ".");
	return type[n] != '\0' && family_plain(type, n) ? 0 : -1;
}

int
sm_instance_type_devices(const char *type)
{
	int row = sm_instance_type_row(type);

	if (strncmp(type, "ml.trn", 6) != 0)
		return sm_instance_type_gpus(type);
	return row >= 0 ? table[row].cores : -1;
}
