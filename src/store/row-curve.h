/*
 * Rows of t_curve: the reports of an ended trial in one value, which a start reads
 * in place of the rows of t_metric.  Only src/store includes this.
 */

#ifndef HPOTUNE_ROW_CURVE_H
#define HPOTUNE_ROW_CURVE_H

#include "src/store/store-internal.h"

/* A walk over the reports of one value; step and seq are those of the last. */
struct row_curve {
	const unsigned char *at, *end;
	int64_t step, seq;
	int64_t left; /* reports; -1: the bytes are no curve */
};

/* The bytes are borrowed. */
void row_curve_open(struct row_curve *, const void *bytes, size_t n);
/* The next report: 1, 0 at the end, -1: the bytes are no curve. */
int row_curve_next(struct row_curve *, double *value);

/* The trial has ended: write its reports.  0, or -1. */
int row_curve_write(struct store *, int64_t trial, struct err *);
/* The trial reports: what was written of an earlier end is removed.  0, or -1. */
int row_curve_reports(struct store *, int64_t trial, struct err *);

#endif /* HPOTUNE_ROW_CURVE_H */
