/*
 * What loggers and launchers write before a text:
 *
 *	2026-01-31 12:00:00,123 INFO train: TEXT
 *	2026-01-31 12:00:00 | INFO | fairseq.trainer | TEXT
 *	2026-01-31 12:00:00 [info     ] TEXT
 *	Jan 31 12:00:00 TEXT
 *	2026/01/31 12:00:00 - mmengine - INFO - TEXT
 *	INFO:root:TEXT
 *	[rank0]: [2026-01-31 12:00:00,123][__main__][INFO] - TEXT
 *	I0131 12:00:00.123456 12345 train.py:12] TEXT
 *	[1,0]<stdout>:TEXT
 *
 * Names alone are no prefix: a time, a level or a rank must be there.
 */

#include <string.h>

#include "trials/metric-line/metric-format.h"

static bool
prefix_is_name(char c)
{
	return (unsigned)((c | 0x20) - 'a') < 26 || metric_span_is_digit(c) ||
	       c == '_' || c == '.' || c == '-';
}

/* Two digits at p, then c, which is skipped. */
static bool
prefix_digits(struct metric_span *s, int n, char c)
{
	const char *p = s->p;

	for (; n > 0; n--, p++)
		if (p == s->end || !metric_span_is_digit(*p))
			return false;
	if (c != '\0' && (p == s->end || *p++ != c))
		return false;
	s->p = p;
	return true;
}

static bool
prefix_date(struct metric_span *s)
{
	struct metric_span t = *s;

	/* 01/31/2026 */
	if (prefix_digits(&t, 2, '/') && prefix_digits(&t, 2, '/') &&
	    prefix_digits(&t, 4, '\0')) {
		*s = t;
		return true;
	}
	t = *s;
	if ((prefix_digits(&t, 4, '-') && prefix_digits(&t, 2, '-')) ||
	    (t = *s, prefix_digits(&t, 4, '/') && prefix_digits(&t, 2, '/')) ||
	    (t = *s, prefix_digits(&t, 2, '/') && prefix_digits(&t, 2, '/')) ||
	    (t = *s, prefix_digits(&t, 4, '.') && prefix_digits(&t, 2, '.'))) {
		if (!prefix_digits(&t, 2, '\0'))
			return false;
		*s = t;
		return true;
	}
	/* 01/31 12:00:00 */
	t = *s;
	if (!prefix_digits(&t, 2, '/') || !prefix_digits(&t, 2, '\0') ||
	    t.end - t.p < 9 || *t.p != ' ' || !metric_span_is_digit(t.p[1]) ||
	    t.p[3] != ':')
		return false;
	*s = t;
	return true;
}

/* 12:00:00, with a fraction and a zone. */
static bool
prefix_clock(struct metric_span *s)
{
	struct metric_span t = *s;

	if (!prefix_digits(&t, 2, ':') || !prefix_digits(&t, 2, ':') ||
	    !prefix_digits(&t, 2, '\0'))
		return false;
	if (t.p < t.end && (*t.p == '.' || *t.p == ','))
		for (t.p++; t.p < t.end && metric_span_is_digit(*t.p); t.p++)
			;
	if (t.p < t.end && *t.p == 'Z')
		t.p++;
	else if (t.end - t.p > 4 && (*t.p == '+' || *t.p == '-') &&
		 metric_span_is_digit(t.p[1]))
		for (t.p++;
		     t.p < t.end && (metric_span_is_digit(*t.p) || *t.p == ':');
		     t.p++)
			;
	*s = t;
	return true;
}

/* Jan 31 12:00:00, as ts of moreutils and syslog write it. */
static bool
prefix_month(struct metric_span *s)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	struct metric_span t = *s;
	size_t i;

	if (t.end - t.p < 15 || t.p[3] != ' ')
		return false;
	for (i = 0; i < sizeof months - 1; i += 3)
		if (memcmp(t.p, months + i, 3) == 0)
			break;
	t.p += t.p[4] == ' ' ? 5 : 4;
	if (i >= sizeof months - 1 ||
	    (!prefix_digits(&t, 2, ' ') && !prefix_digits(&t, 1, ' ')) ||
	    !prefix_clock(&t))
		return false;
	*s = t;
	return true;
}

