/* The null rule: every trial runs to its end. */

#include <math.h>
#include <stddef.h>

#include "strategies/stopper.h"

static int
none_open(void **state, const struct option_value *values,
    const struct stopper_env *env, struct err *e)
{
	(void)values;
	(void)env;
	(void)e;
	*state = NULL;
	return 0;
}

static void
none_close(void *state)
{
	(void)state;
}

static void
none_observe(void *state, const struct history *h, int64_t trial, int64_t step)
{
	(void)state;
	(void)h;
	(void)trial;
	(void)step;
}

static void
none_ended(void *state, const struct history *h, int64_t trial)
{
	(void)state;
	(void)h;
	(void)trial;
}

static void
none_judge(void *state, const struct history *h, int64_t trial, int64_t step,
    struct judgement *j)
{
	(void)state;
	(void)h;
	(void)trial;
	(void)step;
	*j = (struct judgement){ .verdict = VERDICT_KEEP,
		.rule = "none",
		.value = NAN,
		.threshold = NAN };
}

extern const struct stopper stopper_none;
const struct stopper stopper_none = {
	.name = "none",
	.about = "stops no trial",
	.source = NULL,
	.alone = true,
	.open = none_open,
	.close = none_close,
	.observe = none_observe,
	.ended = none_ended,
	.judge = none_judge,
};
