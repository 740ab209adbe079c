/* Parses one line of a training job's log into a report. */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "trials/metric-line/metric-line.h"
#include "trials/sagemaker/logs/sm-log-line.h"

#define TAG "hpotune:"
#define JSON_TAG "hpotune-json:"
#define RANK_TAG "hpotune-rank-" /* before lines of other ranks */
#define END_TAG "hpotune-end: status "

static bool
log_line_begins(const char *p, const char *end, const char *with)
{
	size_t n = strlen(with);

	return (size_t)(end - p) >= n && memcmp(p, with, n) == 0;
}

/*
 * "[1,mpirank:0,algo-1]<stdout>:" of the toolkit, "[1,0]<stdout>:" of mpirun.
 * The text after it; NULL for a line of another rank.
 */
static const char *
after_rank(const char *p, const char *end)
{
	const char *q = p, *rank;
	bool other;

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
	other = q - rank != 1 || *rank != '0';
	q = memchr(q, ']', (size_t)(end - q));
	if (q == NULL || (!log_line_begins(q, end, "]<stdout>:") &&
			     !log_line_begins(q, end, "]<stderr>:")))
		return p;
	if (other)
		return NULL;
	return q + 10;
}

/* Without line ends. */
static size_t
line_len(const char *text, size_t n)
{
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
		n--;
	return n;
}

/* How much stands before the last line of all; len when it is none. */
static size_t
end_find(const char *text, size_t len)
{
	size_t n = line_len(text, len), tag = sizeof END_TAG - 1, digits = n;

	while (digits > 0 && isdigit((unsigned char)text[digits - 1]))
		digits--;
	if (digits == n || digits < tag ||
	    memcmp(text + digits - tag, END_TAG, tag) != 0)
		return len;
	return digits - tag;
}

bool
sm_log_line_ends(const char *text, size_t *before)
{
	size_t n = strlen(text);

	*before = end_find(text, n);
	return *before < n;
}

static bool
log_line_nothing(struct metric_line *r)
{
	r->n = 0;
	r->has_step = false;
	r->why = r->left_out = NULL;
	return false;
}

/* Our tag is found anywhere in the line: a progress bar may precede it. */
static const char *
after_json_tag(const char *p, const char *end)
{
	p = memmem(p, (size_t)(end - p), JSON_TAG, sizeof JSON_TAG - 1);
	return p != NULL ? p + sizeof JSON_TAG - 1 : NULL;
}

bool
sm_log_line_parse(struct metric_line *r, const struct metric_patterns *rules,
    const char *text, size_t len)
{
	const char *end, *p, *json;

	end = text + line_len(text, end_find(text, len));
	p = after_rank(text, end);
	if (p == NULL || log_line_begins(p, end, RANK_TAG))
		return log_line_nothing(r);
	json = after_json_tag(p, end);
	if (json != NULL)
		return metric_json_parse(r, json, (size_t)(end - json));
	return metric_line_parse(r, rules, p, (size_t)(end - p));
}

size_t
sm_log_line_head(const char *text)
{
	const char *end = text + strlen(text), *tag = strstr(text, JSON_TAG);

	if (tag == NULL || *text == '[' || log_line_begins(text, end, RANK_TAG))
		return 0;
	return (size_t)(tag - text);
}

static bool
log_line_has_tag(const char *text)
{
	return strstr(text, TAG) != NULL || strstr(text, JSON_TAG) != NULL;
}

static bool
begins_with_tag(const char *p)
{
	const char *end = p + strlen(p);

	p += strspn(p, " \t");
	return log_line_begins(p, end, TAG) ||
	       log_line_begins(p, end, JSON_TAG);
}

bool
sm_log_line_open(struct metric_line *r, const struct metric_patterns *rules,
    const char *text)
{
	size_t n = line_len(text, strlen(text));

	if (n == 0)
		return false;
	if (log_line_has_tag(text))
		return text[n - 1] != ',' && text[n - 1] != '}';
	return rules != NULL && sm_log_line_parse(r, rules, text, n);
}

/* Whether b contains all values of a. */
static bool
says_all(const struct metric_line *a, const struct metric_line *b)
{
	size_t i, k;

	if (a->has_step && (!b->has_step || a->step != b->step))
		return false;
	for (i = 0; i < a->n; i++) {
		for (k = 0; k < b->n; k++)
			if (strcmp(a->values[i].name, b->values[k].name) == 0)
				break;
		/* The same bits: NaN is itself. NOLINTNEXTLINE(bugprone-*) */
		if (k == b->n || memcmp(&a->values[i].value,
				     &b->values[k].value, sizeof(double)) != 0)
			return false;
	}
	return true;
}

static enum sm_log_line_next
join_tell(
    const struct metric_patterns *rules, const char *held, const char *both)
{
	struct metric_line *r = xcalloc(2, sizeof *r);
	bool one =
	    sm_log_line_parse(&r[0], rules, held, line_len(held, strlen(held)));
	bool two =
	    sm_log_line_parse(&r[1], rules, both, line_len(both, strlen(both)));
	enum sm_log_line_next what = SM_LOG_LINE_WHOLE;

	if (one && two && !says_all(&r[0], &r[1]))
		what = SM_LOG_LINE_DOUBT;
	else if (two && log_line_has_tag(held) &&
		 (!one || r[1].n > r[0].n || r[1].has_step != r[0].has_step))
		what = SM_LOG_LINE_GOES_ON;
	free(r);
	return what;
}

enum sm_log_line_next
sm_log_line_join(const struct metric_patterns *rules, const char *held,
    const char *next, char **joined)
{
	const char *rest = after_rank(next, next + strlen(next));
	size_t n = line_len(held, strlen(held));
	enum sm_log_line_next what;
	int most;

	*joined = NULL;
	if (rest == NULL)
		return SM_LOG_LINE_OTHER;
	if (begins_with_tag(rest))
		return SM_LOG_LINE_WHOLE;
	/*
	 * A pattern may match more with the rest; a number continues within its
	 * word.
	 */
	most = log_line_has_tag(held) ? (int)line_len(rest, strlen(rest))
				      : (int)strcspn(rest, " \t\r\n");
	*joined = xasprintf("%.*s%.*s", (int)n, held, most, rest);
	what = join_tell(rules, held, *joined);
	if (what != SM_LOG_LINE_GOES_ON) {
		free(*joined);
		*joined = NULL;
	}
	return what;
}
