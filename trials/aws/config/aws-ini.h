/*
 * Parser of the shared AWS files (~/.aws/config, credentials), compatible with
 * botocore: sections, case-insensitive keys, values continued in indented
 * lines, and one level of nested keys.  The last of duplicates counts.
 */

#ifndef HPOTUNE_AWS_INI_H
#define HPOTUNE_AWS_INI_H

#include <stdbool.h>
#include <stddef.h>

struct aws_ini;
struct err;

/*
 * Parse len bytes; file is the name used in errors, which do not quote the
 * text.
 */
int aws_ini_parse(struct aws_ini **, const char *text, size_t len,
    const char *file, struct err *);
/* Read and parse a file of at most 1 MiB; a missing file is empty. */
int aws_ini_load(struct aws_ini **, const char *path, struct err *);
/* Overwrites the memory before freeing it. */
void aws_ini_free(struct aws_ini *);

/*
 * Whether a section exists: with kind "[kind name]", name optionally quoted;
 * with kind NULL "[name]".
 */
bool aws_ini_has(const struct aws_ini *, const char *kind, const char *name);
/* A value, nested under key if sub is not NULL; NULL if missing.  Borrowed. */
const char *aws_ini_get(const struct aws_ini *, const char *kind,
    const char *name, const char *key, const char *sub);

/* Iterate over all values in order, for tests; false at the end. */
struct aws_ini_item {
	const char *section, *key, *sub, *value;
};
bool aws_ini_at(const struct aws_ini *, size_t, struct aws_ini_item *);

#endif /* HPOTUNE_AWS_INI_H */
