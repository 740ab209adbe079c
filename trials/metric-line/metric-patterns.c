/*
 * Lines without tags: those that libraries print, and patterns.  The only file
 * that includes PCRE2.
 *
 * Neither patterns nor lines are trusted: only the first bytes of a line are
 * searched, and the backtracking of a match is limited.
 */

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/metric-line/metric-internal.h"
#include "trials/metric-line/metric-line.h"
#include "trials/metric-line/metric-number.h"

/* ---- lines as libraries print them -------------------------------------- */

/*
 * Read without a pattern (trial.reads); tests/data/metrics has recorded ones.
 *
 *   XGBoost    [3]	train-rmse:0.51	eval-rmse:0.62
 *   LightGBM   [3]	train's l2: 0.78	valid's l2: 0.81
 *              [LightGBM] [Info] Iteration:3, valid_1 l2 : 0.81
 *   fastText   Progress: 100.0% … avg.loss:  0.012 ETA: …
 *              P@1	0.91
 *   Keras      Epoch 3/10
 *              32/32 - 0s - 7ms/step - accuracy: 0.91 - loss: 0.2
 *   Trainer    {'eval_loss': '0.1234', 'epoch': '0.5'}
 *   JSON       {"step": 3, "loss": 0.24}
 */

/* A part of a line. */
struct span {
	const char *p, *end;
};

