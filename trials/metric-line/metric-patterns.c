/*
 * Patterns, matched against lines without tags.  The only file that includes PCRE2.
 *
 * Neither patterns nor lines are trusted: only the first bytes of a line are
 * searched, and the backtracking of a match is limited.
 */

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/metric-line/metric-format.h"
#include "trials/metric-line/metric-internal.h"
#include "trials/metric-line/metric-number.h"

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
	struct metric_tags *tags; /* of JSON lines */
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
	pcre2_match_data *match;
	char
	    *number; /* METRIC_NUMBER_TEXT bytes: a number as people write it */
	/* The states of the formats, for a line that is read by itself. */
	void *states;
	size_t n_states;
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
	rs->n_states = metric_formats_state(t->lines);
	rs->states = xcalloc(1, rs->n_states + 1);
	rs->number = xcalloc(1, METRIC_NUMBER_TEXT);
	rs->tags = metric_tags_new(t);
	rs->rules = xcalloc(t->n_metrics + 1, sizeof *rs->rules);
	rs->context = pcre2_match_context_create(NULL);
	rs->stack = pcre2_jit_stack_create(JIT_STACK_MIN, JIT_STACK_MAX, NULL);
	rs->match = pcre2_match_data_create(2, NULL);
	if (rs->context == NULL || rs->match == NULL)
		mem_fail();
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
	metric_tags_free(rs->tags);
	free(rs->states);
	free(rs->number);
	pcre2_match_data_free(rs->match);
	pcre2_jit_stack_free(rs->stack);
	pcre2_match_context_free(rs->context);
	free(rs->rules);
	free(rs);
}

