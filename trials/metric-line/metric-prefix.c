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
 *	[2026-01-31:12:00:00:INFO] TEXT
 *	[2026-01-31T12:00:00Z INFO  train] TEXT
 *	[INFO|train.py:12] 2026-01-31 12:00:00,123 >> TEXT
 *	(train pid=12, ip=10.0.0.1) TEXT
 *	[ Info: TEXT
 *
 * Names alone are no prefix: a time, a level or a rank must be there.
 */

#include <string.h>
#include <strings.h>

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
		(void)metric_span_take(&t, ",");
		if (t.p < t.end && strchr(" T:", *t.p) != NULL &&
		    *t.p != '\0') {
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

/* "prterun-host-123@" of Open MPI 5, if it is there. */
static bool
prefix_job(struct metric_span *s)
{
	struct metric_span t = *s;

	while (t.p < t.end && prefix_is_name(*t.p))
		t.p++;
	if (metric_span_take(&t, "@"))
		*s = t;
	return true;
}

/*
 * "[1,3]<stdout>:" of Open MPI's --tag-output, "[prterun-host-12@1,3]<stdout>: ", or
 * "3: " of srun --label, which is the first part: which rank; -1 = none.
 */
static int64_t
prefix_tagged(struct metric_span *s, bool first)
{
	struct metric_span t = *s;
	int64_t n;

	if (metric_span_take(&t, "[") && prefix_job(&t) &&
	    metric_span_take_count(&t, &n) && metric_span_take(&t, ",") &&
	    metric_span_take_count(&t, &n) &&
	    (metric_span_take(&t, "]<stdout>:") ||
		metric_span_take(&t, "]<stderr>:"))) {
		*s = t;
		return n;
	}
	t = *s;
	if (!first || !metric_span_take_count(&t, &n) ||
	    !metric_span_take(&t, ": "))
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
	if ((!prefix_digits(&t, 4, ' ') && !prefix_digits(&t, 8, ' ')) ||
	    !prefix_clock(&t))
		return false;
	while (metric_span_take(&t, " "))
		;
	if (!metric_span_take_count(&t, &n) || !metric_span_take(&t, " "))
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

/* "(train pid=12, ip=10.0.0.1)" of Ray. */
static bool
prefix_ray(struct metric_span *s)
{
	struct metric_span t = *s;
	int64_t pid;

	if (!metric_span_take(&t, "(") || !prefix_word(&t) ||
	    !metric_span_take(&t, " pid=") || !metric_span_take_count(&t, &pid))
		return false;
	(void)metric_span_take_until(&t, ") ");
	if (t.p[-1] != ' ' || t.p - s->p > 128)
		return false;
	*s = t;
	return true;
}

/* "[ Info: " of Julia, "{subprocess.py:93}" of Airflow. */
static bool
prefix_marked(struct metric_span *s)
{
	struct metric_span t = *s;
	int64_t line;

	if (metric_span_take(s, "[ Info: ") ||
	    metric_span_take(s, "[ Warning: "))
		return true;
	if (!metric_span_take(&t, "{") || !prefix_word(&t) ||
	    !metric_span_take(&t, ":") || !metric_span_take_count(&t, &line) ||
	    !metric_span_take(&t, "}"))
		return false;
	*s = t;
	return true;
}

/*
 * What follows a time or a level in its brackets, " INFO  train" or "|train.py:12", up
 * to their end.
 */
static void
prefix_rest(struct metric_span *s)
{
	const char *p = s->p;

	if (p == s->end || strchr(" :,|", *p) == NULL)
		return;
	while (p < s->end && p - s->p < 80 && *p != ']' && *p != '[' &&
	       *p != '=' && *p != '\0')
		p++;
	if (p < s->end && *p == ']')
		s->p = p;
}

/* Blanks and what stands between the parts of a prefix. */
static void
prefix_separators(struct metric_span *s)
{
	while (
	    s->p < s->end && (metric_span_is_blank(*s->p) || *s->p == '|' ||
				 *s->p == ':' || *s->p == ']' || *s->p == '>' ||
				 (*s->p == '-' && s->p + 1 < s->end &&
				     metric_span_is_blank(s->p[1]))))
		s->p++;
}

/* One part, the first one or not; sure: of a prefix, without doubt.  -1: of another rank. */
static int
prefix_part(struct metric_span *s, bool first, bool *sure)
{
	struct metric_span t = *s;
	bool bracket = metric_span_take(&t, "[");
	int64_t rank = prefix_tagged(s, first);

	if (rank > 0)
		return -1;
	if (rank == 0 || prefix_glog(s) || prefix_ray(s) || prefix_marked(s)) {
		*sure = true;
		return 1;
	}
	if (bracket && (rank = prefix_rank(&t)) >= 0) {
		if (rank > 0)
			return -1;
		*sure = true;
	} else if (prefix_time(&t) || prefix_level(&t)) {
		*sure = true;
		if (bracket)
			prefix_rest(&t);
	} else if (!prefix_named(&t, bracket) && !prefix_logger(&t))
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
	bool sure = false, was, first = true;
	int rc;

	while (t.p < t.end && metric_span_is_blank(*t.p))
		t.p++;
	good = t;
	do {
		was = sure;
		sure = false;
		rc = prefix_part(&t, first, &sure);
		first = false;
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

/* Whether a text names another rank: "rank 1", "[GPU1]", "[2]" alone. */
static bool
prefix_other_rank(struct metric_span s)
{
	static const char *const marks[] = { "[GPU", "[gpu",
		"[cuda:", "[worker", "[proc", NULL };
	struct metric_span t = s;
	int64_t n;
	size_t i;

	if (metric_span_take(&t, "[") && metric_span_take_count(&t, &n) &&
	    n > 0 && metric_span_take(&t, "]") && t.p == t.end)
		return true;
	for (; s.end - s.p > 4; s.p++) {
		t = s;
		for (i = 0; marks[i] != NULL; i++)
			if (metric_span_take(&t, marks[i]))
				break;
		if (marks[i] == NULL) {
			if (strncasecmp(t.p, "rank", 4) != 0)
				continue;
			t.p += 4;
		}
		while (t.p < t.end && strchr(" :=_#", *t.p) != NULL &&
		       *t.p != '\0')
			t.p++;
		if (metric_span_take_count(&t, &n) && n > 0)
			return true;
	}
	return false;
}

/* The last word of a text is a level, a half of the day, or seconds since 1970. */
static bool
prefix_last_word(struct metric_span s)
{
	static const char *const words[] = { "INF", "WRN", "DBG", "ERR", "AM",
		"PM", NULL };
	struct metric_span word = { s.end, s.end }, level;
	int64_t seconds;
	size_t i;

	while (word.p > s.p && !metric_span_is_blank(word.p[-1]))
		word.p--;
	for (i = 0; words[i] != NULL; i++)
		if ((size_t)(word.end - word.p) == strlen(words[i]) &&
		    memcmp(word.p, words[i], strlen(words[i])) == 0)
			return word.p > s.p;
	/* A level ends before another character. */
	level = (struct metric_span){ word.p, word.end + 1 };
	if (prefix_level(&level) && level.p == word.end)
		return true;
	level = word;
	return metric_span_take_count(&level, &seconds) &&
	       seconds >= 1000000000 && word.p == s.p &&
	       (level.p == level.end || *level.p == '.');
}

bool
metric_prefix_before(struct metric_span s, bool *quoted)
{
	struct metric_span head = metric_span_trim(s);
	size_t n = (size_t)(head.end - head.p);
	char last = n > 0 ? head.end[-1] : '\0',
	     before = n > 1 ? head.end[-2] : '\0';

	*quoted = last == '"';
	/* A shell that traces its commands shows them behind a plus. */
	if (n == 0 || n > 256 || *head.p == '+' || prefix_other_rank(head))
		return false;
	/* [1] "TEXT", msg="TEXT", {"event": "TEXT" */
	if (*quoted)
		return head.end == s.end &&
		       (before == '=' || before == ':' ||
			   (n > 2 && before == ' ' &&
			       (head.end[-3] == ':' || head.end[-3] == ']')));
	if (s.end[-1] == '\t' || (last == '-' && (before == ' ' || n == 1)) ||
	    (last == '-' && before == '-') ||
	    (last != '\0' && strchr("])}>|:", last) != NULL))
		return true;
	return head.end < s.end && prefix_last_word(head);
}

void
metric_prefix_behind(struct metric_span *s)
{
	const char *p;

	for (p = s->p; p + 1 < s->end; p++)
		if (metric_span_is_blank(*p) && (p[1] == '[' || p[1] == '{')) {
			s->end = p;
			return;
		}
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
