/*
 * Parses a line of the packed program.  Reports are parsed like a metrics file,
 * with NaN; everything else is strict JSON.
 */

#include <math.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "trials/pack/pack-protocol.h"
#include "trials/metric-line/metric-line.h"

enum { CODE_MAX = 255 };

/* Members that are ours; the rest are metrics. */
static const char *const ours[] = { "trial", "attempt", "end", "log" };

static bool
protocol_is_ours(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof ours / sizeof ours[0]; i++)
		if (strcmp(name, ours[i]) == 0)
			return true;
	return false;
}

static void
protocol_nonsense(struct pack_message *p, const char *why)
{
	p->said = PACK_MESSAGE_INVALID;
	buf_clear(&p->text);
	buf_puts(&p->text, why);
}

/* Truncate at the first newline. */
static void
put_line(struct buf *b, const char *text)
{
	for (; *text != '\0'; text++)
		buf_putc(b, *text == '\n' || *text == '\r' ? ' ' : *text);
}

static void
protocol_put_value(struct buf *b, double value)
{
	if (isnan(value))
		buf_puts(b, "NaN");
	else if (isinf(value))
		buf_puts(b, value > 0 ? "Infinity" : "-Infinity");
	else
		json_put_number(b, value);
}

/* A number of ours: whole, from 1. */
static bool
protocol_whole(int64_t *out, double value)
{
	if (!(value >= 1 && value <= 9007199254740992.0) ||
	    value != floor(value))
		return false;
	*out = (int64_t)value;
	return true;
}

/*
 * Copy a report in the format of a metrics file; false when the line has other
 * members.
 */
static bool
protocol_report_put(struct pack_message *p, const struct metric_line *r)
{
	struct json_writer w = { .out = &p->text };
	bool any = r->has_step;
	const char *name;
	size_t i;

	json_writer_object(&w, NULL);
	if (r->has_step)
		json_writer_integer(&w, "step", r->step);
	for (i = 0; i < r->n; i++) {
		name = r->values[i].name;
		if (strcmp(name, "trial") == 0) {
			if (!protocol_whole(&p->trial, r->values[i].value))
				return false;
		} else if (strcmp(name, "attempt") == 0) {
			if (!protocol_whole(&p->attempt, r->values[i].value))
				return false;
		} else if (protocol_is_ours(name))
			return false;
		else {
			protocol_put_value(
			    json_writer_value(&w, name), r->values[i].value);
			any = true;
		}
	}
	json_writer_end(&w);
	return p->trial > 0 && any;
}

/* The common case, read without a tree. */
static bool
read_report(struct pack_message *p, const char *line, size_t len)
{
	struct metric_line r;

	if (memmem(line, len, "\"log\"", 5) != NULL ||
	    !metric_json_parse(&r, line, len) || !protocol_report_put(p, &r)) {
		p->trial = p->attempt = 0;
		buf_clear(&p->text);
		return false;
	}
	p->said = PACK_MESSAGE_REPORT;
	return true;
}

static bool
protocol_read_number(struct pack_message *p, const struct json *root,
    const char *key, int64_t *out)
{
	const struct json *j = json_get(root, key);
	double value;

	if (j == NULL || (json_number(j, &value) && protocol_whole(out, value)))
		return true;
	protocol_nonsense(p, strcmp(key, "trial") == 0
				 ? "trial is no whole number from 1"
				 : "attempt is no whole number from 1");
	return false;
}

static void
protocol_read_end(struct pack_message *p, const struct json *root)
{
	const struct json *why = json_get(root, "why");
	int64_t code;

	if (!json_integer(json_get(root, "end"), &code) || code < 0 ||
	    code > CODE_MAX) {
		protocol_nonsense(p, "end is no whole number from 0 to 255");
		return;
	}
	p->said = PACK_MESSAGE_END;
	p->code = (int)code;
	if (json_string(why) != NULL)
		put_line(&p->text, json_string(why));
}

static void
read_log(struct pack_message *p, const struct json *log)
{
	if (json_string(log) == NULL) {
		protocol_nonsense(p, "log is no text");
		return;
	}
	p->said = PACK_MESSAGE_LOG;
	put_line(&p->text, json_string(log));
}

/* Reports with an invalid format are left to the trial's reader to reject. */
static void
protocol_read_rest(struct pack_message *p, const struct json *root)
{
	const struct json *j;

	p->said = PACK_MESSAGE_REPORT;
	buf_putc(&p->text, '{');
	for (j = json_first(root); j != NULL; j = json_next(j)) {
		if (protocol_is_ours(json_key(j)))
			continue;
		if (p->text.len > 1)
			buf_putc(&p->text, ',');
		json_put_string(&p->text, json_key(j));
		buf_putc(&p->text, ':');
		json_write(&p->text, j);
	}
	buf_putc(&p->text, '}');
}

static void
read_object(struct pack_message *p, const struct json *root)
{
	if (!protocol_read_number(p, root, "trial", &p->trial) ||
	    !protocol_read_number(p, root, "attempt", &p->attempt))
		return;
	if (json_get(root, "log") != NULL)
		read_log(p, json_get(root, "log"));
	else if (p->trial == 0)
		protocol_nonsense(p, "no trial is named");
	else if (json_get(root, "end") != NULL)
		protocol_read_end(p, root);
	else
		protocol_read_rest(p, root);
}

static bool
protocol_is_blank(const char *line, size_t len)
{
	return strspn(line, " \t\r") == len;
}

void
pack_protocol_read(struct pack_message *p, const char *line, size_t len)
{
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;

	p->said = PACK_MESSAGE_EMPTY;
	p->trial = p->attempt = 0;
	p->code = 0;
	buf_clear(&p->text);
	if (protocol_is_blank(line, len) || read_report(p, line, len))
		return;
	if (json_parse(&doc, line, len, NULL, false, &e) != 0) {
		protocol_nonsense(p, e.text);
		return;
	}
	if (json_type(json_root(doc)) == JSON_OBJECT)
		read_object(p, json_root(doc));
	else
		protocol_nonsense(p, "it is no object");
	json_free(doc);
}
