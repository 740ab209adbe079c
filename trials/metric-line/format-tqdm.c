/*
 * tqdm: a progress bar with values behind it.
 *
 *	Training:  25%|##5       | 1/4 [00:00<00:02,  1.18it/s, loss=0.526, val_loss=0.455]
 *	12it [00:01,  9.50it/s, loss=0.5]
 *	Epoch 3 loss=0.526, acc: 0.9:  25%|##5       | 1/4 [00:00<00:02,  1.18it/s]
 *	Epoch [3/4]: [5/10]  50%|#####     , loss=0.687 [00:00<00:00]   (Ignite)
 *
 * Values may stand in the text before the bar, too, as set_description() writes them;
 * so do they behind it, parted by blanks, as set_postfix_str() does.
 *
 * The step is the epoch that the text before the bar names, "Epoch 3", and then the
 * last state of the bar counts; else, of a bar within another one, the count of that
 * one and 1; else the count of the bar, which goes on over bars of the same text.
 */

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "trials/metric-line/metric-format.h"
#include "trials/metric-line/metric-number.h"

enum { FORMAT_TQDM_REPORTS = 200 }; /* of one bar, at most */

/* FNV-1a of nothing. */
#define FORMAT_TQDM_NO_TEXT 2166136261u

/* The state of one log: its outermost bar. */
struct format_tqdm {
	bool begun;
	bool open; /* it is not at its end */
	uint32_t id;
	int64_t at, all; /* its count; all is 0: unknown */
	int64_t first; /* count at which it was shown without values; or -1 */
	int64_t before; /* counts of earlier bars of the same text */
	int64_t share; /* of the bar that was read */
	int64_t shown; /* its count then, whose values may follow */
};

/* What is read of a bar. */
struct format_tqdm_bar {
	uint32_t id; /* of its text, without numbers */
	struct metric_span text; /* before the bar */
	bool has_values; /* … in this text */
	bool has_epoch;
	int64_t epoch; /* in its text */
	int64_t at, all;
	struct metric_span pairs; /* behind the bar, before the times */
};

/* "Epoch 3", "epoch: 3", "Epoch [3/10]" in a text. */
static void
format_tqdm_epoch(struct format_tqdm_bar *b, struct metric_span s)
{
	for (; s.end - s.p > 5; s.p++) {
		if (strncasecmp(s.p, "epoch", 5) != 0)
			continue;
		s.p += 5;
		while (s.p < s.end && strchr(" :#[(=", *s.p) != NULL)
			s.p++;
		b->has_epoch = metric_span_take_count(&s, &b->epoch);
		return;
	}
}

static bool
format_tqdm_is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '/' || c == '.' ||
	       c == '-' || c == '@';
}

/* Behind a word and its value, "loss: 0.5"; NULL: the word has none. */
static const char *
format_tqdm_pair_end(struct metric_span s)
{
	struct metric_number n;

	while (s.p < s.end && format_tqdm_is_name(*s.p))
		s.p++;
	if (s.p == s.end || (*s.p != '=' && *s.p != ':'))
		return NULL;
	for (s.p++; s.p < s.end && metric_span_is_blank(*s.p); s.p++)
		;
	return metric_number_scan(&n, s.p, s.end);
}

/* FNV-1a of the letters of words that have no values; never 0. */
static uint32_t
format_tqdm_id(struct metric_span s)
{
	uint32_t h = FORMAT_TQDM_NO_TEXT;
	const char *behind;

	while (s.p < s.end) {
		if (!isalpha((unsigned char)*s.p)) {
			s.p++;
			continue;
		}
		behind = format_tqdm_pair_end(s);
		if (behind != NULL) {
			s.p = behind;
			continue;
		}
		for (; s.p < s.end && format_tqdm_is_name(*s.p); s.p++)
			if (isalpha((unsigned char)*s.p))
				h = (h ^ (unsigned char)*s.p) * 16777619u;
	}
	return h != 0 ? h : 1;
}

/* A count, also one that unit_scale writes: 0.00, 4.00k. */
static bool
format_tqdm_take(struct metric_span *s, int64_t *count)
{
	static const char units[] = "kMGT";
	struct metric_number n;
	const char *p = metric_number_scan(&n, s->p, s->end), *unit;

	if (s->p == s->end || !metric_span_is_digit(*s->p) || p == NULL)
		return false;
	unit = p < s->end && *p != '\0' ? strchr(units, *p) : NULL;
	if (unit != NULL)
		n.exponent += 3 * (unit - units + 1);
	s->p = p + (unit != NULL);
	return metric_number_integer(&n, count);
}

