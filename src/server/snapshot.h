/*
 * Keeps a copy of the database beside study.json while a server runs, where the
 * database itself cannot be read from another machine.
 */

#ifndef HPOTUNE_SNAPSHOT_H
#define HPOTUNE_SNAPSHOT_H

struct loop;
struct snapshot;
struct store;

/* NAME.snapshot.db in the folder dir.  The store is given by snapshot_use. */
struct snapshot *snapshot_new(struct loop *, const char *dir, const char *name);
/*
 * Copy this store from now on, once a minute; NULL: stop, and drop a copy that
 * is not whole.  Call with NULL before the store is closed.
 */
void snapshot_use(struct snapshot *, struct store *);
/* Copy all of it now, at the end of a server. */
void snapshot_last(struct snapshot *);
void snapshot_free(struct snapshot *);

#endif /* HPOTUNE_SNAPSHOT_H */
