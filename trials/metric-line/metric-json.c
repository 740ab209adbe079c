/*
 * The metrics of one JSON object, a line or a part of a file.  Separate from
 * src/base/json/json.h for speed (a million lines), for NaN and Infinity as
 * Python writes them, and to skip non-numbers without storing them.
 */

#include <math.h>
#include <string.h>
#include <strings.h>

#include "trials/metric-line/metric-line.h"
#include "trials/metric-line/metric-number.h"
#include "trials/metric-line/metric-internal.h"
#include "trials/metric-line/metric-piece.h"

enum { PATH_MAX_LEN = 256 }; /* bytes of the keys of nested objects */

/* Where we are in the line.  Readers return false when it is no JSON. */
struct cursor {
	const char *p, *end;
	struct metric_line *r;
	const struct metric_json_names *names;
	const char *step; /* the member that is the step */
	size_t step_len;
	/* The keys of the objects that we are in, with '/' between them. */
	char path[PATH_MAX_LEN];
	size_t len; /* above PATH_MAX_LEN: it is cut */
	/*
	 * Values that give way to a number of the outer object: those of texts,
	 * of inner objects, of names that were made.
	 */
	bool soft[METRIC_LINE_VALUES_MAX];
	size_t n_soft;
	bool lists; /* a member is a list */
};

static void
skip_space(struct cursor *c)
{
	c->p = metric_piece_blank(c->p, c->end);
}

static bool
metric_json_take(struct cursor *c, char wanted)
{
	if (c->p == c->end || *c->p != wanted)
		return false;
	c->p++;
	return true;
}

/* Go on behind a piece; false: p is NULL, and there was none. */
static bool
metric_json_behind(struct cursor *c, const char *p)
{
	if (p != NULL)
		c->p = p;
	return p != NULL;
}

/* A text, from its quote; its bytes are added to the place. */
static bool
take_string(struct cursor *c, struct metric_piece_place *to)
{
	return c->p < c->end && *c->p == '"' &&
	       metric_json_behind(c, metric_piece_text(c->p, c->end, to));
}

static bool
is_number_start(const struct cursor *c)
{
	return c->p < c->end && strchr("-0123456789NnIi", *c->p) != NULL &&
	       *c->p != '\0' &&
	       !(c->end - c->p >= 4 && memcmp(c->p, "null", 4) == 0);
}

static const char not_json[] = "the line is not one JSON object";
static const char bad_step[] = "step is not an integer from 0 to 2^53";
static const char bad_name[] = "a number has a name that no metric may have";
static const char same_name[] = "two numbers have the name of one metric";
static const char no_metric[] = "no metric in the line";
static const char only_lists[] = "its numbers are in lists, which are not read";
static const char too_many[] = "too many metrics in one line";

/* Make room for a number by leaving out a soft one, if there is one. */
static void
drop_soft(struct cursor *c)
{
	struct metric_line *r = c->r;
	size_t i = r->n;

	while (i > 0 && !c->soft[i - 1])
		i--;
	if (i == 0)
		return;
	i--;
	r->left_out = too_many;
	r->n--;
	c->n_soft--;
	memmove(
	    &r->values[i], &r->values[i + 1], (r->n - i) * sizeof r->values[0]);
	memmove(&c->soft[i], &c->soft[i + 1], (r->n - i) * sizeof c->soft[0]);
}

static size_t
value_find(const struct metric_line *r, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (memcmp(r->values[i].name, name, len) == 0 &&
		    r->values[i].name[len] == '\0')
			break;
	return i;
}

/* A soft number never refuses a line, and gives way to one that is not. */
static bool
add_value(struct cursor *c, const char *name, size_t len,
    const struct metric_number *n, bool soft)
{
	struct metric_line *r = c->r;
	size_t i;

	if (!soft && c->n_soft == 0) {
		if (r->n < METRIC_LINE_VALUES_MAX)
			c->soft[r->n] = false;
		return metric_line_add(r, name, len, n);
	}
	i = value_find(r, name, len);
	if (i < r->n && soft) {
		r->left_out = same_name;
		return true;
	}
	if (i < r->n && c->soft[i]) {
		c->soft[i] = false;
		c->n_soft--;
		r->values[i].value = metric_number_value(n);
		r->left_out = same_name;
		return true;
	}
	if (r->n == METRIC_LINE_VALUES_MAX && soft) {
		r->left_out = too_many;
		return true;
	}
	if (r->n == METRIC_LINE_VALUES_MAX)
		drop_soft(c);
	if (!metric_line_add(r, name, len, n))
		return false;
	c->soft[r->n - 1] = soft;
	c->n_soft += soft;
	return true;
}

