/* Durations, sizes and percentages: plain numbers, or text with a unit. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "src/model/units.h"

struct unit {
	const char *name;
	double factor;
};

static const struct unit durations[] = {
	{ "s", 1 },
	{ "m", 60 },
	{ "h", 3600 },
	{ "d", 86400 },
	{ NULL, 0 },
};

static const struct unit sizes[] = {
	{ "B", 1 },
	{ "kB", 1e3 },
	{ "MB", 1e6 },
	{ "GB", 1e9 },
	{ "TB", 1e12 },
	{ "KiB", 1024.0 },
	{ "MiB", 1048576.0 },
	{ "GiB", 1073741824.0 },
	{ "TiB", 1099511627776.0 },
	/* As Slurm, Docker and free(1) write them. */
	{ "K", 1024.0 },
	{ "M", 1048576.0 },
	{ "G", 1073741824.0 },
	{ "T", 1099511627776.0 },
	{ NULL, 0 },
};

static const struct unit percents[] = {
	{ "%", 1 },
	{ NULL, 0 },
};

/* Digits, an optional fraction, and a unit. */
static bool
unit_parse(const char *text, const struct unit *units, double *out)
{
	size_t n = strspn(text, "0123456789.");
	char *end;
	double x;

	if (n == 0 || n > 30 || text[0] == '.' || text[n - 1] == '.')
		return false;
	x = strtod(text, &end);
	if (end != text + n)
		return false;
	for (; units->name != NULL; units++)
		if (strcmp(units->name, end) == 0) {
			*out = x * units->factor;
			return true;
		}
	return false;
}

/* Two digits at most, below 60; NULL: it is something else. */
static const char *
clock_part(const char *text, double *part)
{
	size_t n = strspn(text, "0123456789");

	*part = strtod(text, NULL);
	return n >= 1 && n <= 2 && *part < 60 ? text + n : NULL;
}

/*
 * "4:00:00", with days "1-12:00:00", "1-12:00", "1-12"; two parts without days
 * could be read in two ways.
 */
static bool
clock_parse(const char *text, double *seconds)
{
	size_t n = strspn(text, "0123456789");
	bool has_days = n >= 1 && n <= 5 && text[n] == '-';
	double days = 0, hours, minutes = 0, rest = 0;

	if (has_days) {
		days = strtod(text, NULL);
		text += n + 1;
		n = strspn(text, "0123456789");
	}
	if (n < 1 || n > 6)
		return false;
	hours = strtod(text, NULL);
	text += n;
	if (*text == ':') {
		text = clock_part(text + 1, &minutes);
		if (text != NULL && *text == ':')
			text = clock_part(text + 1, &rest);
		else if (!has_days)
			return false;
	} else if (!has_days)
		return false;
	*seconds = ((days * 24 + hours) * 60 + minutes) * 60 + rest;
	return text != NULL && *text == '\0';
}

bool
duration_parse(const char *text, double *seconds)
{
	return unit_parse(text, durations, seconds) ||
	       clock_parse(text, seconds);
}

bool
size_parse(const char *text, double *bytes)
{
	return unit_parse(text, sizes, bytes);
}

bool
percent_parse(const char *text, double *percent)
{
	return unit_parse(text, percents, percent);
}

/* A JSON number, or text with one of the units. */
static bool
unit_read(const struct json *j, const struct unit *units, double *out)
{
	const char *text = json_string(j);

	return text != NULL ? unit_parse(text, units, out)
			    : json_number(j, out);
}

int
duration_read(int64_t *ms, const struct json *j, struct err *e)
{
	double seconds;

	if (json_string(j) != NULL ? !duration_parse(json_string(j), &seconds)
				   : !json_number(j, &seconds))
		return json_err(j, e, "expected " DURATION_FORM);
	if (seconds < 0 || seconds > DURATION_MAX)
		return json_err(
		    j, e, "a duration is at least 0 and at most 36500d");
	*ms = llround(seconds * 1000);
	return 0;
}

int
size_read(int64_t *bytes, const struct json *j, struct err *e)
{
	double x;

	if (!unit_read(j, sizes, &x))
		return json_err(j, e, "expected " SIZE_FORM);
	if (x < 0 || x > SIZE_BYTES_MAX)
		return json_err(
		    j, e, "a size is at least 0 and at most 8192TiB");
	*bytes = llround(x);
	return 0;
}

/* The two largest units that are not zero: "2d 3h", "1m 30s", "1.5s". */
void
duration_put(struct buf *b, int64_t ms)
{
	static const char names[] = "dhms";
	static const int64_t parts[] = { 86400000, 3600000, 60000, 1000 };
	int64_t rest;
	size_t i = 0;

	if (ms < 0) {
		buf_putc(b, '-');
		ms = ms == INT64_MIN ? INT64_MAX : -ms;
	}
	if (ms < 1000) {
		buf_printf(b, ms == 0 ? "%" PRId64 "s" : "%" PRId64 "ms", ms);
		return;
	}
	if (ms < 10000 && ms / 100 % 10 != 0) {
		buf_printf(
		    b, "%" PRId64 ".%" PRId64 "s", ms / 1000, ms / 100 % 10);
		return;
	}
	while (ms < parts[i])
		i++;
	buf_printf(b, "%" PRId64 "%c", ms / parts[i], names[i]);
	rest = ms % parts[i];
	if (i < 3 && rest >= parts[i + 1])
		buf_printf(
		    b, " %" PRId64 "%c", rest / parts[i + 1], names[i + 1]);
}

void
duration_put_rough(struct buf *b, double seconds)
{
	double unit = seconds <= 60 ? 1 : seconds <= 600 ? 10 : 60;
	double most = 1e12; /* seconds; 32,000 years */

	if (!(seconds < most))
		seconds = most;
	duration_put(b, (int64_t)(fmax(ceil(seconds / unit), 1) * unit) * 1000);
}
