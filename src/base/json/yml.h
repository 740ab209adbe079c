/*
 * YAML as JSON; the only module that uses libyaml.
 */

#ifndef HPOTUNE_YML_H
#define HPOTUNE_YML_H

#include <stddef.h>

struct err;
struct json_doc;

/*
 * Parse the first document of len bytes of text; the caller frees it.  Its
 * errors name the lines and columns of the YAML text, and file.
 *
 * Plain words are values as in YAML 1.1 (yes, on and ~ too), but 1e-5 is a
 * number, as in YAML 1.2; a number without an end, and what has a tag of its
 * own, is text.  Documents nested deeper than 16 are errors.
 */
int yml_parse(struct json_doc **, const char *text, size_t len,
    const char *file, struct err *);
/* Read and parse a file of at most 16 MiB. */
int yml_load(struct json_doc **, const char *path, struct err *);

#endif /* HPOTUNE_YML_H */
