/* Rules of a replay: from text to opened plug-ins. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/model/plugin-options.h"
#include "src/replay/replay.h"
#include "strategies/stop/second-look/second-look.h"
#include "strategies/stopper.h"

enum { NAMES_MAX = 64, RULES_MAX = 16 };

struct part {
	const struct stopper *stopper;
	struct option_value *values;
	bool veto;
};

struct replay_rule {
	char *text;
	struct part parts[RULES_MAX];
	size_t n;
};

static int
rule_find(struct part *part, const char *name, struct err *e)
{
	const char *names[NAMES_MAX + 1], *near;
	size_t i;

	part->stopper = stopper_find(name);
	if (part->stopper != NULL)
		return 0;
	for (i = 0; i < NAMES_MAX && stoppers[i] != NULL; i++)
		names[i] = stoppers[i]->name;
	names[i] = NULL;
	near = text_nearest(name, names);
	if (near != NULL)
		return err_set(e, ERR_USAGE,
		    "no rule named \"%s\": did you mean \"%s\"?", name, near);
	return err_set(e, ERR_USAGE,
	    "no rule named \"%s\": hpotune rules lists them", name);
}

static int
replay_rules_part_read(
    struct replay_rule *r, const struct json *j, struct err *e)
{
	static const char *const except[] = { "rule", "veto", NULL };
	struct part *part = &r->parts[r->n];
	const struct json *name = j, *block = NULL, *veto;

	if (r->n == RULES_MAX)
		return err_set(
		    e, ERR_USAGE, "more than %d rules in a list", RULES_MAX);
	if (json_type(j) == JSON_OBJECT) {
		block = j;
		name = json_get(j, "rule");
	}
	if (name == NULL || json_string(name) == NULL)
		return json_err(j, e, "expected a rule's name or its block");
	if (rule_find(part, json_string(name), e) != 0 ||
	    plugin_options_read(
		&part->values, part->stopper->options, block, except, e) != 0)
		return -1;
	r->n++;
	veto = json_get(block, "veto");
	if (veto != NULL && !json_bool(veto, &part->veto))
		return json_err(veto, e, "expected true or false");
	return 0;
}

static int
blocks_read(struct replay_rule *r, struct err *e)
{
	struct json_doc *doc;
	const struct json *j;
	int rc = 0;

	if (json_parse(&doc, r->text, strlen(r->text), "rule", true, e) != 0)
		return -1;
	j = json_root(doc);
	if (json_type(j) != JSON_ARRAY)
		rc = replay_rules_part_read(r, j, e);
	else
		for (j = json_first(j); j != NULL && rc == 0; j = json_next(j))
			rc = replay_rules_part_read(r, j, e);
	json_free(doc);
	return rc;
}

int
replay_rule_read(struct replay_rule **out, const char *text, struct err *e)
{
	struct replay_rule *r = xcalloc(1, sizeof(*r));
	int rc;

	r->text = xstrdup(text);
	if (*text == '{' || *text == '[')
		rc = blocks_read(r, e);
	else {
		rc = rule_find(&r->parts[0], text, e);
		if (rc == 0)
			rc = plugin_options_read(&r->parts[0].values,
			    r->parts[0].stopper->options, NULL, NULL, e);
		r->n = rc == 0;
	}
	if (rc == -1) {
		replay_rule_free(r);
		return -1;
	}
	*out = r;
	return 0;
}

void
replay_rule_free(struct replay_rule *r)
{
	size_t i;

	if (r == NULL)
		return;
	for (i = 0; i < r->n; i++)
		plugin_options_free(r->parts[i].values);
	free(r->text);
	free(r);
}

const char *
replay_rule_text(const struct replay_rule *r)
{
	return r->text;
}

double
replay_rule_second_look(const struct replay_rule *r)
{
	const struct option_value *o;
	bool given = false;
	double share = 0;
	size_t i;

	for (i = 0; i < r->n; i++)
		for (o = r->parts[i].values; o->name != NULL; o++) {
			if (strcmp(o->name, "second_look") != 0 || !o->is_set ||
			    r->parts[i].veto)
				continue;
			share = share > o->number ? share : o->number;
			given = true;
		}
	return given ? share : SECOND_LOOK_SHARE;
}

int
replay_rule_open(struct stop_rule_set **out, const struct replay_rule *r,
    const struct stopper_env *env, struct err *e)
{
	struct stop_rule_set *set = stop_rule_set_new();
	size_t i;

	for (i = 0; i < r->n; i++)
		if (stop_rule_set_add(set, r->parts[i].stopper,
			r->parts[i].values, env, r->parts[i].veto, e) != 0) {
			stop_rule_set_free(set);
			return -1;
		}
	*out = set;
	return 0;
}