/* Whether the path is the step; "val.step" is that in the object "val", too. */
static bool
path_is_step(const struct cursor *c)
{
	size_t i;

	if (c->step_len != c->len || c->len > PATH_MAX_LEN)
		return false;
	for (i = 0; i < c->len; i++)
		if (c->step[i] != c->path[i] &&
		    !(c->step[i] == '.' && c->path[i] == '/'))
			return false;
	return true;
}

/* Whether the path has the bytes of a metric's name. */
static bool
path_is_name(const struct cursor *c)
{
	return c->len > 0 && c->len <= METRIC_LINE_NAME_MAX &&
	       metric_line_name_len(c->path, c->path + c->len) == c->len;
}

/* A number whose name the caller gives, or which is made of the path. */
static bool
take_named(struct cursor *c, const struct metric_number *n, bool soft)
{
	char room[METRIC_LINE_NAME_MAX + 1];
	const struct metric_json_names *names = c->names;
	const char *name = NULL;

	if (c->len <= PATH_MAX_LEN && names->name != NULL)
		name = names->name(names->arg, c->path, c->len, room);
	else if (c->len <= PATH_MAX_LEN &&
		 metric_line_name_make(room, c->path, c->len))
		name = room;
	if (name == NULL || strcmp(name, "step") == 0) {
		c->r->left_out = bad_name;
		return true;
	}
	return add_value(c, name, strlen(name), n,
	    soft || strlen(name) != c->len ||
		memcmp(name, c->path, c->len) != 0);
}

/* A number at the path. */
static bool
take_metric(
    struct cursor *c, const struct metric_number *n, bool is_step, bool soft)
{
	if (is_step)
		return metric_line_add(c->r, "step", 4, n);
	if (c->names->name != NULL || !path_is_name(c) ||
	    (c->len == 4 && memcmp(c->path, "step", 4) == 0))
		return take_named(c, n, soft);
	return add_value(c, c->path, c->len, n, soft);
}

/* A text that is a number and at most its unit, as fairseq writes them. */
static bool
take_text(struct cursor *c, bool is_step)
{
	char bytes[METRIC_NUMBER_TEXT], room[METRIC_NUMBER_TEXT];
	struct metric_piece_place t = { bytes, sizeof bytes, 0 };
	const char *p = bytes, *end;
	struct metric_number n;

	if (!take_string(c, &t))
		return metric_line_refuse(c->r, not_json);
	end = bytes + (t.len <= t.room ? t.len : 0);
	while (p < end && *p == ' ')
		p++;
	while (end > p && end[-1] == ' ')
		end--;
	if (p < end &&
	    ((strchr("+-.0123456789NnIi", *p) != NULL && *p != '\0') ||
		metric_number_object(p, end) != NULL) &&
	    metric_number_text(&n, p, end, room))
		return take_metric(c, &n, is_step, true);
	return !is_step || metric_line_refuse(c->r, bad_step);
}

static bool take_object(struct cursor *, int depth);

/* One member after its key was read. */
static bool
take_member(struct cursor *c, int depth)
{
	bool is_step = path_is_step(c);
	struct metric_number n;

	if (is_number_start(c)) {
		if (!metric_json_behind(
			c, metric_piece_number(c->p, c->end, &n)))
			return metric_line_refuse(c->r, not_json);
		return take_metric(c, &n, is_step, depth > 1);
	}
	if (c->p < c->end && *c->p == '"')
		return take_text(c, is_step);
	if (is_step)
		return metric_line_refuse(c->r, bad_step);
	if (depth < METRIC_PIECE_LEVELS && metric_json_take(c, '{'))
		return take_object(c, depth + 1);
	c->lists |= c->p < c->end && *c->p == '[';
	return metric_json_behind(
		   c, metric_piece_value(
			  c->p, c->end, METRIC_PIECE_LEVELS - (size_t)depth)) ||
	       metric_line_refuse(c->r, not_json);
}

