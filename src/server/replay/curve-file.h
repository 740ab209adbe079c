/* Recorded curves of many settings of one task, the input of replay. */

#ifndef HPOTUNE_CURVE_FILE_H
#define HPOTUNE_CURVE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct curve_file_curve {
	size_t n;
	int64_t *steps; /* ascending */
	double *values; /* in the user's sign */
};

struct curve_file {
	struct curve_file_curve *curves;
	size_t n;
	/*
	 * As trial.max_steps counts: the greatest step; for curves that begin
	 * at step 0, plus the distance of two reports.
	 */
	int64_t max_steps;
	int64_t last_step; /* the greatest */
	int64_t interval; /* least distance of two; 0 = none */
	bool from_zero; /* some curve begins at step 0 */
};

/*
 * Read a CSV file, gzip or plain, in one of two formats: a row per setting with
 * the values in columns named s0, s1, … (or 0, 1, …), other columns being
 * ignored; or a row per report with the columns trial, step and value.  Empty
 * fields are not reports.
 */
int curve_file_load(struct curve_file *, const char *path, struct err *);
void curve_file_free(struct curve_file *);
/* The last step of its trials, for the rules; 0 = max_steps. */
int64_t curve_file_last_step(const struct curve_file *);
/*
 * Alternatively fill a zeroed one: add a curve, valid until the next one, and
 * its reports.
 */
struct curve_file_curve *curve_file_begin(struct curve_file *);
void curve_file_report(
    struct curve_file *, struct curve_file_curve *, int64_t step, double value);

#endif /* HPOTUNE_CURVE_FILE_H */
