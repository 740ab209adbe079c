/*
 * Metric definitions of a training job: the patterns by which CloudWatch finds
 * metrics in its output, within AWS's limits.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/sagemaker/request/sm-hyperparameters.h"
#include "trials/sagemaker/request/sm-metric-definitions.h"
#include "trials/sagemaker/request/sm-request.h"

enum { METRICS_MAX = 40, METRIC_NAME_MAX = 255, REGEX_MAX = 500 };

/*
 * Regular expression for the value of a name in a tagged line, as a pair or as
 * JSON.  One group, no look-around: supported by every engine.  The value is a
 * word, so that exponents, nan and Infinity are matched whole; lines of other
 * ranks have no such tag.
 */
static char *
tag_regex(const char *name, const char *value)
{
	struct buf b = { 0 };

	buf_puts(&b, "hpotune[-json]*:.*[ \"]");
	for (; *name != '\0'; name++)
		buf_printf(&b, "%s%c", *name == '.' ? "\\" : "", *name);
	buf_printf(&b, "[ =\":]+(%s)", value);
	return buf_take(&b);
}

static void
metric_definition_put(
    struct json_writer *w, const char *name, const char *regex)
{
	json_writer_object(w, NULL);
	json_writer_text(w, "Name", name);
	json_writer_text(w, "Regex", regex);
	json_writer_end(w);
}

static bool
metric_fits(const struct study_metric *m)
{
	return sm_hyperparameters_length(m->name) <= METRIC_NAME_MAX &&
	       sm_hyperparameters_length(m->regex) <= REGEX_MAX &&
	       sm_hyperparameters_one_line(m->regex) &&
	       sm_hyperparameters_one_line(m->name);
}

void
sm_metric_definitions_put(struct json_writer *w, const struct sm_request *r)
{
	const struct study_trial *t = r->spec->settings;
	char *tagged = tag_regex(r->metric, "[-+.0-9A-Za-z]+");
	char *step = tag_regex("step", "[0-9]+");
	const char *objective = NULL;
	size_t i, k, n = 2;

	json_writer_array(w, "MetricDefinitions");
	for (i = 0; i < t->n_metrics && objective == NULL; i++)
		if (strcmp(t->metrics[i].name, r->metric) == 0 &&
		    metric_fits(&t->metrics[i]))
			objective = t->metrics[i].regex;
	metric_definition_put(
	    w, SM_METRIC_OBJECTIVE, objective != NULL ? objective : tagged);
	metric_definition_put(w, SM_METRIC_STEP,
	    objective != NULL && t->step_regex != NULL &&
		    sm_hyperparameters_length(t->step_regex) <= REGEX_MAX &&
		    sm_hyperparameters_one_line(t->step_regex)
		? t->step_regex
		: step);
	for (i = 0; i < t->n_metrics && n < METRICS_MAX; i++) {
		for (k = 0; k < i; k++)
			if (strcmp(t->metrics[k].name, t->metrics[i].name) == 0)
				break;
		if (k < i || !metric_fits(&t->metrics[i]) ||
		    strcmp(t->metrics[i].name, r->metric) == 0)
			continue;
		metric_definition_put(
		    w, t->metrics[i].name, t->metrics[i].regex);
		n++;
	}
	json_writer_end(w);
	free(step);
	free(tagged);
}
