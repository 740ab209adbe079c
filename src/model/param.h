/* Inside src/model: one parameter at a time. */

#ifndef HPOTUNE_PARAM_H
#define HPOTUNE_PARAM_H

#include <stdbool.h>
#include <stdint.h>

#include "src/model/space.h"

enum {
	PARAM_TEXT_MAX = 4096 /* bytes of a text value */
};

/* Map u in [0, 1] (clamped; NaN counts as 0.5) to a value. */
void param_decode(const struct param *, double u, struct value *);
/*
 * Map a value of the parameter to the middle of the interval that decodes to
 * it.
 */
double param_encode(const struct param *, const struct value *);
/*
 * Level number k, from 0, of a parameter that has levels; and the level of one
 * of its values.
 */
void param_level_value(const struct param *, uint64_t k, struct value *);
uint64_t param_level_of(const struct param *, const struct value *);
/*
 * Convert a value as the user wrote it into one of the parameter (on a grid of
 * tenths 0.30000001 becomes 0.3, for an int 3.0 becomes 3); false when the
 * parameter has no such value.
 */
bool param_fit(const struct param *, struct value *);
/* "a number from 0 to 1", "one of \"sgd\", \"adam\"": for errors. */
void param_put_domain(struct buf *, const struct param *);

/* Read a value that must be one of the parameter's: "x can only be 1". */
int param_read_value(
    struct value *, const struct param *, const struct json *, struct err *);

/* A JSON value as one whose text is borrowed from the document. */
void param_value_read(struct value *, const struct json *);

#endif /* HPOTUNE_PARAM_H */
