/*
 * Lines as libraries print them, read without a pattern (trial.reads).
 * tests/data/metrics has recorded ones.
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

#include <string.h>

#include "src/model/study/study.h"
#include "trials/metric-line/metric-line.h"
#include "trials/metric-line/metric-number.h"
#include "trials/metric-line/metric-internal.h"

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

bool
metric_formats_read(struct metric_line *r, unsigned formats, const char *step,
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
