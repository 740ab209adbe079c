/*
 * YAML as JSON; the only module that uses libyaml.
 */

#ifndef HPOTUNE_YML_H
#define HPOTUNE_YML_H

#include <stddef.h>

struct err;
struct json_doc;

/* Read and parse a file of at most 16 MiB. */
int yml_load(struct json_doc **, const char *path, struct err *);

#endif /* HPOTUNE_YML_H */
