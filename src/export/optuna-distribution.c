/*
 * Distributions of Optuna (optuna/distributions.py), their keys in its order.
 */

#include <math.h>
#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/export/optuna-distribution.h"
#include "src/model/param.h"
#include "src/model/space.h"

/* A Python float: always with a decimal point. */
static void
put_float(struct buf *b, double x)
{
	size_t from = b->len;

	json_put_number(b, x);
	if (strpbrk(b->data + from, ".eE") == NULL)
		buf_puts(b, ".0");
}

static void
put_choices(struct json_writer *w, const struct param *p)
{
	size_t i;

	json_writer_array(w, "choices");
	for (i = 0; i < p->n_values; i++)
		param_value_put_json(json_writer_value(w, NULL), &p->values[i]);
	json_writer_end(w);
}

/* The members of attributes, of a number. */
static void
put_range(struct json_writer *w, const struct param *p)
{
	bool log = p->scale == SCALE_LOG;
	struct value top;

	/*
	 * Where the step does not divide the range, its last multiple counts.
	 */
	param_decode(p, 1, &top);
	if (p->type == PARAM_INT) {
		json_writer_bool(w, "log", log);
		buf_printf(
		    json_writer_value(w, "step"), "%.0f", log ? 1 : p->step);
		buf_printf(json_writer_value(w, "low"), "%.0f", p->min);
		json_writer_integer(w, "high", top.integer);
		return;
	}
	/* Optuna has no steps on a log scale. */
	if (p->step > 0 && !log)
		put_float(json_writer_value(w, "step"), p->step);
	else
		json_writer_null(w, "step");
	put_float(json_writer_value(w, "low"), p->min);
	put_float(
	    json_writer_value(w, "high"), p->step > 0 ? top.real : p->max);
	json_writer_bool(w, "log", log);
}

void
optuna_distribution_of(struct buf *b, const struct param *p)
{
	static const char *const names[] = {
		[PARAM_FLOAT] = "FloatDistribution",
		[PARAM_INT] = "IntDistribution",
		[PARAM_CHOICE] = "CategoricalDistribution",
		[PARAM_FIXED] = "CategoricalDistribution",
	};
	struct json_writer w = { .out = b, .spacing = JSON_SPACED };

	json_writer_object(&w, NULL);
	json_writer_text(&w, "name", names[p->type]);
	json_writer_object(&w, "attributes");
	if (p->type == PARAM_CHOICE || p->type == PARAM_FIXED)
		put_choices(&w, p);
	else
		put_range(&w, p);
	json_writer_end(&w);
	json_writer_end(&w);
}

double
optuna_distribution_value(const struct param *p, const struct value *v)
{
	size_t i;

	if (p->type == PARAM_INT || p->type == PARAM_FLOAT)
		return v->real;
	for (i = 0; i + 1 < p->n_values; i++)
		if (param_value_equal(&p->values[i], v))
			break;
	return (double)i;
}
