/*
 * What a program of ours is told by the one that starts it: "name=value"
 * words, "--", and a command.
 */

#ifndef HPOTUNE_ARGS_H
#define HPOTUNE_ARGS_H

#include <stddef.h>
#include <stdint.h>

struct arg {
	const char *name; /* with its "=" */
	const char **text; /* where the value goes; or */
	int64_t *number;
};

/*
 * Read the words up to "--" into where n args say.  The command after it, or
 * NULL: a word that nobody knows, or no command.
 */
char **args_read(char **argv, const struct arg *, size_t n);

#endif /* HPOTUNE_ARGS_H */
