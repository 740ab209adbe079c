/*
 * Parameters in Optuna's terms: optuna/distributions.py, with the keys in its
 * order.
 */

#include <inttypes.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/export/export-optuna.h"
#include "src/model/param.h"

/* A float of Python: never without a point. */
static void
put_float(struct buf *b, double x)
{
	size_t from = b->len;

	json_put_number(b, x);
	if (strpbrk(b->data + from, ".eE") == NULL)
		buf_puts(b, ".0");
}

static void
put_choices(struct buf *b, const struct param *p)
{
	size_t i;

	buf_puts(b, "{\"name\": \"CategoricalDistribution\", "
		    "\"attributes\": {\"choices\": [");
	for (i = 0; i < p->n_values; i++) {
		buf_puts(b, i > 0 ? ", " : "");
		param_value_put_json(b, &p->values[i]);
	}
	buf_puts(b, "]}}");
}

void
export_optuna_distribution(struct buf *b, const struct param *p)
{
	const char *log = p->scale == SCALE_LOG ? "true" : "false";
	struct value top;

	if (p->type == PARAM_CHOICE || p->type == PARAM_FIXED) {
		put_choices(b, p);
		return;
	}
	/* Of a step that does not divide the range the last one counts. */
	param_decode(p, 1, &top);
	if (p->type == PARAM_INT) {
		buf_printf(b,
		    "{\"name\": \"IntDistribution\", \"attributes\": {\"log\": "
		    "%s, \"step\": %.0f, \"low\": %.0f, \"high\": %" PRId64
		    "}}",
		    log, p->step, p->min, top.integer);
		return;
	}
	buf_puts(b, "{\"name\": \"FloatDistribution\", "
		    "\"attributes\": {\"step\": ");
	if (p->step > 0)
		put_float(b, p->step);
	else
		buf_puts(b, "null");
	buf_puts(b, ", \"low\": ");
	put_float(b, p->min);
	buf_puts(b, ", \"high\": ");
	put_float(b, p->step > 0 ? top.real : p->max);
	buf_printf(b, ", \"log\": %s}}", log);
}

double
export_optuna_value(const struct param *p, const struct value *v)
{
	size_t i;

	if (p->type == PARAM_INT || p->type == PARAM_FLOAT)
		return v->real;
	for (i = 0; i + 1 < p->n_values; i++)
		if (param_value_equal(&p->values[i], v))
			break;
	return (double)i;
}