static bool
prefix_time(struct metric_span *s)
{
	struct metric_span t = *s;

	if (prefix_month(s))
		return true;
	if (prefix_date(&t)) {
		*s = t;
		if (t.p < t.end && (*t.p == ' ' || *t.p == 'T')) {
			t.p++;
			if (prefix_clock(&t))
				*s = t;
		}
		return true;
	}
	return prefix_clock(s);
}

static bool
prefix_level(struct metric_span *s)
{
	static const char *const levels[] = { "INFO", "DEBUG", "WARNING",
		"WARN", "ERROR", "CRITICAL", "TRACE", "SUCCESS", "NOTICE",
		"info", "debug", "warning", "error", "critical", "notice", "I",
		"D", "W", NULL };
	struct metric_span t;
	size_t i;

	for (i = 0; levels[i] != NULL; i++) {
		t = *s;
		if (!metric_span_take(&t, levels[i]) || t.p == t.end ||
		    prefix_is_name(*t.p))
			continue;
		/* One letter is a level in brackets alone. */
		if (levels[i][1] == '\0' && *t.p != ']')
			continue;
		*s = t;
		return true;
	}
	return false;
}

/* "rank3" or "default3" in brackets: which one; -1 = none. */
static int64_t
prefix_rank(struct metric_span *s)
{
	struct metric_span t = *s;
	int64_t n;

	if ((!metric_span_take(&t, "rank") && !metric_span_take(&t, "Rank") &&
		!metric_span_take(&t, "default")) ||
	    (metric_span_take(&t, ":"), metric_span_take(&t, " "),
		!metric_span_take_count(&t, &n)) ||
	    t.p == t.end || *t.p != ']')
		return -1;
	*s = t;
	return n;
}

/*
 * "[1,3]<stdout>:" of Open MPI's --tag-output, or "3: " of srun --label: which rank;
 * -1 = none.
 */
static int64_t
prefix_tagged(struct metric_span *s)
{
	struct metric_span t = *s;
	int64_t n;

	if (metric_span_take(&t, "[") && metric_span_take_count(&t, &n) &&
	    metric_span_take(&t, ",") && metric_span_take_count(&t, &n) &&
	    (metric_span_take(&t, "]<stdout>:") ||
		metric_span_take(&t, "]<stderr>:"))) {
		*s = t;
		return n;
	}
	t = *s;
	if (!metric_span_take_count(&t, &n) || !metric_span_take(&t, ": "))
		return -1;
	*s = t;
	return n;
}

/* "I0131 12:00:00.123456 12345 train.py:12]" of glog and absl. */
static bool
prefix_glog(struct metric_span *s)
{
	struct metric_span t = *s, head;
	int64_t n;

	if (t.p == t.end || strchr("IWEFD", *t.p) == NULL || *t.p == '\0')
		return false;
	t.p++;
	if (!prefix_digits(&t, 4, ' ') || !prefix_clock(&t) ||
	    (metric_span_take(&t, " "), !metric_span_take_count(&t, &n)) ||
	    !metric_span_take(&t, " "))
		return false;
	head = metric_span_take_until(&t, "] ");
	if (t.p == t.end || head.end - head.p > 64)
		return false;
	*s = t;
	return true;
}

static bool
prefix_word(struct metric_span *s)
{
	const char *p = s->p;

	if (p == s->end || metric_span_is_digit(*p))
		return false;
	while (s->p < s->end && prefix_is_name(*s->p))
		s->p++;
	return s->p > p;
}

/*
 * The name of a logger, before ':', '-', '|' or ']': "train", and where it was
 * called: "__main__:main:12 -".
 */
