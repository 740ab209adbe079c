/* Waits while another process briefly holds a study's lock. */

#include "src/cli/common/lock-retry.h"
#include "src/base/err.h"

enum { WAIT_SECONDS = 20, PAUSE_MS = 5 };

bool
lock_retry_left(struct lock_retry *p, struct err *e)
{
	const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };

	if (p->until == 0)
		p->until = time(NULL) + WAIT_SECONDS;
	if (e->kind != ERR_BUSY || time(NULL) >= p->until)
		return false;
	*e = (struct err)ERR_INIT;
	(void)nanosleep(&pause, NULL);
	return true;
}
