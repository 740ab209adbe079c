/*
 * The state directory NAME.d: its mode, its lock, the control socket's path,
 * and a ballast file that is deleted when the disk is full.
 */

#ifndef HPOTUNE_STATE_DIR_H
#define HPOTUNE_STATE_DIR_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/file.h"

struct err;

struct state_dir {
	char *dir; /* absolute */
	int dir_fd;
	int lock_fd; /* -1 = not locked */
	int db_fd; /* NAME.db, locked; -1 = not locked */
};

/* Initial value; valid for state_dir_close. */
#define STATE_DIR_INIT                                   \
	{                                                \
		.dir_fd = -1, .lock_fd = -1, .db_fd = -1 \
	}

/*
 * Open NAME.d; with create, make it (mode 0700).  ERR_FILE when it belongs to
 * another user or is accessible to others.
 */
int
state_dir_open(struct state_dir *, const char *dir, bool create, struct err *);
void state_dir_close(struct state_dir *);
/* Who takes the lock. */
enum state_dir_use {
	STATE_DIR_SERVER, /* as long as the study runs */
	STATE_DIR_COMMAND /* for one request, some seconds at most */
};

/*
 * Take the lock of the study, held until state_dir_close or the end of the
 * process.  Waits up to 35 seconds for a command that holds it, and a quarter of a
 * second for a server.  ERR_BUSY names the holder.
 */
int state_dir_lock(struct state_dir *, enum state_dir_use, struct err *);
/*
 * The same on the database itself, if it exists: a state directory can be
 * removed while its server runs, and a file can have two names.  Call before
 * this process opens the database, and keep it until after the close: closing
 * any descriptor of a file drops SQLite's locks on it.
 */
int state_dir_lock_db(struct state_dir *, const char *db, struct err *);
/*
 * Whether NAME.d and its lock are at their paths: INODE_REMOVED when either was
 * deleted.
 */
enum inode_state state_dir_check(const struct state_dir *);
void state_dir_unlock(struct state_dir *);
/* Whether a server (or a command) holds the lock; who gets its name. */
bool state_dir_is_locked(struct state_dir *, char *who, size_t n);

/*
 * OLD.rename beside the database OLD.db: the study gets another name, now.  While
 * it is there no other name is accepted, and no start of a study OLD.
 */
int state_dir_renaming_begin(const char *db, const char *now, struct err *);
int state_dir_renaming_end(const char *db, struct err *);
/*
 * The database has the name now already: remove what a command that was interrupted
 * at its end has left, OLD.rename with this name and without OLD.db.  Whether there
 * was any.
 */
bool state_dir_renaming_ended(const char *db, const char *now);
/* An error when the study is getting another name than now, or any with NULL. */
int state_dir_check_renaming(const char *db, const char *now, struct err *);

/*
 * Reserve space for cleaning up after a full disk; false when the disk is full
 * already.
 */
bool state_dir_ballast_fill(struct state_dir *);
/* Free the reserved space; false when there was none. */
bool state_dir_ballast_free(struct state_dir *);

#endif /* HPOTUNE_STATE_DIR_H */
