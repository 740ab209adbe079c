/* One line of a training job's log -> a report. */

#include <ctype.h>
#include <string.h>

#include "trials/sagemaker-logs.h"

#define JSON_TAG "hpotune-json:"
#define END_TAG "hpotune-end: status "

/*
 * "[1,mpirank:0,algo-1]<stdout>:" of the toolkit, "[1,0]<stdout>:" of mpirun.
 * The text behind it; NULL when another rank speaks.
 */
static const char *
after_rank(const char *p, const char *end)
{
	const char *q = p, *rank;

	if (q == end || *q++ != '[')
		return p;
	while (q < end && isdigit((unsigned char)*q))
		q++;
	if (q == end || *q++ != ',')
		return p;
	if ((size_t)(end - q) > 8 && memcmp(q, "mpirank:", 8) == 0)
		q += 8;
	rank = q;
	while (q < end && isdigit((unsigned char)*q))
		q++;
	if (q == rank)
		return p;
	if (q - rank != 1 || *rank != '0')
		return NULL;
	q = memchr(q, ']', (size_t)(end - q));
	if (q == NULL || end - q < 10 ||
	    (memcmp(q, "]<stdout>:", 10) != 0 &&
		memcmp(q, "]<stderr>:", 10) != 0))
		return p;
	return q + 10;
}

bool
sm_line_ends(const char *text)
{
	const char *p = text + sizeof END_TAG - 1;

	if (strncmp(text, END_TAG, sizeof END_TAG - 1) != 0 ||
	    !isdigit((unsigned char)*p))
		return false;
	while (isdigit((unsigned char)*p))
		p++;
	while (*p == '\n' || *p == '\r')
		p++;
	return *p == '\0';
}

static bool
nothing(struct report *r)
{
	r->n = 0;
	r->has_step = false;
	r->why = NULL;
	return false;
}

bool
sm_line_parse(struct report *r, const struct report_rules *rules,
    const char *text, size_t len)
{
	const char *end = text + len, *p;

	while (end > text && (end[-1] == '\n' || end[-1] == '\r'))
		end--;
	p = after_rank(text, end);
	if (p == NULL || sm_line_ends(text))
		return nothing(r);
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if ((size_t)(end - p) > sizeof JSON_TAG - 1 &&
	    memcmp(p, JSON_TAG, sizeof JSON_TAG - 1) == 0) {
		p += sizeof JSON_TAG - 1;
		return report_parse_json(r, p, (size_t)(end - p));
	}
	return report_parse_line(r, rules, p, (size_t)(end - p));
}
