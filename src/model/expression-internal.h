/* Shared by expression.c, which reads, and expression-eval.c. */

#ifndef HPOTUNE_EXPRESSION_INTERNAL_H
#define HPOTUNE_EXPRESSION_INTERNAL_H

#include "src/model/expression.h"

enum expression_op {
	EXPRESSION_CONSTANT,
	EXPRESSION_PARAM,
	EXPRESSION_OR,
	EXPRESSION_AND,
	EXPRESSION_NOT,
	EXPRESSION_EQUAL,
	EXPRESSION_UNEQUAL,
	EXPRESSION_LESS,
	EXPRESSION_LESS_EQUAL,
	EXPRESSION_ADD,
	EXPRESSION_SUBTRACT,
	EXPRESSION_MULTIPLY,
	EXPRESSION_DIVIDE,
	EXPRESSION_MODULO,
	EXPRESSION_POWER,
	EXPRESSION_NEGATE,
	EXPRESSION_MIN,
	EXPRESSION_MAX,
	EXPRESSION_ABS,
	EXPRESSION_FLOOR,
	EXPRESSION_CEIL,
	EXPRESSION_ROUND,
	EXPRESSION_SQRT,
	EXPRESSION_EXP,
	EXPRESSION_LOG,
	EXPRESSION_LOG2,
	EXPRESSION_LOG10
};

struct expression_node {
	enum expression_op op;
	size_t param; /* EXPRESSION_PARAM */
	struct span constant; /* EXPRESSION_CONSTANT; text in texts */
	size_t left, right; /* operands: nodes before this one */
};

struct expression {
	struct expression_node *nodes; /* the last one is the whole */
	size_t n, cap;
	char **texts; /* of the constants */
	size_t n_texts, texts_cap;
	bool *names; /* per parameter: whether it is named */
};

/* The result of one operation; right is ignored by those with one operand. */
struct span expression_apply(
    enum expression_op, const struct span *left, const struct span *right);

#endif /* HPOTUNE_EXPRESSION_INTERNAL_H */