/* The rest of an object after its brace; depth: of its members, from 1. */
static bool
take_object(struct cursor *c, int depth)
{
	struct metric_piece_place path = { c->path, PATH_MAX_LEN, c->len };
	size_t before;

	if (depth > 1)
		metric_piece_put(&path, '/');
	before = path.len;
	skip_space(c);
	if (metric_json_take(c, '}'))
		return true;
	do {
		path.len = before;
		skip_space(c);
		if (!take_string(c, &path))
			return metric_line_refuse(c->r, not_json);
		skip_space(c);
		if (!metric_json_take(c, ':'))
			return metric_line_refuse(c->r, not_json);
		skip_space(c);
		c->len = path.len;
		if (!take_member(c, depth))
			return false;
		skip_space(c);
	} while (metric_json_take(c, ','));
	return metric_json_take(c, '}') || metric_line_refuse(c->r, not_json);
}

const char *const metric_json_steps[] = { "global_step", "trainer/global_step",
	"current_steps", "epoch", "iter", "iteration", "round",
	"time/total_timesteps", "total_timesteps", "timesteps", "num_updates",
	"training_iteration", "_step", "num_timesteps", "updates", NULL };

static bool
metric_json_is_step(double value)
{
	return value >= 0 && value <= 1e15 && floor(value) == value;
}

/*
 * The number of the step word that a line has first with a whole number; 0: it has
 * none of the words, -1: none with a whole number.
 */
static int
metric_json_step_word(const struct metric_line *r)
{
	int word, none = 0;
	size_t i;

	for (word = 0; metric_json_steps[word] != NULL; word++)
		for (i = 0; i < r->n; i++) {
			if (strcasecmp(metric_json_steps[word],
				r->values[i].name) != 0)
				continue;
			if (metric_json_is_step(r->values[i].value))
				return word + 1;
			none = -1;
		}
	return none;
}

void
metric_json_step(struct metric_line *r, int *word)
{
	double value;
	size_t i;

	if (r->has_step || *word < 0)
		return;
	if (*word == 0)
		*word = metric_json_step_word(r);
	for (i = 0; *word > 0 && i < r->n; i++)
		if (strcasecmp(
			metric_json_steps[*word - 1], r->values[i].name) == 0)
			break;
	if (*word <= 0 || i == r->n)
		return;
	value = r->values[i].value;
	r->has_step = metric_json_is_step(value);
	if (r->has_step)
		r->step = (int64_t)value;
	else
		*word = -1;
}

bool
metric_json_parse(struct metric_line *r, const char *line, size_t len)
{
	return metric_json_parse_step(r, line, len, "step");
}

bool
metric_json_parse_step(
    struct metric_line *r, const char *line, size_t len, const char *step)
{
	const struct metric_json_names names = { .step = step };

	return metric_json_parse_names(r, line, len, &names);
}

bool
metric_json_parse_names(struct metric_line *r, const char *line, size_t len,
    const struct metric_json_names *names)
{
	struct cursor c;

	c.p = line;
	c.end = line + len;
	c.r = r;
	c.names = names;
	c.step = names->step != NULL ? names->step : "step";
	c.step_len = strlen(c.step);
	c.len = c.n_soft = 0;
	c.lists = false;
	metric_line_clear(r);
	if (len > METRIC_LINE_MAX)
		return metric_line_refuse(r, "the line is too long");
	skip_space(&c);
	if (c.p == c.end)
		return false;
	if (!metric_json_take(&c, '{'))
		return metric_line_refuse(r, not_json);
	if (!take_object(&c, 1))
		return false;
	skip_space(&c);
	if (c.p != c.end)
		return metric_line_refuse(r, not_json);
	if (r->n == 0)
		return metric_line_refuse(r, r->left_out != NULL ? r->left_out
					     : c.lists		 ? only_lists
								 : no_metric);
	r->has_lists = c.lists;
	return true;
}
