/* Names of rescued databases, and the messages about them. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/err.h"
#include "src/base/inode.h"
#include "src/base/mem.h"
#include "src/server/rescued-copy.h"
#include "src/server/state-dir.h"
#include "src/store/store.h"

const char *
rescued_copy_loss(const struct state_dir *s, const char *db)
{
	if (s->db_fd < 0)
		return NULL;
	switch (inode_check(s->db_fd, db)) {
	case INODE_REMOVED:
		return "was deleted or replaced while the study runs";
	case INODE_REPLACED:
		return "was replaced while the study runs";
	case INODE_SAME:
	case INODE_MOVED:
		break;
	}
	return store_is_database(s->db_fd)
		   ? NULL
		   : "was overwritten while the study runs";
}

/* NAME.rescue-TIME.db, in dir (NULL: beside NAME.db). */
static char *
rescued_copy_name(const char *db, const char *dir, int64_t now_us)
{
	const char *file = strrchr(db, '/') + 1;
	time_t now = (time_t)(now_us / 1000000);
	char when[32] = "";
	struct tm tm;

	if (gmtime_r(&now, &tm) != NULL)
		(void)strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &tm);
	return xasprintf("%.*s/%.*s.rescue-%s.db",
	    dir != NULL ? (int)strlen(dir) : (int)(file - 1 - db),
	    dir != NULL ? dir : db, (int)(strlen(file) - strlen(".db")), file,
	    when);
}

static void
event_record(struct store *store, int64_t now_us, const char *event)
{
	if (store_begin(store, NULL) != 0)
		return;
	(void)store_event_add(
	    store, now_us, LOG_LEVEL_ERROR, "store", 0, 0, event, NULL);
	(void)store_commit(store, false, NULL);
}

int
rescued_copy_save(char **path, struct store *store, const char *db,
    int64_t now_us, const char *event, struct err *e)
{
	const char *tmp = getenv("TMPDIR");
	struct err there = ERR_INIT;

	event_record(store, now_us, event);
	*path = rescued_copy_name(db, NULL, now_us);
	if (store_rescue(store, *path, e) == 0)
		return 0;
	free(*path);
	*path = rescued_copy_name(
	    db, tmp != NULL && *tmp == '/' ? tmp : "/tmp", now_us);
	if (store_rescue(store, *path, &there) == 0)
		return 0;
	free(*path);
	*path = NULL;
	return -1;
}
