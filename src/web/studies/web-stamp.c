/* Reads when and how a database has changed. */

#include <stdlib.h>
#include <sys/stat.h>

#include "src/base/mem.h"
#include "src/web/studies/web-stamp.h"

void
web_stamp_read(struct web_stamp *stamp, const char *db)
{
	char *log = xasprintf("%s-wal", db);
	struct stat st;

	*stamp = (struct web_stamp){ 0 };
	if (stat(db, &st) == 0) {
		stamp->dev = st.st_dev;
		stamp->ino = st.st_ino;
		stamp->changed = st.st_mtim;
		stamp->size = st.st_size;
	}
	if (stat(log, &st) == 0) {
		stamp->log_changed = st.st_mtim;
		stamp->log_size = st.st_size;
	}
	free(log);
}

static bool
web_stamp_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool
web_stamp_same(const struct web_stamp *a, const struct web_stamp *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->log_size == b->log_size &&
	       web_stamp_same_time(&a->changed, &b->changed) &&
	       web_stamp_same_time(&a->log_changed, &b->log_changed);
}
