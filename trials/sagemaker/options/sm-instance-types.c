/*
 * Numbers of GPUs and NeuronCores of instance types, by family and size, from
 * AWS's documentation.  An unlisted type is accepted, with unknown numbers.
 */

#include <ctype.h>
#include <string.h>

#include "trials/sagemaker/options/sm-settings.h"

static const struct {
	const char *family, *size; /* size NULL: all others of the family */
	int gpus;
} table[] = {
	{ "g4dn", "12xlarge", 4 },
	{ "g4dn", NULL, 1 },
	{ "g5", "12xlarge", 4 },
	{ "g5", "24xlarge", 4 },
	{ "g5", "48xlarge", 8 },
	{ "g5", NULL, 1 },
	{ "g6", "12xlarge", 4 },
	{ "g6", "24xlarge", 4 },
	{ "g6", "48xlarge", 8 },
	{ "g6", NULL, 1 },
	{ "g6e", "12xlarge", 4 },
	{ "g6e", "24xlarge", 4 },
	{ "g6e", "48xlarge", 8 },
	{ "g6e", NULL, 1 },
	{ "g7e", "2xlarge", 1 },
	{ "g7e", "4xlarge", 1 },
	{ "g7e", "8xlarge", 1 },
	{ "g7e", "12xlarge", 2 },
	{ "g7e", "24xlarge", 4 },
	{ "g7e", "48xlarge", 8 },
	{ "p2", "xlarge", 1 },
	{ "p2", "8xlarge", 8 },
	{ "p2", "16xlarge", 16 },
	{ "p3", "2xlarge", 1 },
	{ "p3", "8xlarge", 4 },
	{ "p3", "16xlarge", 8 },
	{ "p3dn", "24xlarge", 8 },
	{ "p4d", "24xlarge", 8 },
	{ "p4de", "24xlarge", 8 },
	{ "p5", "4xlarge", 1 },
	{ "p5", "48xlarge", 8 },
	{ "p5e", "48xlarge", 8 },
	{ "p5en", "48xlarge", 8 },
	{ "p6-b200", "48xlarge", 8 },
	{ "p6-b300", "48xlarge", 8 },
	{ "p6e-gb200", "36xlarge", 4 },
};

/*
 * As a framework counts them: on Trainium 2 two physical cores count as one,
 * which AWS's training toolkit supports only for this size.
 */
static const struct {
	const char *type;
	int cores;
} neurons[] = {
	{ "ml.trn1.2xlarge", 2 },
	{ "ml.trn1.32xlarge", 32 },
	{ "ml.trn1n.32xlarge", 32 },
	{ "ml.trn2.48xlarge", 64 },
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

int
sm_instance_type_gpus(const char *type)
{
	const char *size;
	size_t n, i;

	if (strncmp(type, "ml.", 3) != 0)
		return -1;
	type += 3;
	n = strcspn(type, ".");
	if (type[n] == '\0')
		return -1;
	size = type + n + 1;
	if (family_plain(type, n))
		return 0;
	for (i = 0; i < sizeof table / sizeof table[0]; i++)
		if (strlen(table[i].family) == n &&
		    strncmp(table[i].family, type, n) == 0 &&
		    (table[i].size == NULL || strcmp(table[i].size, size) == 0))
			return table[i].gpus;
	return -1;
}

int
sm_instance_type_devices(const char *type)
{
	size_t i;

	if (strncmp(type, "ml.trn", 6) != 0)
		return sm_instance_type_gpus(type);
	for (i = 0; i < sizeof neurons / sizeof neurons[0]; i++)
		if (strcmp(neurons[i].type, type) == 0)
			return neurons[i].cores;
	return -1;
}
