/*
 * Publishes metrics of the study to CloudWatch, once a minute: namespace
 * "hpotune", one dimension, the study.  CloudWatch accepts finite numbers up to
 * 2^360.  Reference: CloudWatch API, PutMetricData.
 */

#include <math.h>

#include "src/base/json/json-writer.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/sagemaker/watch/sm-watch-internal.h"
#include "trials/sagemaker/watch/sm-watch-publish.h"

#define VALUE_MOST 0x1p360

static void
datum_put(struct json_writer *o, const struct sm_watch *w, const char *name,
    const char *unit, double value)
{
	if (!isfinite(value) || fabs(value) > VALUE_MOST)
		return;
	json_writer_object(o, NULL);
	json_writer_text(o, "MetricName", name);
	sm_watch_put_dimension(o, "Study", w->env.study);
	json_writer_text(o, "Unit", unit);
	json_writer_number(o, "Value", value);
	json_writer_integer(
	    o, "Timestamp", loop_wall_us(w->env.loop) / 1000000);
	json_writer_end(o);
}

void
sm_watch_publish(struct sm_watch *w)
{
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };

	json_writer_object(&o, NULL);
	json_writer_text(&o, "Namespace", "hpotune");
	json_writer_array(&o, "MetricData");
	datum_put(&o, w, "BestObjective", "None", w->best);
	datum_put(&o, w, "JobsRunning", "Count", w->running);
	datum_put(&o, w, "JobsEnded", "Count", w->ended);
	datum_put(&o, w, "BillableSeconds", "Seconds", w->billable_s);
	datum_put(&o, w, "Cost", "None", w->cost);
	json_writer_end(&o);
	json_writer_end(&o);
	sm_watch_ask(w, AWS_CLOUDWATCH, "PutMetricData", &body,
	    "metrics of the study", &w->publish_noted, NULL, NULL);
	buf_free(&body);
}
