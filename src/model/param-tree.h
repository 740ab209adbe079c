/* A list or an object as a value: its JSON in the words of another language. */

#ifndef HPOTUNE_PARAM_TREE_H
#define HPOTUNE_PARAM_TREE_H

#include <stdbool.h>

struct buf;
struct value;

struct param_tree {
	const char *null; /* NULL: a member that is null is left out */
	const char *yes, *no; /* true and false */
	const char *comma, *colon; /* between values; behind a key */
	void (*text)(struct buf *, const char *);
	void (*key)(struct buf *, const char *);
	/* A number as json_put_number writes it, whole or not. */
	void (*number)(struct buf *, const char *text);
};

/* Append a VALUE_TREE in these words. */
void
param_tree_put(struct buf *, const struct value *, const struct param_tree *);
/* Whether a value is null in a list in it, at any depth. */
bool param_tree_has_null(const struct value *);
/* The number of JSON with a point or a sign where YAML 1.1 needs it. */
void param_tree_put_pointed(struct buf *, const char *number);

#endif /* HPOTUNE_PARAM_TREE_H */
