/*
 * From names in study.json to plug-ins with options.  Knows the three lists;
 * refuses to know what any plug-in does.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "src/server/plugins/plugins.h"
#include "strategies/stopper.h"
#include "strategies/strategy.h"
#include "trials/launcher.h"

enum {
	NAMES_MAX = 64 /* plug-ins of one kind */
};

/* An error at the place of a plug in study.json, when it has one. */
static int
plug_err(const struct study_plug *plug, struct err *e, const char *text)
{
	if (plug->where != NULL)
		return json_err(plug->where, e, "%s", text);
	return err_set(e, ERR_USAGE, "%s", text);
}

/* "no strategy named x: did you mean y?" */
static int
plug_unknown(const struct study_plug *plug, const char *kind,
    const char *const *names, struct err *e)
{
	const char *near = text_nearest(plug->name, names);
	struct buf text = { 0 };
	size_t i;

	buf_printf(&text, "no %s named \"%s\": ", kind, plug->name);
	if (near != NULL)
		buf_printf(&text, "did you mean \"%s\"?", near);
	else {
		buf_puts(&text, "expected ");
		for (i = 0; names[i] != NULL; i++)
			buf_printf(&text, "%s%s",
			    i == 0		   ? ""
			    : names[i + 1] == NULL ? " or "
						   : ", ",
			    names[i]);
	}
	(void)plug_err(plug, e, buf_str(&text));
	buf_free(&text);
	return -1;
}

/* "the strategy x searches for one objective: expected y or z" */
static int
several_read(
    const struct plugs *plugs, const struct study *study, struct err *e)
{
	struct buf text = { 0 };
	const char *between = "";
	size_t i;

	if (study->n_objectives == 1 || plugs->strategy->several)
		return 0;
	for (i = 0; strategies[i] != NULL; i++) {
		if (!strategies[i]->several)
			continue;
		buf_printf(&text, "%s%s", between, strategies[i]->name);
		between = " or ";
	}
	json_err(study->strategy.where != NULL
		     ? study->strategy.where
		     : json_get(json_root(study->doc), "objectives"),
	    e, "the strategy %s searches for one objective: expected %s",
	    plugs->strategy->name, buf_str(&text));
	buf_free(&text);
	return -1;
}

static int
strategy_read(struct plugs *plugs, const struct study *study, struct err *e)
{
	const struct study_plug *plug = &study->strategy;
	const char *names[NAMES_MAX + 1];
	struct err why = ERR_INIT;
	size_t i;

	plugs->strategy = strategy_find(plug->name);
	if (plugs->strategy == NULL) {
		for (i = 0; i < NAMES_MAX && strategies[i] != NULL; i++)
			names[i] = strategies[i]->name;
		names[i] = NULL;
		return plug_unknown(plug, "strategy", names, e);
	}
	if (options_read(&plugs->strategy_options, plugs->strategy->options,
		plug->block, study_strategy_keys, e) == -1 ||
	    several_read(plugs, study, e) == -1)
		return -1;
	if (plugs->strategy->check == NULL ||
	    plugs->strategy->check(
		plugs->strategy_options, study->space, &why) == 0)
		return 0;
	if (plug->where == NULL || !json_err_placed(plug->where, &why))
		return plug_err(plug, e, why.text);
	return err_set(e, ERR_USAGE, "%s", why.text);
}

static int
rule_read(struct plugs *plugs, const struct study_plug *plug, struct err *e)
{
	static const char *const except[] = { "rule", "veto", NULL };
	struct plug_rule *rule = &plugs->rules[plugs->n_rules];
	const char *names[NAMES_MAX + 1];
	const struct json *veto;
	size_t i;

	rule->stopper = stopper_find(plug->name);
	if (rule->stopper == NULL) {
		for (i = 0; i < NAMES_MAX && stoppers[i] != NULL; i++)
			names[i] = stoppers[i]->name;
		names[i] = NULL;
		return plug_unknown(plug, "stopping rule", names, e);
	}
	if (options_read(&rule->options, rule->stopper->options, plug->block,
		except, e) == -1)
		return -1;
	plugs->n_rules++;
	veto = plug->block != NULL ? json_get(plug->block, "veto") : NULL;
	if (veto != NULL && !json_bool(veto, &rule->veto))
		return json_err(veto, e, "expected true or false");
	return 0;
}

