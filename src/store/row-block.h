/*
 * Rows of t_block: reports in blocks, as schema/023-blocks.sql describes.  Only
 * src/store includes this.
 */

#ifndef HPOTUNE_ROW_BLOCK_H
#define HPOTUNE_ROW_BLOCK_H

#include "src/store/row-columns.h"

enum { ROW_BLOCK_REPORTS = 32 };

/* A report to be recorded; seq is greater than that of all before. */
struct row_report {
	int64_t name_id, trial;
	int attempt;
	int64_t step, seq, time_us;
	double value; /* NaN = none */
};

/*
 * Add a report: it is in the file when its block is full, or after
 * row_blocks_write, which each statement that reads blocks, and the commit,
 * calls.
 */
int row_block_add(struct store *, const struct row_report *, struct err *);
int row_blocks_write(struct store *, struct err *);
/*
 * Discard what is known of the blocks that may get further reports: of a trial,
 * once they are written, or, with trial 0, all of them as they are.
 */
void row_blocks_forget(struct store *, int64_t trial);
/* Migration: copy the rows of the table t_metric, which files had before. */
int row_blocks_fill(struct store *, struct err *);

/* The reports of a row, in the order in which they were recorded. */
struct row_block {
	int n;
	int64_t steps[ROW_BLOCK_REPORTS], seqs[ROW_BLOCK_REPORTS];
	double values[ROW_BLOCK_REPORTS];
};
/*
 * Read the columns from i on: reports, step, steps, seq, seqs, and all values.
 * Corrupt columns: see row_end.
 */
void row_block_read(struct row *, int i, struct row_block *);

#endif /* HPOTUNE_ROW_BLOCK_H */
