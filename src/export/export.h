/*
 * A study in other formats.  Rows are written as they are read, so memory is
 * bounded by the largest trial.
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
	struct store *store; /* in a transaction: one consistent view */
	const char *table; /* a view, or NULL */
	bool spreadsheet; /* escape texts that spreadsheets compute */
	FILE *out;
	const char *name; /* of out, for errors */
	struct buf text; /* not yet written; freed by the caller */
	struct buf notes; /* lines about what is lost; the same */
};

/* Write to out; the end may remain in text. */
int export_csv(struct export *, struct err *);
int export_json(struct export *, struct err *);
/* Write text to out when it is large. */
int export_flush(struct export *, struct err *);
/*
 * SELECT all columns of a view, in the order of its rows; of results without the
 * second column of the objective.
 */
void export_put_select(struct buf *sql, struct store *, const char *view);

#endif /* HPOTUNE_EXPORT_H */
