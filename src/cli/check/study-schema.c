/*
 * Prints the JSON Schema of study.json: the fixed part, with the plug-ins and the
 * words of tables in their places.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/cli/check/study-schema.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "strategies/stopper.h"
#include "strategies/strategy.h"
#include "trials/backend.h"
#include "trials/metric-files/metric-files.h"

static const char fixed[] =
#include "schema/study-schema.inc"
    ;

/* "0%" to "100%" */
#define PERCENT_PATTERN "^0*([0-9]{1,2}(\\.[0-9]+)?|100(\\.0+)?)%$"

/* {"type": name} */
static void
type_put(struct json_writer *w, const char *name)
{
	json_writer_object(w, NULL);
	json_writer_text(w, "type", name);
	json_writer_end(w);
}

static void
study_schema_pattern_put(struct json_writer *w, const char *pattern)
{
	json_writer_object(w, NULL);
	json_writer_text(w, "type", "string");
	json_writer_text(w, "pattern", pattern);
	json_writer_end(w);
}

static void
study_schema_range_put(struct json_writer *w, const struct option *o)
{
	if (o->min >= o->max)
		return;
	if (isfinite(o->min))
		json_writer_number(w, "minimum", o->min);
	if (isfinite(o->max) && o->max <= 9007199254740992.0)
		json_writer_number(w, "maximum", o->max);
}

/* A whole number, in its range; without one at least least. */
static void
study_schema_integer_put(
    struct json_writer *w, const struct option *o, double least)
{
	json_writer_object(w, NULL);
	json_writer_text(w, "type", "integer");
	if (o->min >= o->max)
		json_writer_number(w, "minimum", least);
	study_schema_range_put(w, o);
	json_writer_end(w);
}

/* A share as a number; 1 would be a step, or either. */
static void
study_schema_share_put(struct json_writer *w)
{
	json_writer_object(w, NULL);
	json_writer_text(w, "type", "number");
	json_writer_number(w, "minimum", 0);
	json_writer_number(w, "exclusiveMaximum", 1);
	json_writer_end(w);
}

/* Words of choices; one with a colon stands for a word with a share behind. */
static void
choices_put(struct json_writer *w, const char *const *choices)
{
	size_t i, n;

	json_writer_array(w, "anyOf");
	for (i = 0; choices[i] != NULL; i++) {
		n = strlen(choices[i]);
		if (n > 0 && choices[i][n - 1] == ':') {
			char *pattern =
			    xasprintf("^%s%s", choices[i], PERCENT_PATTERN + 1);

			study_schema_pattern_put(w, pattern);
			free(pattern);
			continue;
		}
		json_writer_object(w, NULL);
		json_writer_text(w, "const", choices[i]);
		json_writer_end(w);
	}
	json_writer_end(w);
}

/* What the option may be, as members of its schema. */
static void
option_type_put(struct json_writer *w, const struct option *o)
{
	switch (o->type) {
	case OPTION_BOOL:
		json_writer_array(w, "anyOf");
		type_put(w, "boolean");
		if (o->max > 0)
			study_schema_integer_put(w, o, 0);
		json_writer_end(w);
		break;
	case OPTION_INT:
	case OPTION_REAL:
		json_writer_text(
		    w, "type", o->type == OPTION_INT ? "integer" : "number");
		study_schema_range_put(w, o);
		break;
	case OPTION_TEXT:
		if (o->choices != NULL)
			choices_put(w, o->choices);
		else
			json_writer_text(w, "type", "string");
		break;
	case OPTION_STEPS:
	case OPTION_SHARE:
		json_writer_array(w, "anyOf");
		study_schema_share_put(w);
		if (o->type == OPTION_STEPS)
			study_schema_integer_put(w, o, 0);
		study_schema_pattern_put(w, PERCENT_PATTERN);
		json_writer_end(w);
		break;
	case OPTION_DURATION:
		json_writer_text(w, "$ref", "#/$defs/duration");
		break;
	case OPTION_SIZE:
		json_writer_text(w, "$ref", "#/$defs/size");
		break;
	case OPTION_WORDS:
		json_writer_array(w, "type");
		json_writer_text(w, NULL, "string");
		json_writer_text(w, NULL, "integer");
		json_writer_text(w, NULL, "array");
		json_writer_end(w);
		break;
	case OPTION_JSON:
		json_writer_array(w, "type");
		json_writer_text(w, NULL, "object");
		json_writer_text(w, NULL, "array");
		json_writer_end(w);
		break;
	case OPTION_ANY:
	case OPTION_END:
		break;
	}
}

static void
options_put(struct json_writer *w, const struct option *o)
{
	struct buf about = { 0 };

	for (; o != NULL && o->type != OPTION_END; o++) {
		buf_clear(&about);
		buf_puts(&about, o->help);
		if (o->def != NULL)
			buf_printf(&about, " (%s)", o->def);
		json_writer_object(w, o->name);
		json_writer_text(w, "description", buf_str(&about));
		option_type_put(w, o);
		json_writer_end(w);
	}
	buf_free(&about);
}

/* One plug-in as an object: its name under key, and its options. */
struct plug {
	const char *key, *name, *about;
	const struct option *options;
	const struct option *common; /* those that all have, or NULL */
	bool usual; /* the key may be missing */
};

static void
plug_put(struct json_writer *w, const struct plug *p)
{
	json_writer_object(w, NULL);
	json_writer_text(w, "type", "object");
	json_writer_text(w, "description", p->about);
	json_writer_object(w, "properties");
	json_writer_object(w, p->key);
	json_writer_text(w, "const", p->name);
	json_writer_end(w);
	options_put(w, p->common);
	options_put(w, p->options);
	json_writer_end(w);
	if (!p->usual) {
		json_writer_array(w, "required");
		json_writer_text(w, NULL, p->key);
		json_writer_end(w);
	}
	json_writer_bool(w, "additionalProperties", false);
	json_writer_end(w);
}

