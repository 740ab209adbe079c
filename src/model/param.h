/* Inside src/model: one parameter at a time. */

#ifndef HPOTUNE_PARAM_H
#define HPOTUNE_PARAM_H

#include <stdbool.h>

#include "src/model/space.h"

enum {
	PARAM_TEXT_MAX = 4096 /* bytes of a text that is a value */
};

/* u in [0, 1] (NaN counts as 0.5) -> a value; what is not in [0, 1] is clamped. */
void param_decode(const struct param *, double u, struct value *);
/* A value that the parameter can have -> the middle of what decodes to it. */
double param_encode(const struct param *, const struct value *);
/*
 * Turn a value as somebody wrote it into the one of the parameter (0.30000001
 * on a grid of tenths is none, 3.0 of an int is 3); false when it has none.
 */
bool param_fit(const struct param *, struct value *);
/* "a number from 0 to 1", "one of \"sgd\", \"adam\"": for errors. */
void param_put_domain(struct buf *, const struct param *);

/* Read the member NAME: {type, …} of "parameters", without its "when". */
int param_read(struct param *, const struct json *, struct err *);
/* Read a value that the parameter must be able to have. */
int param_read_value(
    struct value *, const struct param *, const struct json *, struct err *);

/* A JSON scalar as a value whose text is borrowed from the document. */
bool param_value_read(struct value *, const struct json *);

#endif /* HPOTUNE_PARAM_H */
