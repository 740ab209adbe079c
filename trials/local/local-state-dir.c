/*
 * Checks that the state directory is still at its path.  If it, or a folder
 * above it, is renamed while trials run, missing files prove nothing about the
 * trials.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/local/local-internal.h"

void
local_state_dir_open(struct local *l, const char *state_dir)
{
	l->home.path = xstrdup(state_dir);
	l->home.fd = open(state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	l->home.seen_us = loop_wall_us(l->loop);
}

void
local_state_dir_close(struct local *l)
{
	if (l->home.fd != -1)
		(void)close(l->home.fd);
	free(l->home.path);
}

bool
local_state_dir_moved(struct local *l)
{
	struct local_state_dir *h = &l->home;
	enum inode_state is =
	    h->fd == -1 ? INODE_SAME : file_inode_check(h->fd, h->path);
	/* A removed directory does not come back. */
	bool away = is == INODE_MOVED || is == INODE_REPLACED;
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
local_state_dir_err(const struct local *l, struct err *e)
{
	return err_set(e, ERR_BUSY, "%s was moved or removed", l->home.path);
}

bool
local_state_dir_was_moved(const struct local *l, int64_t us)
{
	return l->home.back_us != 0 && us >= l->home.away_us &&
	       us <= l->home.back_us;
}