/* A bare name or one of the objects. */
static void
plugs_put(struct buf *out, const struct plug *plugs, size_t n)
{
	struct json_writer w = { .out = out, .spacing = JSON_SPACED };
	size_t i;

	json_writer_object(&w, NULL);
	json_writer_array(&w, "anyOf");
	json_writer_object(&w, NULL);
	json_writer_array(&w, "enum");
	for (i = 0; i < n; i++)
		json_writer_text(&w, NULL, plugs[i].name);
	json_writer_end(&w);
	json_writer_end(&w);
	for (i = 0; i < n; i++) {
		json_writer_line(&w);
		plug_put(&w, &plugs[i]);
	}
	json_writer_end(&w);
	json_writer_end(&w);
}

enum { PLUGS_MAX = 64 };

static void
strategies_put(struct buf *out)
{
	static const char *const duplicates[] = { "resample", "reuse", NULL };
	static const char *const devices[] = { "auto", "cpu", "cuda", NULL };
	static const struct option common[] = {
		{ .name = "seed",
		    .type = OPTION_INT,
		    .max = 9007199254740991.0,
		    .help = "of random numbers" },
		{ .name = "duplicates",
		    .type = OPTION_TEXT,
		    .choices = duplicates,
		    .def = "resample",
		    .help = "what becomes of a setting that was tried" },
		{ .name = "device",
		    .type = OPTION_TEXT,
		    .choices = devices,
		    .def = "auto",
		    .help = "where it computes" },
		{ .type = OPTION_END },
	};
	struct plug plugs[PLUGS_MAX];
	size_t n;

	for (n = 0; n < PLUGS_MAX && strategies[n] != NULL; n++)
		plugs[n] = (struct plug){
			.key = "name",
			.name = strategies[n]->name,
			.about = strategies[n]->about,
			.options = strategies[n]->options,
			.common = common,
			.usual = n == 0,
		};
	plugs_put(out, plugs, n);
}

static void
study_schema_rules_put(struct buf *out)
{
	static const struct option common[] = {
		{ .name = "veto",
		    .type = OPTION_BOOL,
		    .help = "it stops no trial, and keeps others from it" },
		{ .type = OPTION_END },
	};
	struct plug plugs[PLUGS_MAX];
	size_t n;

	for (n = 0; n < PLUGS_MAX && stoppers[n] != NULL; n++)
		plugs[n] = (struct plug){
			.key = "rule",
			.name = stoppers[n]->name,
			.about = stoppers[n]->about,
			.options = stoppers[n]->options,
			.common = common,
		};
	plugs_put(out, plugs, n);
}

static void
study_schema_backends_put(struct buf *out)
{
	struct plug plugs[PLUGS_MAX];
	size_t n;

	for (n = 0; n < PLUGS_MAX && backend_types[n] != NULL; n++)
		plugs[n] = (struct plug){
			.key = "name",
			.name = backend_types[n]->name,
			.about = backend_types[n]->about,
			.options = backend_types[n]->options,
		};
	plugs_put(out, plugs, n);
}

static void
study_schema_convergence_put(struct buf *out)
{
	struct json_writer w = { .out = out, .spacing = JSON_SPACED };

	json_writer_object(&w, NULL);
	json_writer_text(&w, "type", "object");
	json_writer_object(&w, "properties");
	options_put(&w, strategy_convergence.options);
	json_writer_end(&w);
	json_writer_bool(&w, "additionalProperties", false);
	json_writer_end(&w);
}

/* ["tensorboard", …] */
static void
study_schema_words_put(struct buf *out, const char *(*word)(size_t i))
{
	struct json_writer w = { .out = out, .spacing = JSON_SPACED };
	size_t i;

	json_writer_array(&w, NULL);
	for (i = 0; word(i) != NULL; i++)
		json_writer_text(&w, NULL, word(i));
	json_writer_end(&w);
}

static const char *
study_schema_format(size_t i)
{
	const char *words[METRIC_READERS_MAX + 1];

	metric_reader_words(words);
	return words[i];
}

static void
study_schema_formats_put(struct buf *out)
{
	study_schema_words_put(out, study_schema_format);
}

static const char *
study_schema_preset(size_t i)
{
	return study_read_metrics_preset(i, false);
}

static void
study_schema_presets_put(struct buf *out)
{
	study_schema_words_put(out, study_schema_preset);
}

static const char *
study_schema_line_preset(size_t i)
{
	return study_read_metrics_preset(i, true);
}

static void
study_schema_line_presets_put(struct buf *out)
{
	study_schema_words_put(out, study_schema_line_preset);
}

void
study_schema_put(struct buf *out)
{
	static const struct {
		const char *mark; /* in the fixed part */
		void (*put)(struct buf *);
	} parts[] = { { "\"@format@\"", study_schema_formats_put },
		{ "\"@preset@\"", study_schema_presets_put },
		{ "\"@line_preset@\"", study_schema_line_presets_put },
		{ "\"@strategy@\"", strategies_put },
		{ "\"@rule@\"", study_schema_rules_put },
		{ "\"@backend@\"", study_schema_backends_put },
		{ "\"@convergence@\"", study_schema_convergence_put } };
	const char *at = fixed, *mark;
	size_t i;

	for (i = 0; i < sizeof parts / sizeof *parts; i++) {
		mark = strstr(at, parts[i].mark);
		buf_add(out, at, (size_t)(mark - at));
		parts[i].put(out);
		at = mark + strlen(parts[i].mark);
	}
	buf_puts(out, at);
}
