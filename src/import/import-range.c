/* Ranges of numbers that other tools have. */

#include <math.h>

#include "src/base/json/json-writer.h"
#include "src/import/import-range.h"
#include "src/import/import-study.h"

#define WHOLE_MOST 9e15 /* beyond it a double is no exact whole number */

bool
import_range_is_whole(double x)
{
	return x == floor(x) && fabs(x) < WHOLE_MOST;
}

void
import_range_round(struct import_range *r)
{
	double low = r->min, high = r->max;

	if (r->sd > 0) {
		low = r->mean - 4 * r->sd;
		high = r->mean + 4 * r->sd;
		low = r->log ? exp(low) : low;
		high = r->log ? exp(high) : high;
		/* What is rounded to a multiple is half a step away at most. */
		low -= r->step / 2;
		high += r->step / 2;
	}
	r->min = ceil(low / r->step) * r->step;
	r->max = floor(high / r->step) * r->step;
	if (r->log && r->min <= 0)
		r->min = r->step;
}

void
import_range_put(struct import *im, const char *name,
    const struct import_range *r, const char *when)
{
	struct json_writer w = converted_object(&im->to, 2, name);

	json_writer_text(&w, "type", r->whole ? "int" : "float");
	if (!isnan(r->min)) {
		json_writer_number(&w, "min", r->min);
		json_writer_number(&w, "max", r->max);
	}
	if (r->log)
		json_writer_text(&w, "scale", "log");
	if (r->step > 0 && !(r->whole && r->step == 1))
		json_writer_number(&w, "step", r->step);
	if (r->sd > 0) {
		json_writer_number(&w, "mean", r->mean);
		json_writer_number(&w, "sd", r->sd);
	}
	if (when != NULL)
		json_writer_raw(&w, "when", when);
	json_writer_end(&w);
}
