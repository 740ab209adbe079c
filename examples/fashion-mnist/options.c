/* The table of options, used for parsing, usage and identity. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

enum options_kind {
	OPTIONS_TEXT,
	OPTIONS_WHOLE,
	OPTIONS_REAL,
	OPTIONS_OPTIMIZER,
	OPTIONS_FLAG,
};

/* What makes a run this one, and is compared with its checkpoint. */
enum options_shape {
	OPTIONS_OUTSIDE, /* nothing of it */
	OPTIONS_SHAPES,
	OPTIONS_TUNES /* the same, but for --retune */
};

struct options_row {
	const char *name;
	enum options_kind kind;
	size_t offset;
	double min, max;
	enum options_shape shapes; /* the numbers of the run */
	const char *help;
};

#define ROW(name, kind, field, min, max, shapes, help)                         \
	{                                                                      \
		name, kind, offsetof(struct options, field), min, max, shapes, \
		    help                                                       \
	}

/* clang-format off */
static const struct options_row options_rows[] = {
	ROW("hidden", OPTIONS_WHOLE, hidden, 1, 4096,
	    OPTIONS_SHAPES,
	    "units of a hidden layer (128)"),
	ROW("layers", OPTIONS_WHOLE, layers, 1, 2,
	    OPTIONS_SHAPES,
	    "hidden layers, 1 or 2 (1)"),
	ROW("lr", OPTIONS_REAL, lr, 1e-9, 100,
	    OPTIONS_TUNES,
	    "learning rate (0.05 for sgd, 0.001 for adam)"),
	ROW("batch", OPTIONS_WHOLE, batch, 1, 4096,
	    OPTIONS_TUNES,
	    "pictures per step (64)"),
	ROW("dropout", OPTIONS_REAL, dropout, 0, 0.95,
	    OPTIONS_TUNES,
	    "share of hidden units switched off (0)"),
	ROW("optimizer", OPTIONS_OPTIMIZER, optimizer, 0, 0,
	    OPTIONS_SHAPES,
	    "sgd or adam (sgd)"),
	ROW("momentum", OPTIONS_REAL, momentum, 0, 0.9999,
	    OPTIONS_TUNES,
	    "of sgd, and only of sgd (0)"),
	ROW("weight-decay", OPTIONS_REAL, weight_decay, 0, 10,
	    OPTIONS_TUNES,
	    "times lr, taken off every weight per step (0)"),
	ROW("seed", OPTIONS_WHOLE, seed, 0, 2147483647,
	    OPTIONS_SHAPES,
	    "of weights, order and dropout (1)"),
	ROW("train-size", OPTIONS_WHOLE, train_size, 1, 60000,
	    OPTIONS_SHAPES,
	    "pictures of one epoch, from the first on (55000)"),
	ROW("validation-size", OPTIONS_WHOLE, validation_size, 1, 59999,
	    OPTIONS_SHAPES,
	    "of the last training pictures, never trained on (5000)"),
	ROW("epochs", OPTIONS_WHOLE, epochs, 1, 100000,
	    OPTIONS_OUTSIDE,
	    "each ends with a report (10)"),
	ROW("data", OPTIONS_TEXT, data, 0, 0,
	    OPTIONS_OUTSIDE,
	    "folder of the data set ($SM_CHANNEL_TRAIN, or Debian's)"),
	ROW("cache", OPTIONS_TEXT, cache, 0, 0,
	    OPTIONS_OUTSIDE,
	    "folder for the pictures, unpacked (none)"),
	ROW("checkpoint-dir", OPTIONS_TEXT, checkpoint_dir, 0, 0,
	    OPTIONS_OUTSIDE,
	    "($HPOTUNE_CHECKPOINT_DIR; none: no checkpoints)"),
	ROW("checkpoint-every", OPTIONS_REAL, checkpoint_every, 0, 1e9,
	    OPTIONS_OUTSIDE,
	    "seconds between two inside an epoch (30)"),
	ROW("test", OPTIONS_FLAG, test, 0, 0,
	    OPTIONS_OUTSIDE,
	    "at the end, classify the 10,000 test pictures"),
	ROW("retune", OPTIONS_FLAG, retune, 0, 0,
	    OPTIONS_OUTSIDE,
	    "a checkpoint may have another lr, batch, dropout, momentum or decay"),
	ROW("help", OPTIONS_FLAG, help, 0, 0, OPTIONS_OUTSIDE, "print this"),
};
/* clang-format on */

enum { OPTIONS_ROWS = sizeof options_rows / sizeof options_rows[0] };

static const char *const options_optimizers[] = {
	[OPTIM_SGD] = "sgd",
	[OPTIM_ADAM] = "adam",
};

/* Whether an argument names the row; `_` is as good as `-`. */
static int
options_match(const struct options_row *row, const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < length && row->name[i] != '\0'; i++) {
		if (row->name[i] != (name[i] == '_' ? '-' : name[i]))
			return 0;
	}
	return i == length && row->name[i] == '\0';
}

static const struct options_row *
options_find(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < OPTIONS_ROWS; i++) {
		if (options_match(&options_rows[i], name, length))
			return &options_rows[i];
	}
	return NULL;
}

