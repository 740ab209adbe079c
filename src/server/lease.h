/*
 * The lease of a study whose folder machines share, NAME.lease beside
 * study.json: the machine whose server runs the study.  Locks may not reach
 * from one machine to another, and with --state each may have a database of its
 * own.
 */

#ifndef HPOTUNE_LEASE_H
#define HPOTUNE_LEASE_H

#include <stdbool.h>

struct err;
struct lease;
struct loop;

/* Another server has taken the study over; the holder: a clause. */
typedef void lease_cb(void *arg, const char *holder);

/*
 * NAME.lease in the folder dir.  An error when the server of another machine
 * has renewed it in the last minute; with take_over it is given 25 seconds to
 * notice and exit.
 */
int lease_open(struct lease **, struct loop *, const char *dir,
    const char *name, bool take_over, struct err *);
/*
 * Take and renew it from now on.  An error when another server of this machine
 * has it.
 */
int lease_hold(struct lease *, lease_cb *lost, void *arg, struct err *);
/* Remove the lease if it is ours; NULL is allowed. */
void lease_close(struct lease *);

#endif /* HPOTUNE_LEASE_H */
