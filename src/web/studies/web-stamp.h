/* What changes with each commit of a database. */

#ifndef HPOTUNE_WEB_STAMP_H
#define HPOTUNE_WEB_STAMP_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

struct web_stamp {
	dev_t dev;
	ino_t ino;
	struct timespec changed, log_changed;
	off_t size, log_size;
};

/* The stamp of a database now; all 0 when it is gone. */
void web_stamp_read(struct web_stamp *, const char *db);
bool web_stamp_same(const struct web_stamp *, const struct web_stamp *);

#endif /* HPOTUNE_WEB_STAMP_H */