/* "Training:  25%|##5 | 1/4", or "12it": the text and the count. */
static bool
format_tqdm_count(struct format_tqdm_bar *b, struct metric_span s)
{
	const char *bar = metric_span_find(s, "%|"), *p;
	struct metric_span text = { s.p, s.p }, count;

	s = metric_span_trim(s);
	for (p = s.end; p > s.p && p[-1] != ' ' && p[-1] != '|'; p--)
		;
	count = (struct metric_span){ p, s.end };
	if (!format_tqdm_take(&count, &b->at))
		return false;
	if (metric_span_take(&count, "/")) {
		if (!format_tqdm_take(&count, &b->all) ||
		    count.p != count.end || bar == NULL)
			return false;
		text.end = bar;
	} else if (bar != NULL || count.p == count.end)
		return false;
	else
		text.end = p;
	/* The share that is done is no value. */
	if (bar != NULL)
		while (text.end > text.p && metric_span_is_digit(text.end[-1]))
			text.end--;
	b->text = metric_span_trim(text);
	b->id = format_tqdm_id(text);
	format_tqdm_epoch(b, text);
	return true;
}

/* "Epoch [3/4]: [5/10]  50%|#####     , loss=0.687": text, count and values. */
static bool
format_tqdm_ignite(struct format_tqdm_bar *b, struct metric_span s)
{
	const char *bar = metric_span_find(s, "%|"), *open;
	struct metric_span text, count;

	if (bar == NULL)
		return false;
	for (text = (struct metric_span){ s.p, bar };
	     text.end > text.p && metric_span_is_digit(text.end[-1]);
	     text.end--)
		;
	text = metric_span_trim(text);
	open = text.end > text.p
		   ? memrchr(text.p, '[', (size_t)(text.end - text.p))
		   : NULL;
	if (open == NULL)
		return false;
	count = (struct metric_span){ open + 1, text.end };
	if (!format_tqdm_take(&count, &b->at) ||
	    !metric_span_take(&count, "/") ||
	    !format_tqdm_take(&count, &b->all) ||
	    !metric_span_take(&count, "]") || count.p != count.end)
		return false;
	b->pairs = (struct metric_span){ bar, s.end };
	(void)metric_span_take_until(&b->pairs, ", ");
	b->pairs = metric_span_trim(b->pairs);
	text.end = open;
	b->text = metric_span_trim(text);
	b->id = format_tqdm_id(text);
	format_tqdm_epoch(b, text);
	return true;
}

/*
 * The name that ends before '=' or ':': the word, and before ':' the words, "Train
 * Loss", up to a mark or a number.
 */
static struct metric_span
format_tqdm_name(struct metric_span s, bool words)
{
	struct metric_span name;
	const char *p;

	s = metric_span_trim(s);
	name = (struct metric_span){ s.end, s.end };
	for (p = s.end; p > s.p; p--) {
		if (isalpha((unsigned char)p[-1]) || p[-1] == '_')
			name.p = p - 1;
		else if (words && p[-1] == ' ' && name.p == p)
			continue;
		else if (!metric_span_is_digit(p[-1]) &&
			 strchr("/.-@", p[-1]) == NULL)
			break;
		else if (name.p == p && words && metric_span_is_digit(p[-1]) &&
			 p < s.end && *p == ' ')
			break;
	}
	return name;
}