static bool
prefix_logger(struct metric_span *s)
{
	struct metric_span t = *s, call;
	int64_t line;

	if (!prefix_word(&t))
		return false;
	call = t;
	if (metric_span_take(&call, ":") &&
	    (metric_span_take(&call, "<module>") || prefix_word(&call)) &&
	    metric_span_take(&call, ":") &&
	    metric_span_take_count(&call, &line))
		t = call;
	else if (metric_span_take(&t, ":")) {
		*s = t;
		return true;
	}
	while (t.p < t.end && metric_span_is_blank(*t.p))
		t.p++;
	if (t.p == t.end ||
	    !(*t.p == ']' || *t.p == '|' ||
		(*t.p == '-' && metric_span_is_blank(t.p[-1]) &&
		    t.end - t.p > 1 && metric_span_is_blank(t.p[1]))))
		return false;
	*s = t;
	return true;
}

/*
 * A name that a level follows, "train        INFO", or in brackets the place of a
 * call, "[logging.py:96:log_dist]", of which the end is left.
 */
static bool
prefix_named(struct metric_span *s, bool bracket)
{
	struct metric_span t = *s, level;
	int64_t line;

	if (!prefix_word(&t))
		return false;
	if (bracket) {
		if (!metric_span_take(&t, ":") ||
		    !metric_span_take_count(&t, &line))
			return false;
		if (metric_span_take(&t, ":") && !prefix_word(&t))
			return false;
	} else {
		while (t.p < t.end && metric_span_is_blank(*t.p))
			t.p++;
		level = t;
		if (!metric_span_is_blank(t.p[-1]) || !prefix_level(&level))
			return false;
	}
	*s = t;
	return true;
}

/* Blanks and what stands between the parts of a prefix. */
static void
prefix_separators(struct metric_span *s)
{
	while (s->p < s->end && (metric_span_is_blank(*s->p) || *s->p == '|' ||
				    *s->p == ':' || *s->p == ']' ||
				    (*s->p == '-' && s->p + 1 < s->end &&
					metric_span_is_blank(s->p[1]))))
		s->p++;
}

/* One part; sure: of a prefix, without doubt.  -1: of another rank. */
static int
prefix_part(struct metric_span *s, bool *sure)
{
	struct metric_span t = *s;
	bool bracket = metric_span_take(&t, "[");
	int64_t rank = prefix_tagged(s);

	if (rank > 0)
		return -1;
	if (rank == 0 || prefix_glog(s)) {
		*sure = true;
		return 1;
	}
	if (bracket && (rank = prefix_rank(&t)) >= 0) {
		if (rank > 0)
			return -1;
		*sure = true;
	} else if (prefix_time(&t) || prefix_level(&t))
		*sure = true;
	else if (!prefix_named(&t, bracket) && !prefix_logger(&t))
		return 0;
	while (bracket && t.p < t.end && *t.p == ' ')
		t.p++;
	if (bracket && (t.p == t.end || *t.p != ']'))
		return 0;
	*s = t;
	return 1;
}

bool
metric_prefix_skip(struct metric_span *s)
{
	struct metric_span t = *s, good;
	bool sure = false, was;
	int rc;

	while (t.p < t.end && metric_span_is_blank(*t.p))
		t.p++;
	good = t;
	do {
		was = sure;
		sure = false;
		rc = prefix_part(&t, &sure);
		prefix_separators(&t);
		if (sure)
			good = t;
		sure |= was;
	} while (rc == 1);
	if (rc == -1)
		return false;
	if (sure)
		*s = good;
	return true;
}

void
metric_prefix_place(struct metric_span *s)
{
	struct metric_span word = metric_span_trim(*s);
	const char *digits = word.end;

	s->end = word.end;
	for (word.p = word.end; word.p > s->p; word.p--)
		if (metric_span_is_blank(word.p[-1]))
			break;
	while (digits > word.p && metric_span_is_digit(digits[-1]))
		digits--;
	if (digits < word.end && digits - word.p > 4 &&
	    memcmp(digits - 4, ".py:", 4) == 0 && word.p - s->p > 2 &&
	    metric_span_is_blank(word.p[-2]))
		s->end = word.p;
}

bool
metric_prefix_name(struct metric_span *s)
{
	struct metric_span t = *s;

	if (!prefix_logger(&t))
		return false;
	prefix_separators(&t);
	*s = t;
	return true;
}
