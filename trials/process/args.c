/* Parses the arguments of our helper programs. */

#include <stdlib.h>
#include <string.h>

#include "trials/process/args.h"

char **
args_read(char **argv, const struct arg *args, size_t n)
{
	const char *value;
	size_t i;

	for (; *argv != NULL && strcmp(*argv, "--") != 0; argv++) {
		for (i = 0; i < n; i++)
			if (strncmp(
				*argv, args[i].name, strlen(args[i].name)) == 0)
				break;
		if (i == n)
			return NULL;
		value = *argv + strlen(args[i].name);
		if (args[i].text != NULL)
			*args[i].text = value;
		else
			*args[i].number = strtoll(value, NULL, 10);
	}
	return *argv != NULL && argv[1] != NULL ? argv + 1 : NULL;
}
