/* Curves of a file of CSV. */

#ifndef HPOTUNE_CURVE_CSV_H
#define HPOTUNE_CURVE_CSV_H

struct curve_file;
struct err;

/* Fill an empty one from a CSV file; on -1 the caller frees it. */
int curve_csv_read(
    struct curve_file *, const char *path, const char *metric, struct err *);

#endif /* HPOTUNE_CURVE_CSV_H */
