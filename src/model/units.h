/* Inside src/model: numbers with units, from text. */

#ifndef HPOTUNE_UNITS_H
#define HPOTUNE_UNITS_H

#include <stdbool.h>

/* "90s" "1.5h" -> seconds; false when it is not a duration. */
bool duration_parse(const char *text, double *seconds);
/* "512MiB" -> bytes, possibly fractional; false when it is not a size. */
bool size_parse(const char *text, double *bytes);
/* "20%" -> 20; false when it is not a percentage. */
bool percent_parse(const char *text, double *percent);

/* The longest duration: a hundred years. */
#define DURATION_MAX 3153600000.0
/* The syntax of a duration, for errors. */
#define DURATION_FORM "seconds or a duration like \"90s\" \"10m\" \"2h\" \"1d\""
/* The largest size, and the syntax of a size. */
#define SIZE_BYTES_MAX 9007199254740992.0
#define SIZE_FORM "bytes or a size like \"512MiB\" \"4GiB\""

#endif /* HPOTUNE_UNITS_H */