static bool
is_digit(char c)
{
	return (unsigned)(c - '0') < 10;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct span
trimmed(struct span s)
{
	while (s.p < s.end && is_blank(*s.p))
		s.p++;
	while (s.end > s.p && is_blank(s.end[-1]))
		s.end--;
	return s;
}

static bool
take(struct span *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
		return false;
	s->p += n;
	return true;
}

/* A whole number without a sign. */
static bool
take_count(struct span *s, int64_t *out)
{
	const char *start = s->p;

	for (*out = 0; s->p < s->end && is_digit(*s->p); s->p++) {
		if (*out > INT64_C(1) << 49)
			return false;
		*out = *out * 10 + (*s->p - '0');
	}
	return s->p > start;
}

static const char *
span_find(struct span s, const char *word)
{
	return memmem(s.p, (size_t)(s.end - s.p), word, strlen(word));
}

/* Up to the word, which is skipped; the whole rest without one. */
static struct span
take_until(struct span *s, const char *word)
{
	const char *at = span_find(*s, word);
	struct span head = { s->p, at != NULL ? at : s->end };

	s->p = at != NULL ? at + strlen(word) : s->end;
	return head;
}

/* Add a number that ends with the text; a name that cannot be made is skipped. */
static bool
add_number(struct metric_line *r, struct span name, struct span text)
{
	char made[METRIC_LINE_NAME_MAX + 1];
	struct metric_number n;
	size_t i;

	name = trimmed(name);
	text = trimmed(text);
	if (metric_number_scan(&n, text.p, text.end) != text.end)
		return false;
	if (!metric_line_name_make(made, name.p, (size_t)(name.end - name.p)) ||
	    strcmp(made, "step") == 0)
		return false;
	for (i = 0; i < r->n; i++)
		if (strcmp(r->values[i].name, made) == 0)
			return false;
	return metric_line_add(r, made, strlen(made), &n);
}

static bool
step_set(struct metric_line *r, int64_t step)
{
	if (r->n == 0)
		return false;
	r->has_step = true;
	r->step = step;
	return true;
}

/* "SET's METRIC" is SET/METRIC. */
static struct span
boosting_name(struct span name, char *room, size_t size)
{
	const char *at = span_find(name, "'s ");
	size_t head, rest;

	if (at == NULL)
		return name;
	head = (size_t)(at - name.p);
	rest = (size_t)(name.end - at) - 3;
	if (head + 1 + rest > size)
		return name;
	memcpy(room, name.p, head);
	room[head] = '/';
	memcpy(room + head + 1, at + 3, rest);
	return (struct span){ room, room + head + 1 + rest };
}

/* NAME:VALUE, behind which cross-validation writes " + DEVIATION". */
static void
boosting_pair(struct metric_line *r, struct span pair)
{
	const char *colon = memrchr(pair.p, ':', (size_t)(pair.end - pair.p));
	char room[METRIC_LINE_NAME_MAX * 2];
	struct metric_number n;
	struct span name, value;

	if (colon == NULL)
		return;
	name = (struct span){ pair.p, colon };
	value = trimmed((struct span){ colon + 1, pair.end });
	value.end = metric_number_scan(&n, value.p, value.end);
	if (value.end == NULL)
		return;
	(void)add_number(r, boosting_name(name, room, sizeof room), value);
}

/* LightGBM's own program: one metric in a line. */
static bool
lightgbm_program(struct metric_line *r, struct span s)
{
	struct span set;
	int64_t step;

	(void)take_until(&s, "Iteration:");
	if (!take_count(&s, &step) || !take(&s, ", "))
		return false;
	set = take_until(&s, " ");
	if (s.p == s.end)
		return false;
	/* One text: the blank between set and metric becomes '/'. */
	boosting_pair(r, (struct span){ set.p, s.end });
	if (r->n == 1 && (size_t)(set.end - set.p) < strlen(r->values[0].name))
		r->values[0].name[set.end - set.p] = '/';
	return step_set(r, step);
}

static bool
boosting_read(struct metric_line *r, struct span s)
{
	const char *colon;
	struct span time;
	int64_t step;

	if (take(&s, "[LightGBM] [Info] "))
		return lightgbm_program(r, s);
	/* Distributed XGBoost writes the time before it. */
	time = s;
	if (take(&time, "[") && (colon = span_find(time, ":")) != NULL &&
	    colon - time.p == 2) {
		(void)take_until(&time, "] ");
		s = time;
	}
	if (!take(&s, "[") || !take_count(&s, &step) || !take(&s, "]"))
		return false;
	while (s.p < s.end)
		boosting_pair(r, trimmed(take_until(&s, "\t")));
	return step_set(r, step);
}

static bool
fasttext_read(struct metric_line *r, struct span s)
{
	struct span name, value;
	int64_t k;

	s = trimmed(s);
	name = s;
	if (take(&s, "Progress:")) {
		name.p = span_find(s, "avg.loss:");
		if (name.p == NULL)
			return false;
		name.end = name.p + strlen("avg.loss");
		s.p = name.end + 1;
		value = trimmed(take_until(&s, "ETA"));
		return add_number(r, name, value);
	}
	if ((!take(&s, "P@") && !take(&s, "R@")) || !take_count(&s, &k))
		return false;
	name.end = s.p;
	return s.p < s.end && is_blank(*s.p) && add_number(r, name, s);
}

/*
 * After the line of an epoch's metrics another one, without an "Epoch" before
 * it, comes from evaluate: its names would be those of the training.
 */
static bool
keras_pair(struct metric_line *r, struct span name, struct span value)
{
	static const char before[] = "evaluate_";
	char room[METRIC_LINE_NAME_MAX + sizeof before];
	size_t n = (size_t)(name.end - name.p);

	if (r->epoch >= 0 || n > METRIC_LINE_NAME_MAX)
		return add_number(r, name, value);
	memcpy(room, before, sizeof before - 1);
	memcpy(room + sizeof before - 1, name.p, n);
	return add_number(
	    r, (struct span){ room, room + sizeof before - 1 + n }, value);
}

static bool
keras_read(struct metric_line *r, struct span line)
{
	struct span s = trimmed(line), pair, name;
	int64_t at, all;

	if (take(&s, "Epoch ")) {
		if (take_count(&s, &at) && take(&s, "/") &&
		    take_count(&s, &all) && s.p == s.end)
			r->epoch = at;
		return false;
	}
	/* Only the end of an epoch: "32/32". */
	if (!take_count(&s, &at) || !take(&s, "/") || !take_count(&s, &all) ||
	    at != all)
		return false;
	(void)take_until(&s, " - ");
	while (s.p < s.end) {
		pair = take_until(&s, " - ");
		name = take_until(&pair, ": ");
		if (pair.p < pair.end)
			(void)keras_pair(r, name, pair);
	}
	if (r->n == 0)
		return false;
	if (r->epoch > 0) {
		(void)step_set(r, r->epoch);
		r->epoch = -r->epoch;
	} else if (r->epoch < 0)
		(void)step_set(r, -r->epoch);
	return true;
}

/* 'text' or "text" of Python, without escape sequences. */
static bool
take_quoted(struct span *s, struct span *text)
{
	char quote;

	if (s->p == s->end || (*s->p != '\'' && *s->p != '"'))
		return false;
	quote = *s->p++;
	text->p = s->p;
	while (s->p < s->end && *s->p != quote && *s->p != '\\')
		s->p++;
	text->end = s->p;
	if (s->p == s->end || *s->p != quote)
		return false;
	s->p++;
	return true;
}

/* Version 5 of transformers writes numbers in quotes, version 4 without. */
static bool
hf_read(struct metric_line *r, struct span s)
{
	struct span name, value;

	s.p = span_find(s, "{'");
	s = s.p != NULL ? trimmed(s) : s;
	if (s.p == NULL || s.end[-1] != '}')
		return false;
	s.p++;
	s.end--;
	while (s.p < s.end) {
		s = trimmed(s);
		if (!take_quoted(&s, &name) || !take(&s, ":"))
			return false;
		s = trimmed(s);
		if (!take_quoted(&s, &value)) {
			value = s;
			while (s.p < s.end && *s.p != ',')
				s.p++;
			value.end = s.p;
		}
		(void)add_number(r, name, value);
		if (s.p < s.end && !take(&s, ","))
			return false;
	}
	return r->n > 0;
}

/* What is no JSON object is another line, and not an error. */
static bool
json_read(struct metric_line *r, const char *step, struct span s)
{
	s = trimmed(s);
	if (s.end > s.p && s.end[-1] == '\r')
		s.end--;
	if (s.end - s.p < 2 || *s.p != '{' || s.end[-1] != '}')
		return false;
	return metric_json_parse_step(
	    r, s.p, (size_t)(s.end - s.p), step != NULL ? step : "step");
}

/*
 * Read a line of the formats (bits of study_lines).  False: it is none.
 * step: of JSON lines, NULL = "step".
 */
static bool
formats_read(struct metric_line *r, unsigned formats, const char *step,
    const char *line, size_t len)
{
	struct span s = { line, line + len };
	struct metric_part part;

	if (formats == 0)
		return false;
	if ((formats & STUDY_LINES_JSON) != 0 && json_read(r, step, s))
		return true;
	metric_line_clear(r);
	(void)metric_line_part(&part, line, len);
	s = (struct span){ part.p, part.p + part.len };
	if ((formats & STUDY_LINES_BOOSTING) != 0 && boosting_read(r, s))
		return true;
	metric_line_clear(r);
	if ((formats & STUDY_LINES_FASTTEXT) != 0 && fasttext_read(r, s))
		return true;
	metric_line_clear(r);
	if ((formats & STUDY_LINES_KERAS) != 0 && keras_read(r, s))
		return true;
	metric_line_clear(r);
	if ((formats & STUDY_LINES_HF) != 0 && hf_read(r, s))
		return true;
	metric_line_clear(r);
	return false;
}

/* ---- patterns ----------------------------------------------------------- */

enum {
	BACKTRACK_MAX = 20000,
	HEAP_MAX_KIB = 1024,
	JIT_STACK_MIN = 32768,
	JIT_STACK_MAX = 524288
};

struct rule {
	char *name;
	pcre2_code *code;
};

struct metric_patterns {
	struct rule *rules;
	size_t n;
	struct rule step; /* no code = not set */
	unsigned formats; /* bits of study_lines */
	char *formats_step; /* member of JSON lines, or NULL */
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
	pcre2_match_data *match;
};

static int
rule_compile(
    struct rule *rule, const char *name, const char *regex, struct err *e)
{
	PCRE2_UCHAR text[160];
	PCRE2_SIZE at;
	uint32_t groups = 0;
	int rc;

	rule->name = xstrdup(name);
	rule->code = pcre2_compile((PCRE2_SPTR)regex, PCRE2_ZERO_TERMINATED,
	    PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C, &rc,
	    &at, NULL);
	if (rule->code == NULL) {
		(void)pcre2_get_error_message(rc, text, sizeof text);
		return err_set(e, ERR_USAGE, "%s at character %zu", text, at);
	}
	(void)pcre2_pattern_info(rule->code, PCRE2_INFO_CAPTURECOUNT, &groups);
	if (groups == 0)
		return err_set(e, ERR_USAGE,
		    "expected a group in parentheses around the value");
	/* Where the system forbids it, the interpreter does the same. */
	(void)pcre2_jit_compile(rule->code, PCRE2_JIT_COMPLETE);
	return 0;
}

/* Describe which pattern is wrong, with its position in study.json if known. */
static int
metric_err(const struct study_metric *m, size_t i, const char *key,
    const struct err *why, struct err *e)
{
	const struct json *at;

	if (m->where == NULL)
		return err_set(e, why->kind, "trial.metrics[%zu].%s: %.400s", i,
		    key, why->text);
	at = json_get(m->where, key);
	return json_err(at != NULL ? at : m->where, e, "%.400s", why->text);
}

static int
metric_compile(
    struct rule *rule, const struct study_metric *m, size_t i, struct err *e)
{
	const char *name = m->name;
	struct err why = ERR_INIT;

	if (metric_line_name_len(name, name + strlen(name)) != strlen(name) ||
	    strcmp(name, "step") == 0) {
		err_set(
		    &why, ERR_USAGE, "\"%s\" cannot be a metric's name", name);
		return metric_err(m, i, "name", &why, e);
	}
	if (rule_compile(rule, name, m->regex, &why) != 0)
		return metric_err(m, i, "regex", &why, e);
	return 0;
}

static int
rules_compile(
    struct metric_patterns *rs, const struct study_trial *t, struct err *e)
{
	size_t i;

	for (i = 0; i < t->n_metrics; i++) {
		rs->n = i + 1;
		if (metric_compile(&rs->rules[i], &t->metrics[i], i, e) != 0)
			return -1;
	}
	if (t->step_regex != NULL &&
	    rule_compile(&rs->step, "step", t->step_regex, e) != 0)
		return err_add(e, "trial.step_regex");
	return 0;
}

int
metric_patterns_new(
    struct metric_patterns **out, const struct study_trial *t, struct err *e)
{
	struct metric_patterns *rs = xcalloc(1, sizeof *rs);

	rs->formats = t->lines;
	if (t->lines_step != NULL)
		rs->formats_step = xstrdup(t->lines_step);
	rs->rules = xcalloc(t->n_metrics + 1, sizeof *rs->rules);
	rs->context = pcre2_match_context_create(NULL);
	rs->stack = pcre2_jit_stack_create(JIT_STACK_MIN, JIT_STACK_MAX, NULL);
	rs->match = pcre2_match_data_create(2, NULL);
	if (rs->context == NULL || rs->match == NULL)
		abort();
	(void)pcre2_set_match_limit(rs->context, BACKTRACK_MAX);
	(void)pcre2_set_depth_limit(rs->context, BACKTRACK_MAX);
	(void)pcre2_set_heap_limit(rs->context, HEAP_MAX_KIB);
	if (rs->stack != NULL)
		pcre2_jit_stack_assign(rs->context, NULL, rs->stack);
	if (rules_compile(rs, t, e) != 0) {
		metric_patterns_free(rs);
		return -1;
	}
	*out = rs;
	return 0;
}

void
metric_patterns_free(struct metric_patterns *rs)
{
	size_t i;

	if (rs == NULL)
		return;
	for (i = 0; i < rs->n; i++) {
		pcre2_code_free(rs->rules[i].code);
		free(rs->rules[i].name);
	}
	pcre2_code_free(rs->step.code);
	free(rs->step.name);
	free(rs->formats_step);
	pcre2_match_data_free(rs->match);
	pcre2_jit_stack_free(rs->stack);
	pcre2_match_context_free(rs->context);
	free(rs->rules);
	free(rs);
}

/* Blanks around a value inside the group are the pattern's carelessness. */
static void
trim(const char **p, const char **end)
{
	while (*p < *end && (**p == ' ' || **p == '\t'))
		++*p;
	while (*end > *p && ((*end)[-1] == ' ' || (*end)[-1] == '\t'))
		--*end;
}

/* The number in the first group: 1, 0 no match, -1 with why. */
static int
rule_match(const struct metric_patterns *rs, const struct rule *rule,
    const char *line, size_t len, struct metric_number *n, const char **why)
{
	const PCRE2_SIZE *at;
	const char *p, *end;
	int rc;

	rc = pcre2_match(
	    rule->code, (PCRE2_SPTR)line, len, 0, 0, rs->match, rs->context);
	if (rc == PCRE2_ERROR_NOMATCH)
		return 0;
	if (rc < 0) {
		*why = "a pattern took too long";
		return -1;
	}
	at = pcre2_get_ovector_pointer(rs->match);
	if (rc == 1 || at[2] == PCRE2_UNSET || at[2] > at[3])
		return 0;
	p = line + at[2];
	end = line + at[3];
	trim(&p, &end);
	if (metric_number_scan(n, p, end) != end) {
		*why = "the text that a pattern matched is not a number";
		return -1;
	}
	return 1;
}

/*
 * Skip an escape sequence: of colours and the cursor, ESC [ … letter; of titles
 * and links, ESC ] … BEL or ESC \; else bytes up to '/' and one more.
 */
static const char *
escape_end(const char *p, const char *end)
{
	if (end - p < 2)
		return end;
	if (p[1] == '[') {
		for (p += 2; p < end && (*p < '@' || *p > '~'); p++)
			;
		return p < end ? p + 1 : end;
	}
	if (p[1] != ']') {
		for (p++; p < end && *p >= ' ' && *p <= '/'; p++)
			;
		return p < end ? p + 1 : end;
	}
	for (p += 2; p < end && *p != '\a'; p++)
		if (*p == '\033')
			return end - p < 2 ? end : p + 2;
	return p < end ? p + 1 : end;
}

/* Without escape sequences and backspaces: in room, if there are any. */
static void
part_plain(struct metric_part *part)
{
	const char *p = part->p, *end = p + part->len;
	size_t n = 0;

	if (memchr(p, '\033', part->len) == NULL &&
	    memchr(p, '\b', part->len) == NULL)
		return;
	while (p < end) {
		if (*p == '\033')
			p = escape_end(p, end);
		else if (*p == '\b')
			p++;
		else
			part->room[n++] = *p++;
	}
	part->p = part->room;
	part->len = n;
}

size_t
metric_line_part(struct metric_part *part, const char *line, size_t len)
{
	const char *cr;

	while (len > 0 && line[len - 1] == '\r')
		len--;
	cr = memrchr(line, '\r', len);
	part->p = cr != NULL ? cr + 1 : line;
	len -= (size_t)(part->p - line);
	if (len > METRIC_PART_MAX)
		for (len = METRIC_PART_MAX; len > 0; len--)
			if (part->p[len] == ' ' || part->p[len] == '\t')
				break;
	part->len = len;
	part_plain(part);
	return cr != NULL ? (size_t)(cr - line) : 0;
}

static bool
has_value(const struct metric_line *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (strcmp(r->values[i].name, name) == 0)
			return true;
	return false;
}

/*
 * Match one part of a line.  Of several patterns for one name the first match
 * counts.  An invalid value drops only that value; an invalid step rejects the
 * line.  False: nothing was added, or the line is rejected.
 */
static bool
part_match(struct metric_line *r, const struct metric_patterns *rs,
    const struct metric_part *part, bool needs_step)
{
	const char *why = NULL;
	const struct rule *rule;
	struct metric_number n;
	int rc;

	for (rule = rs->rules; rule < rs->rules + rs->n; rule++)
		if (!has_value(r, rule->name) &&
		    rule_match(rs, rule, part->p, part->len, &n, &why) == 1 &&
		    !metric_line_add(r, rule->name, strlen(rule->name), &n))
			return false;
	r->why = why;
	if (r->n == 0)
		return false;
	if (rs->step.code == NULL || !needs_step)
		return true;
	rc = rule_match(rs, &rs->step, part->p, part->len, &n, &why);
	if (rc < 0)
		return metric_line_refuse(r, why);
	if (rc == 1 && !metric_line_add(r, "step", 4, &n))
		return false;
	r->why = why;
	return true;
}

/*
 * Lines of trial.reads come first, and patterns add names that they lack.  Where
 * nothing is read of what stands after the last CR, an earlier part is matched:
 * some progress bars begin with CR what they print next.
 */
bool
metric_patterns_match(struct metric_line *r, const struct metric_patterns *rs,
    const char *line, size_t len)
{
	bool read = formats_read(r, rs->formats, rs->formats_step, line, len),
	     matched;
	struct metric_part part;

	if (rs->n == 0)
		return read;
	do {
		len = metric_line_part(&part, line, len);
		matched = part_match(r, rs, &part, !read);
	} while (!matched && r->why == NULL && len > 0);
	return matched;
}
