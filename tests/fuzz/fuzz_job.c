/*
 * Arbitrary bytes as a description of a training job, and as an error message.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "trials/sagemaker/sm-internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
need(bool good)
{
	if (!good)
		abort();
}

/* A clause for rows: UTF-8, one line. */
static void
need_clause(const char *s, size_t size)
{
	size_t i = 0, len = strnlen(s, size);
	uint32_t code;
	int n;

	need(len < size);
	while (i < len) {
		n = text_decode(s + i, len - i, &code);
		need(n > 0 && !text_is_control(code));
		i += (size_t)n;
	}
}

static void
try_limit(const char *text)
{
	struct sm_limit l;

	if (sm_quota_limit_read(&l, text))
		need(l.limit >= 0);
	need(strnlen(l.type, sizeof l.type) < sizeof l.type);
	need(l.limit >= -1 && l.in_use >= -1 && l.delta >= -1);
}

static void
try_job(const struct json *o)
{
	struct launch_exit x;
	struct sm_job job;
	bool known;

	sm_job_status_read(&job, o);
	need(job.reason != NULL && job.interruptions >= 0);
	need(strnlen(job.secondary, sizeof job.secondary) <
	     sizeof job.secondary);
	known = sm_job_status_end(&x, &job, false);
	need(known ==
	     (sm_job_status_over(job.status) && job.status != SM_DELETING));
	need_clause(x.why, sizeof x.why);
	need(x.signal == 0 || x.exit_code == -1);
	need(!x.billed || x.billable_s == x.billable_s);
	try_limit(job.reason);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;

	try_limit(text);
	if (json_parse(&doc, text, strlen(text), NULL, false, &e) == 0)
		try_job(json_root(doc));
	json_free(doc);
	free(text);
	return 0;
}