/* A name that says where a training is, and is no metric. */
static bool
format_tqdm_is_place(struct metric_span name)
{
	static const char *const words[] = { "epoch", "epochs", "step", "steps",
		"iter", "iteration", "batch", "fold", "rank", NULL };
	size_t i;

	for (i = 0; words[i] != NULL; i++)
		if ((size_t)(name.end - name.p) == strlen(words[i]) &&
		    strncasecmp(name.p, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

/* Pairs in a text, "loss=0.5 acc: 0.9 | lr=1e-3". */
static void
format_tqdm_text(struct metric_line *r, struct metric_span s)
{
	struct metric_span head, name, value;
	const char *at, *sign;
	bool added;

	for (at = s.p; at < s.end; at++) {
		if (*at != '=' && *at != ':')
			continue;
		sign = at;
		head = (struct metric_span){ s.p, at };
		value = (struct metric_span){ at + 1, s.end };
		name = format_tqdm_name(head, *at == ':');
		while (value.p < value.end && metric_span_is_blank(*value.p))
			value.p++;
		for (at = value.p;
		     at < s.end && strchr(" \t,|;)]", *at) == NULL; at++)
			;
		value.end = at;
		if (value.end > value.p && value.end[-1] == ':')
			value.end--;
		added = name.p < name.end && !format_tqdm_is_place(name) &&
			metric_span_add(r, name, value);
		/* "Epoch 0: loss=0.5": a pair of its own follows. */
		if (!added && metric_span_find(value, "=") != NULL)
			at = sign + 1;
		s.p = at;
		at--;
	}
}

/* The next pair, up to a comma and a blank that no brackets have around them. */
static struct metric_span
format_tqdm_next(struct metric_span *s)
{
	struct metric_span pair = { s->p, s->p };
	int depth = 0;

	for (; pair.end < s->end; pair.end++) {
		depth += *pair.end == '(';
		depth -= *pair.end == ')';
		if (depth <= 0 && s->end - pair.end > 1 && pair.end[0] == ',' &&
		    pair.end[1] == ' ')
			break;
	}
	s->p = pair.end < s->end ? pair.end + 2 : s->end;
	return pair;
}

/* Add a value, also one as Python shows an object: tensor(0.5, device='cuda:0'). */
static bool
format_tqdm_add(
    struct metric_line *r, struct metric_span name, struct metric_span value)
{
	const char *inside = metric_number_object(value.p, value.end), *end;
	struct metric_number n;

	end = inside != NULL && value.end[-1] == ')'
		  ? metric_number_scan(&n, inside, value.end)
		  : NULL;
	if (end != NULL && (*end == ')' || *end == ','))
		value = (struct metric_span){ inside, end };
	return metric_span_add(r, name, value);
}

/* Whether a word of a name is a whole number. */
static bool
format_tqdm_has_count(struct metric_span name)
{
	struct metric_span word;
	int64_t count;

	for (;;) {
		word = metric_span_take_word(&name);
		if (word.p == word.end)
			return false;
		if (metric_span_take_count(&word, &count) && word.p == word.end)
			return true;
	}
}

/* "loss=0.526, acc=0.9" */
static void
format_tqdm_values(struct metric_line *r, struct metric_span s)
{
	struct metric_span pair, name, all;
	size_t before;

	while (s.p < s.end) {
		pair = all = format_tqdm_next(&s);
		before = r->n;
		if (metric_span_find(pair, "=") != NULL)
			name = metric_span_take_until(&pair, "=");
		else
			name = metric_span_take_until(&pair, ":");
		/* "epoch 1 loss=0.5" is a text. */
		if (format_tqdm_has_count(name))
			format_tqdm_text(r, all);
		else if (!format_tqdm_add(r, name, pair) && r->n == before)
			format_tqdm_text(r, all);
	}
}

/* The step of a bar; false: this state of it is passed over. */
static bool
format_tqdm_step(struct format_tqdm *t, const struct format_tqdm_bar *b,
    struct metric_line *r)
{
	int64_t share;
	bool blank = false;

	r->bar = b->id;
	r->bar_ends = b->all > 0 && b->at == b->all;
	if (b->has_epoch)
		return metric_span_step(r, b->epoch);
	/* A bar without a text gets one: with values, or of Ignite. */
	if (t->open && t->id == FORMAT_TQDM_NO_TEXT &&
	    (b->has_values || b->pairs.p != NULL) && t->all == b->all &&
	    t->at <= b->at)
		t->id = b->id;
	if (t->open && t->id != b->id)
		return metric_span_step(r, t->before + t->at + 1);
	if (t->id == b->id && b->at < t->at && t->before < METRIC_STEP_MAX)
		t->before += t->at;
	else if (t->id != b->id)
		t->before = 0;
	if (t->id != b->id || b->at < t->at || !t->begun) {
		blank = r->n > 0 && b->at == 0 && b->all > 0 &&
			metric_line_zeros(r);
		t->first = r->n == 0 || blank ? b->at : -1;
	}
	t->begun = true;
	t->id = b->id;
	t->at = b->at;
	t->all = b->all;
	t->open = b->all > 0 && b->at < b->all;
	r->bar_first = b->at == t->first;
	r->bar_counted = b->pairs.p != NULL && t->first == 1;
	share = b->all > FORMAT_TQDM_REPORTS
		    ? b->at / (b->all / FORMAT_TQDM_REPORTS)
		    : -1;
	if (share >= 0 && share == t->share && t->open && b->at > 0 &&
	    b->at != t->shown)
		return false;
	t->share = share;
	t->shown = b->at;
	return !blank && metric_span_step(r, t->before + b->at);
}

static enum metric_read
format_tqdm_read(struct metric_line *r, struct metric_span s,
    const struct metric_reading *in)
{
	struct format_tqdm_bar bar = { 0 };
	struct metric_span head, values;
	const char *open;
	size_t n;

	s = metric_span_trim(s);
	if (s.p == s.end || s.end[-1] != ']')
		return METRIC_READ_OTHER;
	for (open = s.end; open > s.p && open[-1] != '['; open--)
		;
	if (open - s.p < 2)
		return METRIC_READ_OTHER;
	head = (struct metric_span){ s.p, open - 1 };
	values = (struct metric_span){ open, s.end - 1 };
	if (values.p == values.end || !metric_span_is_digit(*values.p) ||
	    (!format_tqdm_count(&bar, head) && !format_tqdm_ignite(&bar, head)))
		return METRIC_READ_OTHER;
	/* "00:00<00:02,  1.18it/s, loss=0.526": behind time and rate. */
	(void)metric_span_take_until(&values, ", ");
	(void)metric_span_take_until(&values, ", ");
	format_tqdm_values(r, values);
	if (bar.pairs.p != NULL)
		format_tqdm_values(r, bar.pairs);
	n = r->n;
	format_tqdm_text(r, bar.text);
	bar.has_values = r->n > n;
	if (r->n == 0) {
		/* The count of the bar is known; there is nothing to report. */
		(void)format_tqdm_step(in->state, &bar, r);
		return METRIC_READ_QUIET;
	}
	return format_tqdm_step(in->state, &bar, r) ? METRIC_READ_REPORT
						    : METRIC_READ_QUIET;
}

const struct metric_format metric_format_tqdm = {
	.state = sizeof(struct format_tqdm),
	.bars = true,
	.read = format_tqdm_read,
};
