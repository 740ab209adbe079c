/*
 * Arbitrary bytes as a line of a training job's log.  The first two bytes say
 * where it is split in two: half a number must never be a report.
 */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/metric-line/metric-line.h"
#include "trials/sagemaker/logs/sm-log-line.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static struct metric_line whole, part;

static void
need(bool good)
{
	if (!good)
		abort();
}

/* What the first half says is what the whole line says. */
static void
check_half(void)
{
	size_t i, k;
	double a, b;

	need(!part.has_step || !whole.has_step || part.step == whole.step);
	for (i = 0; i < part.n; i++)
		for (k = 0; k < whole.n; k++) {
			if (strcmp(part.values[i].name, whole.values[k].name))
				continue;
			a = part.values[i].value;
			b = whole.values[k].value;
			need(a == b || (isnan(a) && isnan(b)));
		}
}

static void
check_cut(const char *line, size_t at)
{
	char *held = xstrndup(line, at), *both;
	const char *next = line + at;
	size_t before;

	(void)sm_log_line_ends(line, &before);
	need(before <= strlen(line));
	if (sm_log_line_parse(&whole, NULL, line, strlen(line)) &&
	    sm_log_line_open(&part, NULL, held) && before == strlen(line) &&
	    strpbrk(line, "\r\n[") == NULL)
		switch (sm_log_line_join(NULL, held, next, &both)) {
		case SM_LOG_LINE_WHOLE:
			if (sm_log_line_parse(&part, NULL, held, strlen(held)))
				check_half();
			break;
		case SM_LOG_LINE_GOES_ON:
			need(strcmp(both, line) == 0);
			free(both);
			break;
		case SM_LOG_LINE_OTHER:
		case SM_LOG_LINE_DOUBT:
			break;
		}
	free(held);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line, *both;
	size_t at;

	if (size < 2)
		return 0;
	at = (size_t)(data[0] | data[1] << 8);
	line = xstrndup((const char *)data + 2, size - 2);
	(void)sm_log_line_parse(&whole, NULL, (const char *)data + 2, size - 2);
	if (at <= strlen(line))
		check_cut(line, at);
	if (sm_log_line_join(NULL, line, line, &both) == SM_LOG_LINE_GOES_ON)
		free(both);
	free(line);
	return 0;
}
