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
	double weight; /* what a step costs; 1 where it is not known */
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
 * Read curves of one metric; NULL: the only one, or the one that is called
 * value.  From a file: CSV, gzip or plain, in one of three formats, of which
 * other columns are ignored.
 *	a row per setting, with the values in columns named s0, s1, … (or 0, 1,
 *	…)
 *	a row per report: a column trial, trial_id, trial_number, run_id, run or
 *	number, a column step, _step, epoch, training_iteration or iteration,
 *	and a column value or one that is called as the metric; upper and lower
 *	case are the same.  Rows of trials may alternate, those of a trial
 *	ascend by step.
 *	the same with a column metric, key or tag: the rows that have the metric
 *	there
 * Empty fields are not reports.  What a step of each curve costs is read from a
 * file beside it (curve-weights.h).
 * From a folder: TensorBoard event files; a folder in it with such files is a
 * trial, the metric a tag.
 */
int curve_file_load(
    struct curve_file *, const char *path, const char *metric, struct err *);
void curve_file_free(struct curve_file *);
/*
 * The last step of each curve ends a whole trial: move its reports to the same
 * shares of the longest one.
 * ERR_USAGE: that has more than 10^9 steps.
 */
int curve_file_stretch(struct curve_file *, const char *path, struct err *);
/* The same of one curve, of a trial of this many steps; 0 = max_steps. */
void curve_file_stretch_one(
    const struct curve_file *, struct curve_file_curve *, int64_t own);
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