static int
options_number(
    const struct options_row *row, void *at, const char *value, struct fail *f)
{
	double real;
	char *end;

	errno = 0;
	real = strtod(value, &end);
	if (end == value || *end != '\0')
		return fail_set(f, "--%s=%s: not a number", row->name, value);
	if (!(real >= row->min && real <= row->max))
		return fail_set(f, "--%s=%s: not within %g and %.10g",
		    row->name, value, row->min, row->max);
	if (row->kind == OPTIONS_REAL) {
		*(double *)at = real;
		return 0;
	}
	if (real != floor(real))
		return fail_set(
		    f, "--%s=%s: not a whole number", row->name, value);
	*(long *)at = (long)real;
	return 0;
}

static int
options_choose(
    const struct options_row *row, void *at, const char *value, struct fail *f)
{
	int i;

	for (i = OPTIM_SGD; i <= OPTIM_ADAM; i++) {
		if (strcmp(value, options_optimizers[i]) == 0) {
			*(int *)at = i;
			return 0;
		}
	}
	return fail_set(f, "--%s=%s: neither sgd nor adam", row->name, value);
}

/* Takes one argument. */
static int
options_take(struct options *o, const char *argument, struct fail *f)
{
	const struct options_row *row;
	const char *value;
	size_t length;
	void *at;

	if (strncmp(argument, "--", 2) != 0)
		return fail_set(f, "%s: not an option (--help)", argument);
	length = strcspn(argument + 2, "=");
	value = argument[2 + length] == '=' ? argument + 3 + length : NULL;
	if ((row = options_find(argument + 2, length)) == NULL)
		return fail_set(f, "%s: no such option (--help)", argument);
	if ((row->kind == OPTIONS_FLAG) != (value == NULL))
		return fail_set(f, "--%s: %s", row->name,
		    value == NULL ? "write --NAME=VALUE" : "takes no value");
	at = (char *)o + row->offset;
	switch (row->kind) {
	case OPTIONS_TEXT:
		*(const char **)at = value;
		return 0;
	case OPTIONS_WHOLE:
	case OPTIONS_REAL:
		return options_number(row, at, value, f);
	case OPTIONS_OPTIMIZER:
		return options_choose(row, at, value, f);
	case OPTIONS_FLAG:
		*(int *)at = 1;
		return 0;
	}
	return 0;
}

static const char *
options_environment(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0' ? value : otherwise;
}

/* hpotune may want a part of the epochs only. */
static void
options_until(struct options *o)
{
	long until =
	    strtol(options_environment("HPOTUNE_UNTIL_STEP", "0"), NULL, 10);

	if (until > 0 && until < o->epochs)
		o->epochs = until;
}

/* What one option means depends on another. */
static int
options_settle(struct options *o, struct fail *f)
{
	options_until(o);
	if (o->optimizer == OPTIM_ADAM && !isnan(o->momentum))
		return fail_set(f, "--momentum: only with --optimizer=sgd");
	if (isnan(o->momentum))
		o->momentum = 0;
	if (isnan(o->lr))
		o->lr = o->optimizer == OPTIM_ADAM ? 0.001 : 0.05;
	return 0;
}

int
plugin_options_read(struct options *o, int argc, char **argv, struct fail *f)
{
	int i;

	*o = (struct options){
		.data = options_environment(
		    "SM_CHANNEL_TRAIN", "/usr/share/datasets/fashion-mnist"),
		.checkpoint_dir =
		    options_environment("HPOTUNE_CHECKPOINT_DIR", NULL),
		.checkpoint_every = 30,
		.lr = NAN,
		.momentum = NAN,
		.layers = 1,
		.hidden = 128,
		.batch = 64,
		.epochs = 10,
		.seed = 1,
		.train_size = 55000,
		.validation_size = 5000,
		.optimizer = OPTIM_SGD,
	};
	for (i = 1; i < argc; i++) {
		if (options_take(o, argv[i], f) == -1)
			return -1;
	}
	return options_settle(o, f);
}

void
options_identity(const struct options *o, char identity[])
{
	char *p = identity, *end = identity + OPTIONS_IDENTITY_MAX;
	const struct options_row *row;
	const void *at;
	size_t i;

	*p = '\0';
	for (i = 0; i < OPTIONS_ROWS; i++) {
		row = &options_rows[i];
		at = (const char *)o + row->offset;
		if (row->shapes == OPTIONS_OUTSIDE ||
		    (row->shapes == OPTIONS_TUNES && o->retune))
			continue;
		p += snprintf(p, (size_t)(end - p),
		    "%s%s=", p > identity ? " " : "", row->name);
		if (row->kind == OPTIONS_WHOLE)
			p += snprintf(
			    p, (size_t)(end - p), "%ld", *(const long *)at);
		else if (row->kind == OPTIONS_REAL)
			p += snprintf(
			    p, (size_t)(end - p), "%.17g", *(const double *)at);
		else
			p += snprintf(p, (size_t)(end - p), "%s",
			    options_optimizers[*(const int *)at]);
	}
}

void
options_usage(FILE *out)
{
	const struct options_row *row;
	char name[32];
	size_t i;

	for (i = 0; i < OPTIONS_ROWS; i++) {
		row = &options_rows[i];
		snprintf(name, sizeof name, "--%s%s", row->name,
		    row->kind == OPTIONS_FLAG ? "" : "=");
		fprintf(out, "  %-19s %s\n", name, row->help);
	}
}
