/*
 * The limit of the disk space of the output: punches holes at the head of a file,
 * so that offsets, the writer and the reader's position stay valid.  Without
 * support of the file system it does nothing.
 */

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>

#include "trials/shim/shim.h"

enum {
	BLOCK = 65536, /* a hole ends at a multiple of this */
	WAIT_MIN_MS = 5,
	WAIT_MAX_MS = 500,
	FAST = 1 << 20 /* bytes between two checks that shorten the interval */
};

/* Whether it grew fast. */
static bool
output_punch(struct shim_log *o, int64_t cap)
{
	struct stat st;
	bool fast;
	off_t end;

	if (fstat(o->fd, &st) == -1)
		return false;
	fast = st.st_size - o->size > FAST;
	o->size = st.st_size;
	end = (st.st_size - cap) / BLOCK * BLOCK;
	if (end > o->punched &&
	    fallocate(o->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		o->punched, end - o->punched) == 0)
		o->punched = end;
	return fast;
}

void
shim_log_cap_check(struct shim *s)
{
	bool fast;

	if (s->log_cap <= 0) {
		s->output_at_ms = -1;
		return;
	}
	fast = output_punch(&s->log, s->log_cap);
	fast |= output_punch(&s->metrics, s->log_cap);
	s->output_wait_ms = fast ? WAIT_MIN_MS : s->output_wait_ms * 2;
	if (s->output_wait_ms < WAIT_MIN_MS)
		s->output_wait_ms = WAIT_MIN_MS;
	if (s->output_wait_ms > WAIT_MAX_MS)
		s->output_wait_ms = WAIT_MAX_MS;
	s->output_at_ms = s->now_ms + s->output_wait_ms;
}
