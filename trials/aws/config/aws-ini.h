/*
 * The shared files of AWS's tools (~/.aws/config, credentials) as they are
 * read by botocore: sections, keys without their case, values that go on in
 * indented lines, and one level of keys nested under a key.  Of what is said
 * twice the last counts.  Knows no meaning.
 */

#ifndef HPOTUNE_AWS_INI_H
#define HPOTUNE_AWS_INI_H

#include <stdbool.h>
#include <stddef.h>

struct aws_ini;
struct err;

/* file names the text in errors, which show nothing of it. */
int aws_ini_parse(struct aws_ini **, const char *text, size_t len,
    const char *file, struct err *);
/* Read and parse a file of at most 1 MiB; one that is not there is empty. */
int aws_ini_load(struct aws_ini **, const char *path, struct err *);
/* Wipes what it frees. */
void aws_ini_free(struct aws_ini *);

/*
 * A section: with a kind "[kind name]", the name perhaps in quotes; without
 * (NULL) "[name]".
 */
bool aws_ini_has(const struct aws_ini *, const char *kind, const char *name);
/* A value, nested under key where sub is not NULL; NULL when it is not there. */
const char *aws_ini_get(const struct aws_ini *, const char *kind,
    const char *name, const char *key, const char *sub);

/* Everything in its order, for tests; false at the end. */
struct aws_ini_item {
	const char *section, *key, *sub, *value;
};
bool aws_ini_at(const struct aws_ini *, size_t, struct aws_ini_item *);

#endif /* HPOTUNE_AWS_INI_H */
