/* The readers behind curve_file_load. */

#ifndef HPOTUNE_CURVE_FILE_INTERNAL_H
#define HPOTUNE_CURVE_FILE_INTERNAL_H

#include "src/server/replay/curve-file.h"

/* Fill an empty one from a CSV file; on -1 the caller frees it. */
int curve_csv_read(
    struct curve_file *, const char *path, const char *metric, struct err *);
/* The same from a folder of TensorBoard event files. */
int curve_events_read(
    struct curve_file *, const char *folder, const char *metric, struct err *);

#endif /* HPOTUNE_CURVE_FILE_INTERNAL_H */
