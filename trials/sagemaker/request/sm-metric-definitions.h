/* Metric definitions of a training job. */

#ifndef HPOTUNE_SM_METRIC_DEFINITIONS_H
#define HPOTUNE_SM_METRIC_DEFINITIONS_H

struct json_writer;
struct sm_request;

/* Write the member MetricDefinitions, without what exceeds a limit. */
void sm_metric_definitions_put(struct json_writer *, const struct sm_request *);

#endif /* HPOTUNE_SM_METRIC_DEFINITIONS_H */
