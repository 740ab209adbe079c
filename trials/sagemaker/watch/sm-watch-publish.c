/*
 * Publishes metrics of the study to CloudWatch, once a minute: namespace
 * "hpotune", one dimension, the study.  CloudWatch accepts finite numbers up to
 * 2^360.  Reference: CloudWatch API, PutMetricData.
 */

#include <math.h>

#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/sagemaker/watch/sm-watch-internal.h"

#define VALUE_MOST 0x1p360

static void
datum_put(struct buf *b, const struct sm_watch *w, const char *name,
    const char *unit, double value)
{
	if (!isfinite(value) || fabs(value) > VALUE_MOST)
		return;
	if (b->data[b->len - 1] != '[')
		buf_putc(b, ',');
	buf_putc(b, '{');
	sm_watch_put(b, "MetricName", name);
	buf_puts(b, ",\"Dimensions\":[{\"Name\":\"Study\"");
	sm_watch_put(b, "Value", w->env.study);
	buf_puts(b, "}]");
	sm_watch_put(b, "Unit", unit);
	buf_puts(b, ",\"Value\":");
	json_put_number(b, value);
	buf_printf(b, ",\"Timestamp\":%lld}",
	    (long long)(loop_wall_us(w->env.loop) / 1000000));
}

void
sm_watch_publish(struct sm_watch *w)
{
	struct buf body = { 0 };

	buf_putc(&body, '{');
	sm_watch_put(&body, "Namespace", "hpotune");
	buf_puts(&body, ",\"MetricData\":[");
	datum_put(&body, w, "BestObjective", "None", w->best);
	datum_put(&body, w, "JobsRunning", "Count", w->running);
	datum_put(&body, w, "JobsEnded", "Count", w->ended);
	datum_put(&body, w, "BillableSeconds", "Seconds", w->billable_s);
	datum_put(&body, w, "Cost", "None", w->cost);
	buf_puts(&body, "]}");
	sm_watch_ask(w, AWS_CLOUDWATCH, "PutMetricData", &body,
	    "metrics of the study", &w->publish_noted, NULL, NULL);
	buf_free(&body);
}
