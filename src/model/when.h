/*
 * "when": the condition of a parameter, which decides whether it is active:
 * lists of values of other parameters, or an expression over them.
 */

#ifndef HPOTUNE_WHEN_H
#define HPOTUNE_WHEN_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;
struct expression;
struct json;
struct space;
struct value;

/* A parameter has one of n values; false while it is inactive. */
struct when_test {
	size_t param;
	struct value *values;
	size_t n;
};

/* All of n tests hold. */
struct when_all {
	struct when_test *tests;
	size_t n;
};

/* Either any is given, or expression with its text. */
struct when {
	struct when_all *any; /* one of them holds */
	size_t n;
	struct expression *expression; /* see when_holds */
	char *text;
	size_t *parents; /* the parameters that it names, each once, rising */
	size_t n_parents;
};

/*
 * Read the condition of parameter i; all parameters of the space are known,
 * their conditions may be missing.  ERR_USAGE: what is wrong with it.
 */
int when_read(struct when **, const struct space *, size_t i,
    const struct json *, struct err *);
void when_free(struct when *);

/*
 * Whether it holds.  values: one per parameter of the space, of which only
 * those of the parents are read; VALUE_NONE: inactive.  In an expression
 * neither a comparison with an inactive parameter nor the negation of one
 * holds.
 */
bool when_holds(const struct when *, const struct value *values);
/*
 * The same when a parent that is VALUE_NONE may have any value, or none:
 * whether it holds for some of them.
 */
bool when_may_hold(
    const struct when *, const struct space *, const struct value *values);
/* The only test of a condition that has one, or NULL. */
const struct when_test *when_only_test(const struct when *);

/*
 * In words: "optimizer is sgd or adam, and nesterov is true; or depth is 3", or
 * the expression as it is written.
 */
void when_put(struct buf *, const struct when *, const struct space *);

#endif /* HPOTUNE_WHEN_H */
