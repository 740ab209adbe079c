/*
 * The space: parameters and the unit cube.  A point is one number per
 * parameter, in the order of study.json; NaN stands for an inactive parameter.
 * Independent of files, database and strategies.
 */

#ifndef HPOTUNE_SPACE_H
#define HPOTUNE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct json;
struct when;
struct where;

enum value_kind {
	VALUE_NONE, /* inactive */
	VALUE_NULL,
	VALUE_BOOL,
	VALUE_INT,
	VALUE_REAL,
	VALUE_TEXT,
	VALUE_TREE /* a list or an object */
};

/* The value of a parameter, in the user's terms. */
struct value {
	enum value_kind kind;
	int64_t integer; /* VALUE_INT, VALUE_BOOL */
	double real; /* VALUE_REAL; for VALUE_INT the same number */
	/*
	 * VALUE_TEXT, or the JSON of VALUE_TREE as json_spaced writes it; borrowed
	 * from the space.
	 */
	const char *text;
};

enum param_type { PARAM_FLOAT, PARAM_INT, PARAM_CHOICE, PARAM_FIXED };

enum param_scale {
	SCALE_LINEAR,
	SCALE_LOG,
	SCALE_REVERSE_LOG /* for floats near 1: 1 - x is logarithmic,
				 * 0 <= min < max < 1 */
};

struct param {
	char *name;
	enum param_type type;
	bool guessed; /* the type is that of min and max */
	enum param_scale scale;
	double min, max; /* inclusive */
	double step; /* 0 = none; 1 for an int without step */
	/* Of the number, or of its ln on a log scale (prior.h); sd 0 = none. */
	double mean, sd;
	/*
	 * choice: n_values of them; fixed: one, or those of the replicates of a
	 * setting, of which strategies see the first.
	 */
	struct value *values;
	size_t n_values;
	double *weights; /* of the choices (prior.h); NULL = none */
	bool ordered; /* the choices have an order */
	bool has_default;
	struct value def;
	struct when *when; /* its condition; NULL = always active */
};

struct space {
	struct param *params;
	size_t n;
	int *order; /* n indices, parents before children */
	struct where *where; /* constraints on the values, or NULL */
};

/* Read the "parameters" object of study.json. */
int space_read(struct space **, const struct json *, struct err *);
/*
 * Append the parameter of replicates: fixed for strategies, with the values of a
 * list, or the whole numbers from 1 to count.  name and values are of study.json.
 */
int space_add_replicates(struct space *, const struct json *name,
    const struct json *values, int64_t count, struct err *);
/* So many values more for that parameter, which has whole numbers. */
int space_more_replicates(
    struct space *, const struct json *where, int64_t more, struct err *);
void space_free(struct space *);
/* Whether the name is reserved, compared without case. */
bool space_name_taken(const char *name);
/*
 * Whether both names have the same SM_HP_NAME or column of view results: they
 * differ only in case, or in - _ and .
 */
bool space_names_clash(const char *, const char *);
/* Index of a parameter by name, or -1. */
int space_find(const struct space *, const char *name);

/*
 * u (n numbers) -> values (n of them). u is clamped to [0, 1]; a NaN of an
 * active parameter counts as 0.5.  Choices, linear ints and stepped floats
 * divide the interval evenly: the lowest of k values covers [0, 1/k).  For an
 * int on a log scale the value v covers log(v - 1/2) to log(v + 1/2).  Other
 * floats are rounded to 12 or 13 digits, so that they survive encode and
 * decode; 0 and 1 are min and max exactly.  A range that its step does not
 * divide ends at the greatest min + k step.
 */
void space_decode(const struct space *, const double *u, struct value *values);
/*
 * values -> u, each at the middle of the interval that decodes to it;
 * VALUE_NONE: NaN. decode(encode(v)) is v for all values that read, parse and
 * decode return.
 */
void space_encode(const struct space *, const struct value *values, double *u);
/* u -> the u that space_encode gives for the values it decodes to. */
void space_snap(const struct space *, double *u);
/* The number of values of the parameter; 0 = continuous. */
uint64_t param_levels(const struct param *);
/* Whether parameter i is active under these values of the others. */
bool space_active(const struct space *, size_t i, const struct value *values);
/* Whether each active parameter has a value. */
bool space_is_full(const struct space *, const struct value *values);

/*
 * Check a partial setting {name: value} (enqueue): missing parameters are
 * VALUE_NONE in out, for the caller to fill.  Floats are rounded as by decode.
 * A value of a parameter that is inactive under the setting is an error.
 */
int space_read_values(
    const struct space *, const struct json *, struct value *out, struct err *);
/* The same of JSON text; texts among the values are the space's. */
int space_parse_values(
    const struct space *, const char *json, struct value *out, struct err *);
/* Parse the value of one parameter from NAME=VALUE of a command line. */
int param_parse(
    const struct param *, const char *text, struct value *out, struct err *);

bool param_value_equal(const struct value *, const struct value *);
/*
 * As a command argument: numbers in the shortest form that reads back the same,
 * true/false, null, text unquoted, a list or an object as JSON.
 */
void param_value_put(struct buf *, const struct value *);
/*
 * The same for a text of another format: a number with an exponent has a point
 * and a sign, 1.0e-05, which YAML 1.1 needs and JSON, TOML, INI, Python and C
 * read, too.
 */
void param_value_put_pointed(struct buf *, const struct value *);
/* As JSON. */
void param_value_put_json(struct buf *, const struct value *);
/* {"lr":0.1,…} of the active parameters, in the order of study.json. */
void space_put_json(struct buf *, const struct space *, const struct value *);

#endif /* HPOTUNE_SPACE_H */
