/* Ticks of parameters: by their scale, at the positions of their values. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/html/axis.h"
#include "src/model/space.h"

enum { LABEL = 12 /* columns of a choice */ };

static double
cube_at(const struct space *s, size_t i, const struct value *v)
{
	struct value *values = xcalloc(s->n, sizeof *values);
	double *u = xcalloc(s->n, sizeof *u), at;

	values[i] = *v;
	space_encode(s, values, u);
	at = u[i];
	free(values);
	free(u);
	return at;
}

/* The part of a choice that fits below a column. */
static void
choice_label(struct tick *t, const struct value *v)
{
	struct buf text = { 0 };
	const char *s;
	size_t n;

	param_value_put(&text, v);
	s = buf_str(&text);
	n = text_fit(s, LABEL);
	while (n >= sizeof t->label - 4 || (n > 0 && (s[n] & 0xc0) == 0x80))
		n--;
	(void)snprintf(t->label, sizeof t->label, "%.*s%s", (int)n, s,
	    s[n] != '\0' ? "…" : "");
	buf_free(&text);
}

static size_t
choice_ticks(const struct space *s, size_t i, size_t most, struct tick *out)
{
	const struct param *p = &s->params[i];
	size_t every = (p->n_values + most - 1) / most, k, n = 0;

	for (k = 0; k < p->n_values; k += every, n++) {
		out[n].value = (double)k;
		out[n].at = cube_at(s, i, &p->values[k]);
		choice_label(&out[n], &p->values[k]);
	}
	return n;
}

/* 0.9, 0.99, 0.999, …: when at least two lie in the range. */
static size_t
reverse_ticks(const struct param *p, size_t most, struct tick *out)
{
	size_t n = 0;
	double value;
	int k;

	for (k = 0; k < 16 && n < most; k++) {
		value = k == 0 ? 0 : 1 - pow(10, -k);
		if (value < p->min || value > p->max)
			continue;
		out[n].value = value;
		(void)snprintf(
		    out[n].label, sizeof out[n].label, "%.*f", k, value);
		n++;
	}
	return n < 2 ? 0 : n;
}

static size_t
number_ticks(const struct space *s, size_t i, size_t most, struct tick *out)
{
	const struct param *p = &s->params[i];
	struct axis a = { .kind =
			      p->type == PARAM_INT ? AXIS_COUNT : AXIS_LINEAR,
		.low = p->min,
		.high = p->max };
	struct value v = { .kind = VALUE_REAL };
	size_t n = 0, kept = 0, k;

	if (!(p->max > p->min))
		a.high = a.low + 1;
	if (p->scale == SCALE_LOG)
		a.kind = AXIS_LOG;
	if (p->scale == SCALE_REVERSE_LOG)
		n = reverse_ticks(p, most, out);
	if (n == 0)
		n = axis_ticks(&a, most, out);
	for (k = 0; k < n; k++) {
		v.real = out[k].value;
		if (v.real < p->min || v.real > p->max ||
		    (p->type == PARAM_INT && v.real != floor(v.real)))
			continue;
		out[k].at = cube_at(s, i, &v);
		out[kept++] = out[k];
	}
	return kept;
}

size_t
axis_param(const struct space *s, size_t i, double from, double to, size_t most,
    struct tick *out)
{
	size_t n = 0, k;

	if (most > AXIS_TICKS)
		most = AXIS_TICKS;
	switch (s->params[i].type) {
	case PARAM_FIXED:
		return 0;
	case PARAM_CHOICE:
		n = choice_ticks(s, i, most, out);
		break;
	case PARAM_FLOAT:
	case PARAM_INT:
		n = number_ticks(s, i, most, out);
		break;
	}
	for (k = 0; k < n; k++)
		out[k].at = from + out[k].at * (to - from);
	return n;
}
