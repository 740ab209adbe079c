/* What a step of each curve costs, from a file beside that of the curves. */

#ifndef HPOTUNE_CURVE_WEIGHTS_H
#define HPOTUNE_CURVE_WEIGHTS_H

struct curve_file;
struct err;

/*
 * Read NAME.wt or NAME.wt.gz for curves that were read from NAME.csv or
 * NAME.csv.gz: a positive number on a line for each curve, in their order.
 * Without such a file nothing changes.
 */
int curve_weights_read(struct curve_file *, const char *path, struct err *);

#endif /* HPOTUNE_CURVE_WEIGHTS_H */