static int
backend_read(struct plugs *plugs, const struct study_plug *plug, struct err *e)
{
	static const char *const except[] = { "name", NULL };
	struct plug_backend *backend = &plugs->backends[plugs->n_backends];
	const char *names[NAMES_MAX + 1];
	size_t i;

	backend->launcher = launcher_find(plug->name);
	if (backend->launcher == NULL) {
		for (i = 0; i < NAMES_MAX && launchers[i] != NULL; i++)
			names[i] = launchers[i]->name;
		names[i] = NULL;
		return plug_unknown(plug, "backend", names, e);
	}
	if (options_read(&backend->options, backend->launcher->options,
		plug->block, except, e) == -1)
		return -1;
	plugs->n_backends++;
	return 0;
}

/* limits.convergence: what it is about must be one number, and a model's. */
static int
convergence_read(struct plugs *plugs, const struct study *study, struct err *e)
{
	const struct study_limits *l = &study->limits;

	if (!l->convergence)
		return 0;
	if (study->n_objectives > 1 || study->n_constraints > 0)
		return json_err(l->convergence_where, e,
		    "it is for studies with one objective and no constraints");
	return options_read(&plugs->convergence, strategy_convergence.options,
	    l->convergence_block, NULL, e);
}

int
plugs_read(struct plugs *plugs, const struct study *study, struct err *e)
{
	size_t i;

	memset(plugs, 0, sizeof *plugs);
	plugs->rules = xcalloc(study->n_stopping + 1, sizeof *plugs->rules);
	plugs->backends =
	    xcalloc(study->n_backends + 1, sizeof *plugs->backends);
	if (strategy_read(plugs, study, e) == -1)
		goto fail;
	for (i = 0; i < study->n_stopping; i++)
		if (rule_read(plugs, &study->stopping[i], e) == -1)
			goto fail;
	for (i = 0; i < study->n_backends; i++)
		if (backend_read(plugs, &study->backends[i], e) == -1)
			goto fail;
	if (convergence_read(plugs, study, e) == -1 ||
	    plugs_try(plugs, study, e) == -1)
		goto fail;
	return 0;
fail:
	plugs_free(plugs);
	return -1;
}

void
plugs_free(struct plugs *plugs)
{
	size_t i;

	if (plugs->strategy != NULL)
		options_free(plugs->strategy_options, plugs->strategy->options);
	options_free(plugs->convergence, strategy_convergence.options);
	for (i = 0; i < plugs->n_rules; i++)
		options_free(
		    plugs->rules[i].options, plugs->rules[i].stopper->options);
	for (i = 0; i < plugs->n_backends; i++)
		options_free(plugs->backends[i].options,
		    plugs->backends[i].launcher->options);
	free(plugs->rules);
	free(plugs->backends);
	memset(plugs, 0, sizeof *plugs);
}

int
plugs_open_rules(struct stopper_set **out, const struct plugs *plugs,
    const struct study *study, struct err *e)
{
	struct stopper_env env = { .max_steps = study->trial.max_steps,
		.maximize = study->maximize,
		.study = study->name };
	struct stopper_set *set = stopper_set_new();
	const struct plug_rule *rule;
	struct err why = ERR_INIT;
	size_t i;

	for (i = 0; i < plugs->n_rules; i++) {
		rule = &plugs->rules[i];
		if (stopper_set_add(set, rule->stopper, rule->options, &env,
			rule->veto, &why) == 0)
			continue;
		stopper_set_free(set);
		return plug_err(&study->stopping[i], e, why.text);
	}
	*out = set;
	return 0;
}
