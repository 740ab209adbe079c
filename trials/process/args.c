/* Parses the arguments of our helper programs. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trials/process/args.h"

bool
args_number(const char *text, int64_t *number)
{
	long long n;
	char *end;

	errno = 0;
	n = strtoll(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0)
		return false;
	*number = n;
	return true;
}

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
		else if (!args_number(value, args[i].number))
			return NULL;
	}
	return *argv != NULL && argv[1] != NULL ? argv + 1 : NULL;
}

size_t
args_put(char *text, size_t room, size_t at, char *const *words, uint32_t *n)
{
	size_t len;

	for (; *words != NULL; words++, ++*n) {
		len = strlen(*words) + 1;
		if (at + len > room)
			return room + 1;
		memcpy(text + at, *words, len);
		at += len;
	}
	return at;
}

bool
args_take(char **words, size_t room, char **text, const char *end, uint32_t n)
{
	char *stop;
	uint32_t i;

	if (n >= room)
		return false;
	for (i = 0; i < n; i++) {
		stop = memchr(*text, '\0', (size_t)(end - *text));
		if (stop == NULL)
			return false;
		words[i] = *text;
		*text = stop + 1;
	}
	words[n] = NULL;
	return true;
}
