/*
 * hpotune-pack: its command line.  hpotune alone starts it: a wrong argument is
 * a bug.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "trials/pack/pack.h"
#include "trials/process/args.h"

/* "name=value" arguments up to "--", then the command. */
static bool
serve_args(struct pack *p, char **argv)
{
	const struct arg table[] = {
		{ "dir=", &p->dir, NULL },
		{ "workdir=", &p->workdir, NULL },
		{ "cgroup=", &p->cgroup, NULL },
		{ "key=", &p->key, NULL },
		{ "places=", NULL, &p->places },
		{ "grace-ms=", NULL, &p->grace_ms },
		{ "trial=", NULL, &p->trial },
		{ "attempt=", NULL, &p->attempt },
		{ "hold-fds=", NULL, &p->hold_fds },
	};

	p->argv = args_read(argv, table, sizeof table / sizeof table[0]);
	if (p->argv == NULL || p->dir == NULL || p->workdir == NULL ||
	    p->key == NULL || strlen(p->key) != PACK_KEY || p->places < 1 ||
	    p->places > PACK_PLACES_MAX || p->grace_ms < 0)
		return false;
	return true;
}

static void
pack_locks_hold(const struct pack *p)
{
	int64_t i;

	for (i = 0; i < p->hold_fds; i++)
		(void)fcntl(3 + (int)i, F_SETFD, FD_CLOEXEC);
}

int
main(int argc, char **argv)
{
	struct pack p = { .cgroup = "", .signal_fd = -1 };

	if (argc == 5 && strcmp(argv[1], "join") == 0)
		return pack_member_main(argv + 2);
	if (argc > 2 && strcmp(argv[1], "serve") == 0 &&
	    serve_args(&p, argv + 2)) {
		pack_locks_hold(&p);
		return pack_owner_main(&p);
	}
	(void)dprintf(2, "hpotune-pack: is started by hpotune\n");
	return EINVAL;
}
