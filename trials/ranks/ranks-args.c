/* Parses the arguments of hpotune-ranks. */

#include <string.h>

#include "trials/process/args.h"
#include "trials/ranks/ranks-args.h"
#include "trials/ranks/ranks.h"

bool
ranks_args_is_launcher(const struct ranks *s)
{
	return s->args.mode == RANKS_LAUNCHER || s->args.mode == RANKS_NODE;
}

bool
ranks_args_is_far(const struct ranks *s)
{
	return s->args.mode == RANKS_LAUNCHER && s->args.nodes > 0;
}

/* "name=value" arguments up to "--", then the command. */
static bool
start_args(struct ranks_args *a, char **argv)
{
	const struct arg table[] = {
		{ "dir=", &a->dir, NULL },
		{ "workdir=", &a->workdir, NULL },
		{ "processes=", NULL, &a->processes },
		{ "nodes=", NULL, &a->nodes },
		{ "servers=", NULL, &a->servers },
		{ "grace-ms=", NULL, &a->grace_ms },
		{ "ports=", NULL, &a->ports },
		{ "place=", NULL, &a->place },
		{ "slots=", NULL, &a->slots },
		{ "cpus=", NULL, &a->cpus },
		{ "log-cap=", NULL, &a->log_cap },
	};

	a->argv = args_read(argv, table, sizeof table / sizeof table[0]);
	if (a->argv == NULL || a->dir == NULL || a->processes < 1 ||
	    a->servers < 0 || a->place < 0)
		return false;
	return true;
}

static bool
mode_read(enum ranks_mode *mode, const char *word)
{
	static const char *const words[] = { [RANKS_START] = "start",
		[RANKS_LAUNCHER] = "launcher",
		[RANKS_NODE] = "node",
		[RANKS_EACH] = "each" };
	size_t i;

	for (i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(words[i], word) == 0) {
			*mode = (enum ranks_mode)i;
			return true;
		}
	return false;
}

bool
ranks_args_read(struct ranks_args *a, char **argv)
{
	*a = (struct ranks_args){ .processes = 1, .slots = 1 };
	return mode_read(&a->mode, argv[0]) && start_args(a, argv + 1);
}
