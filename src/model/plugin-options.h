/*
 * Options of a plug-in (a strategy, a stopping rule, a backend) as a table:
 * one row per option is used to read study.json, for error messages and for
 * "hpotune strategies" and "hpotune rules".
 */

#ifndef HPOTUNE_PLUGIN_OPTIONS_H
#define HPOTUNE_PLUGIN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct json;

enum option_type {
	OPTION_END, /* closes a table */
	OPTION_BOOL, /* with a range also a whole number; true is 1 */
	OPTION_INT,
	OPTION_REAL,
	OPTION_TEXT, /* one of choices when those are given; "window:P%"
			 * with 0 < P <= 100 matches a choice "window:" */
	OPTION_STEPS, /* a count, or a share of max_steps: "20%" or 0 < x < 1 */
	OPTION_SHARE, /* a share: "0%" to "100%", or 0 <= x < 1 */
	OPTION_DURATION, /* seconds, or "90s" "10m" "2h" "1d" */
	OPTION_SIZE, /* bytes, or "512MiB" "4GiB" */
	OPTION_WORDS, /* a text, a whole number or a list of texts without
		       * commas: text has them joined by commas */
	OPTION_ANY, /* the same, or an object that the plug-in reads */
	OPTION_JSON /* an object or a list that the plug-in reads */
};

struct option {
	const char *name;
	enum option_type type;
	double min, max; /* of numbers, inclusive; both 0 = any */
	const char *def; /* the default as a user would write it; NULL = none */
	const char *const *choices; /* OPTION_TEXT: ends with NULL; or NULL */
	const char *help; /* one line */
};

/*
 * The value of an option, from the study or its default.  Values come as an
 * array, one for each row of the table, closed by one without a name.
 */
struct option_value {
	const char *name; /* the table's; NULL closes the array */
	bool given; /* written in study.json */
	bool is_set; /* given or has a default */
	bool is_share; /* OPTION_STEPS: number is a share in (0, 1] */
	double number; /* also for OPTION_BOOL (0 or 1) and durations (s) */
	char *text; /* OPTION_TEXT, _WORDS, _ANY: owned by this array */
	const struct json *json; /* as written, of the study's document; or
				  * NULL: for errors, and for OPTION_JSON and _ANY */
};

/* Number of rows of a table (which may be NULL). */
size_t plugin_options_count(const struct option *);
/*
 * Read block (an object, or NULL for defaults only) into a new array with one
 * value per row; the caller frees it.  Keys in except (ends with NULL, may be
 * NULL) are read elsewhere; any other unknown key is an error.
 */
int plugin_options_read(struct option_value **, const struct option *,
    const struct json *block, const char *const *except, struct err *);
void plugin_options_free(struct option_value *);
/* The value of this name; asserts that the array has it. */
const struct option_value *
plugin_option_get(const struct option_value *, const char *name);
/* The option's number, its text, and whether a yes-or-no option is on. */
double plugin_option_number(const struct option_value *, const char *name);
const char *plugin_option_text(const struct option_value *, const char *name);
bool plugin_option_is(const struct option_value *, const char *name);
/* A whole number; INT64_MAX if it is larger. */
int64_t plugin_option_count(const struct option_value *, const char *name);
/* Whether the text of an option is this one. */
bool plugin_option_says(
    const struct option_value *, const char *name, const char *text);
/*
 * Steps of an OPTION_STEPS value: a share of max_steps, rounded up; fallback
 * when max_steps is unknown (0) or nothing is set.
 */
int64_t plugin_option_steps(
    const struct option_value *, int64_t max_steps, int64_t fallback);

/* "90s" "10m" "2h" "1d" or a JSON number of seconds -> milliseconds. */
int duration_read(int64_t *ms, const struct json *, struct err *);
/* "512MiB" "4GiB" (also KiB, kB, MB, GB, TB) or a JSON number -> bytes. */
int size_read(int64_t *bytes, const struct json *, struct err *);
/* 5400000 -> "1h 30m"; for display. */
void duration_put(struct buf *, int64_t ms);
/*
 * The same of an estimate, rounded up to what it can promise: seconds below a
 * minute, 10 seconds below 10 minutes, minutes above; at least "1s".
 */
void duration_put_rough(struct buf *, double seconds);

#endif /* HPOTUNE_PLUGIN_OPTIONS_H */
