/*
 * Whether the state directory is where the paths of all attempts say.  Others
 * may rename it, or a folder above it, while trials run: then nothing that is
 * not found there says anything about a trial.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/inode.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/local/local-internal.h"

void
local_home_open(struct local *l, const char *state_dir)
{
	l->home.path = xstrdup(state_dir);
	l->home.fd = open(state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	l->home.seen_us = loop_wall_us(l->loop);
}

void
local_home_close(struct local *l)
{
	if (l->home.fd != -1)
		(void)close(l->home.fd);
	free(l->home.path);
}

bool
local_home_away(struct local *l)
{
	struct local_home *h = &l->home;
	enum link_state is =
	    h->fd == -1 ? LINK_KEPT : link_check(h->fd, h->path);
	/* Removed, it will not come back. */
	bool away = is == LINK_MOVED || is == LINK_REPLACED;
	int64_t now = loop_wall_us(l->loop);

	if (away && !h->away)
		h->away_us = h->seen_us;
	if (!away && h->away)
		h->back_us = now;
	if (!away)
		h->seen_us = now;
	h->away = away;
	return away;
}

int
local_home_err(const struct local *l, struct err *e)
{
	return err_set(e, ERR_BUSY, "%s is not where it was", l->home.path);
}

bool
local_home_was_away(const struct local *l, int64_t us)
{
	return l->home.back_us != 0 && us >= l->home.away_us &&
	       us <= l->home.back_us;
}
