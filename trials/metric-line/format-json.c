/*
 * {"step": 3, "loss": 0.24}: a line of standard output that is a JSON object, or a
 * dictionary as Python prints it.
 */

#include "src/base/mem.h"
#include "trials/metric-line/metric-format.h"
#include "trials/metric-line/metric-internal.h"

/* What is no JSON object is another line, and not an error. */
static enum metric_read
format_json_read(struct metric_line *r, struct metric_span s,
    const struct metric_reading *in)
{
	struct buf json = { 0 };
	bool good;

	metric_object_trim(&s.p, &s.end);
	if (s.end - s.p < 2 || *s.p != '{' || s.end[-1] != '}')
		return METRIC_READ_OTHER;
	good =
	    metric_json_parse_names(r, s.p, (size_t)(s.end - s.p), in->names);
	if (!good && metric_python_json(&json, s.p, s.end))
		good =
		    metric_json_parse_names(r, json.data, json.len, in->names);
	buf_free(&json);
	if (!good)
		return METRIC_READ_OTHER;
	if (in->names->step == NULL)
		metric_json_step(r, in->state);
	return METRIC_READ_REPORT;
}

const struct metric_format metric_format_json = {
	.raw = true,
	.state = sizeof(int), /* metric_json_step */
	.read = format_json_read,
};
