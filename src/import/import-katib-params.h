/* The parameters of an Experiment of Katib. */

#ifndef HPOTUNE_IMPORT_KATIB_PARAMS_H
#define HPOTUNE_IMPORT_KATIB_PARAMS_H

struct err;
struct import;
struct json;

/* Write spec.parameters; the names go to im->names, in their order. */
int
import_katib_params_put(struct import *, const struct json *list, struct err *);

#endif /* HPOTUNE_IMPORT_KATIB_PARAMS_H */
