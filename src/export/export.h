/*
 * A study in the formats of others.  Rows are written as they are read: a
 * study of any length needs no more memory than its largest trial.
 */

#ifndef HPOTUNE_EXPORT_H
#define HPOTUNE_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "src/base/mem.h"

struct err;
struct store;

struct export
{
	struct store *store; /* in a transaction: one unchanging view */
	const char *table; /* a view, or NULL */
	bool
	    spreadsheet; /* texts that a spreadsheet would compute are marked */
	FILE *out;
	const char *name; /* of out, for errors */
	struct buf text; /* not yet written; freed by the caller */
	struct buf notes; /* lines about what was left out; so too */
};

/* Both write to out all but what is left in text. */
int export_csv(struct export *, struct err *);
int export_json(struct export *, struct err *);
/* Write text out when it has become much. */
int export_flush(struct export *, struct err *);
/* SELECT all of a view, in the order of its rows. */
void export_put_select(struct buf *sql, const char *view);

#endif /* HPOTUNE_EXPORT_H */
