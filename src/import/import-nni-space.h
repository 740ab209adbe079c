/* The search space of an experiment of NNI. */

#ifndef HPOTUNE_IMPORT_NNI_SPACE_H
#define HPOTUNE_IMPORT_NNI_SPACE_H

#include <stdbool.h>

struct err;
struct import;
struct json;

/* Whether a document is a search space: members with _type and _value. */
bool import_nni_space_is(const struct json *);
/*
 * Write its parameters.  Those of a nested choice have names with dots and the
 * condition that the branch is chosen.
 */
int
import_nni_space_put(struct import *, const struct json *space, struct err *);

#endif /* HPOTUNE_IMPORT_NNI_SPACE_H */