static bool
rule_is_word(char c)
{
	return (unsigned)((c | 0x20) - 'a') < 26 || (unsigned)(c - '0') < 10 ||
	       c == '_';
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

/*
 * Whether the number in the group is only a part of a longer one, 0 of 0,531: what
 * stands around it makes another number.
 */
static enum metric_look
rule_part(const PCRE2_SIZE *at, const char *line, size_t len,
    const struct metric_number *n, const char **text, size_t *text_len)
{
	const char *from = *text, *to = from + *text_len;
	struct metric_number whole;
	char room[METRIC_NUMBER_TEXT];
	double value;

	if (!metric_number_around(&from, &to, at[0] == at[2] ? line : *text,
		at[1] == at[3] ? line + len : *text + *text_len))
		return METRIC_LOOK_NUMBER;
	value = metric_number_value(n);
	if (!metric_number_text(&whole, from, to, room) ||
	    metric_number_value(&whole) == value) {
		/* 1,234 is one number, whichever; a list is several. */
		if (from != *text || !metric_number_doubt(from, to))
			return METRIC_LOOK_NUMBER;
	}
	*text = from;
	*text_len = (size_t)(to - from);
	return METRIC_LOOK_PART;
}

/* Whether the group of a step has 1 of 1k. */
static bool
rule_is_thousands(const char *p, const char *end)
{
	return p < end && (*p == 'k' || *p == 'K' || *p == 'M') &&
	       (p + 1 == end || !rule_is_word(p[1]));
}

/*
 * Whether a text has only characters of ASCII.  Elsewhere PCRE2 10.42 compiles
 * \S, \D and \W so that they match none of the others.
 */
static bool
rule_is_ascii(const char *p, size_t len)
{
	unsigned char all = 0;
	size_t i;

	for (i = 0; i < len; i++)
		all |= (unsigned char)p[i];
	return all < 0x80;
}

/* Match a text; the first group, without blanks around it. */
static enum metric_look
rule_look(const struct metric_patterns *rs, const struct rule *rule,
    const char *line, size_t len, struct metric_number *n, const char **text,
    size_t *text_len)
{
	const PCRE2_SIZE *at;
	const char *p, *end;
	int rc;

	rc = pcre2_match(rule->code, (PCRE2_SPTR)line, len, 0,
	    rule_is_ascii(line, len) ? 0 : PCRE2_NO_JIT, rs->match,
	    rs->context);
	if (rc == PCRE2_ERROR_NOMATCH)
		return METRIC_LOOK_NONE;
	if (rc < 0)
		return METRIC_LOOK_SLOW;
	at = pcre2_get_ovector_pointer(rs->match);
	if (rc == 1 || at[2] == PCRE2_UNSET || at[2] > at[3])
		return METRIC_LOOK_NO_GROUP;
	p = line + at[2];
	end = line + at[3];
	trim(&p, &end);
	*text = p;
	*text_len = (size_t)(end - p);
	if (!(rule == &rs->step ? metric_number_step : metric_number_text)(
		n, p, end, rs->number))
		return METRIC_LOOK_TEXT;
	if (rule == &rs->step && rule_is_thousands(end, line + len))
		return METRIC_LOOK_PART;
	/* A pattern that goes on behind its group has said where it ends. */
	if (at[0] == at[2] || at[1] == at[3])
		return rule_part(at, line, len, n, text, text_len);
	return METRIC_LOOK_NUMBER;
}

/* Whether the name stands in the text as a word. */
static bool
rule_word(const char *name, const char *p, const char *end)
{
	size_t n = strlen(name);
	const char *at, *start = p;

	while ((at = memmem(p, (size_t)(end - p), name, n)) != NULL) {
		if ((at == start || !rule_is_word(at[-1])) &&
		    (at + n == end || !rule_is_word(at[n])))
			return true;
		p = at + 1;
	}
	return false;
}

/* Whether a match begins within a word that is another one than the name. */
static bool
rule_in_word(
    const struct rule *rule, const char *line, size_t len, const char *match)
{
	const char *p = match, *q = match;

	if (match == line || !rule_is_word(match[-1]) || !rule_is_word(*match))
		return false;
	while (p > line && rule_is_word(p[-1]))
		p--;
	while (q < line + len && rule_is_word(*q))
		q++;
	return strlen(rule->name) != (size_t)(q - p) ||
	       memcmp(rule->name, p, (size_t)(q - p)) != 0;
}

/* Whether one of the words stands in the text, in upper or lower case. */
static bool
rule_has_word(const char *const *words, const char *p, const char *end)
{
	const char *q;
	size_t i, n;

	for (; p < end; p = q + 1) {
		for (q = p; q < end && rule_is_word(*q) && *q != '_'; q++)
			;
		n = (size_t)(q - p);
		for (i = 0; n > 0 && words[i] != NULL; i++)
			if (strlen(words[i]) == n &&
			    strncasecmp(words[i], p, n) == 0)
				return true;
	}
	return false;
}

/*
 * Whether the pattern has matched lines of the training and of an evaluation, by
 * what stands before the number in them.
 */
static bool
rule_is_both(const struct metric_patterns *rs, const struct rule *rule,
    struct metric_log *log, const char *line, const char *text)
{
	static const char *const training[] = { "train", "training", NULL };
	static const char *const evaluation[] = { "val", "valid", "validation",
		"eval", "evaluation", "test", "dev", NULL };
	bool is_training = rule_has_word(training, line, text);

	if (is_training == rule_has_word(evaluation, line, text))
		return false;
	return metric_log_is_both(log, (size_t)(rule - rs->rules), is_training);
}

/*
 * Doubts about a number that was read, for it may be meant: the pattern of loss
 * has matched within train_loss, and loss stands there, too; or a minus stands
 * before the group; or it matches the lines of two things.  NULL: there are none.
 */
static const char *
rule_doubt(const struct metric_patterns *rs, const struct rule *rule,
    struct metric_log *log, const char *line, size_t len, const char *text)
{
	const PCRE2_SIZE *at = pcre2_get_ovector_pointer(rs->match);
	const char *match = line + at[0];

	if (text - match > 1 && text[-1] == '-' &&
	    strchr(" \t=:([,", text[-2]) != NULL)
		return "the minus before the number that a pattern matches";
	if (match < text && rule_in_word(rule, line, len, match) &&
	    rule_word(rule->name, line, line + len))
		return "the name of a metric, for its pattern matches within a "
		       "longer name before it";
	if (rule != &rs->step && rule_is_both(rs, rule, log, line, text))
		return "whether it is of the training or of an evaluation, for "
		       "a pattern matches both";
	return NULL;
}

static const char value_is_text[] =
    "the text that a pattern matched is not a number";
static const char value_is_part[] =
    "the group of a pattern has only a part of a number";
static const char step_is_text[] =
    "the text that trial.step_regex matched is not a number";
static const char step_is_part[] =
    "the group of trial.step_regex has only a part of a number";

/* The number in the first group: 1, 0 no match, -1 with why. */
static int
rule_match(const struct metric_patterns *rs, const struct rule *rule,
    struct metric_log *log, const char *line, size_t len,
    struct metric_number *n, const char **why)
{
	const char *text;
	size_t text_len;

	switch (rule_look(rs, rule, line, len, n, &text, &text_len)) {
	case METRIC_LOOK_NONE:
	case METRIC_LOOK_NO_GROUP:
		break;
	case METRIC_LOOK_SLOW:
		*why = "a pattern took too long";
		return -1;
	case METRIC_LOOK_TEXT:
		*why = rule == &rs->step ? step_is_text : value_is_text;
		return -1;
	case METRIC_LOOK_PART:
		*why = rule == &rs->step ? step_is_part : value_is_part;
		return -1;
	case METRIC_LOOK_NUMBER:
		*why = rule_doubt(rs, rule, log, line, len, text);
		return 1;
	}
	return 0;
}

bool
metric_patterns_rounded(const struct metric_patterns *rs)
{
	return rs != NULL && (rs->formats & STUDY_LINES_SB3) != 0;
}

bool
metric_patterns_objects(const struct metric_patterns *rs)
{
	return rs != NULL && (rs->formats & STUDY_LINES_JSON) != 0;
}

bool
metric_patterns_has(const struct metric_patterns *rs, const char *metric)
{
	size_t i;

	for (i = 0; rs != NULL && i < rs->n; i++)
		if (strcmp(rs->rules[i].name, metric) == 0)
			return true;
	return false;
}

enum metric_look
metric_patterns_look(const struct metric_patterns *rs, const char *metric,
    const struct metric_part *part, const char **text, size_t *len)
{
	enum metric_look best = METRIC_LOOK_NONE, look;
	const struct rule *rule;
	struct metric_number n;
	const char *found;
	size_t found_len;

	for (rule = rs->rules; rule < rs->rules + rs->n; rule++) {
		if (strcmp(rule->name, metric) != 0)
			continue;
		look = rule_look(
		    rs, rule, part->p, part->len, &n, &found, &found_len);
		if (look <= best)
			continue;
		best = look;
		if (look >= METRIC_LOOK_TEXT) {
			*text = found;
			*len = found_len;
		}
	}
	return best;
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
	/* The mark of UTF-8, with which a stream may begin. */
	if (cr == NULL && len >= 3 && memcmp(line, "\357\273\277", 3) == 0) {
		part->p += 3;
		len -= 3;
	}
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
	const char *why = NULL, *one;
	const struct rule *rule;
	struct metric_number n;
	int rc;

	for (rule = rs->rules; rule < rs->rules + rs->n; rule++) {
		if (has_value(r, rule->name))
			continue;
		one = NULL;
		rc = rule_match(rs, rule, r->log, part->p, part->len, &n, &one);
		if (rc == 1 &&
		    !metric_line_add(r, rule->name, strlen(rule->name), &n))
			return false;
		if (rc == 1 && one != NULL)
			r->left_out = one;
		else if (one != NULL)
			why = one;
	}
	r->why = why;
	if (r->n == 0)
		return false;
	if (rs->step.code == NULL || !needs_step)
		return true;
	one = NULL;
	rc = rule_match(rs, &rs->step, r->log, part->p, part->len, &n, &one);
	if (rc < 0)
		return metric_line_refuse(r, one);
	if (rc == 1 && !metric_line_add(r, "step", 4, &n))
		return false;
	return true;
}

size_t
metric_patterns_state(const struct metric_patterns *rs)
{
	return rs->n_states;
}

/* Read a line of the formats, with the state of its log. */
static enum metric_read
formats_read(struct metric_line *r, const struct metric_patterns *rs,
    const char *line, size_t len)
{
	void *states = metric_log_states(r->log);

	if (rs->formats == 0)
		return METRIC_READ_OTHER;
	if (states == NULL) {
		memset(rs->states, 0, rs->n_states);
		states = rs->states;
	}
	return metric_formats_read(
	    r, rs->formats, metric_tags_names(rs->tags), states, line, len);
}

/* Where a bar begins that shows no values yet. */
static void
bar_open(struct metric_log *log, const struct metric_patterns *rs,
    const struct metric_part *part)
{
	const char *why;
	struct metric_number n;
	int64_t step;

	if (metric_log_bar_opens(log) && rs->step.code != NULL &&
	    rule_match(rs, &rs->step, log, part->p, part->len, &n, &why) == 1 &&
	    metric_number_integer(&n, &step))
		metric_log_bar_open(log, step);
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
	bool read = formats_read(r, rs, line, len) == METRIC_READ_REPORT,
	     matched = read, is_empty = len == 0;
	struct metric_part part;

	if (rs->n > 0)
		do {
			len = metric_line_part(&part, line, len);
			matched = part_match(r, rs, &part, !read);
		} while (!matched && r->why == NULL && len > 0);
	/* A state that a format has read by itself is a report. */
	if (read && r->bar == 0)
		return true;
	if (!matched && r->overwritten && rs->n > 0)
		bar_open(r->log, rs, &part);
	return metric_log_bar(r, matched, is_empty);
}
