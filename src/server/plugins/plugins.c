/*
 * Resolves the names in study.json to plug-ins with their options, from the
 * three lists.
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

/* An error at the position of a plug-in in study.json, when it has one. */
static int
plugin_err(const struct study_plugin *plug, struct err *e, const char *text)
{
	if (plug->where != NULL)
		return json_err(plug->where, e, "%s", text);
	return err_set(e, ERR_USAGE, "%s", text);
}

/* "no strategy named x: did you mean y?" */
static int
plugin_unknown(const struct study_plugin *plug, const char *kind,
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
	(void)plugin_err(plug, e, buf_str(&text));
	buf_free(&text);
	return -1;
}

/* "the strategy x searches for one objective: expected y or z" */
static int
several_read(
    const struct plugins *plugins, const struct study *study, struct err *e)
{
	struct buf text = { 0 };
	const char *between = "";
	size_t i;

	if (study->n_objectives == 1 || plugins->strategy->several)
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
	    plugins->strategy->name, buf_str(&text));
	buf_free(&text);
	return -1;
}

static int
strategy_read(struct plugins *plugins, const struct study *study, struct err *e)
{
	const struct study_plugin *plug = &study->strategy;
	const char *names[NAMES_MAX + 1];
	struct err why = ERR_INIT;
	size_t i;

	plugins->strategy = strategy_find(plug->name);
	if (plugins->strategy == NULL) {
		for (i = 0; i < NAMES_MAX && strategies[i] != NULL; i++)
			names[i] = strategies[i]->name;
		names[i] = NULL;
		return plugin_unknown(plug, "strategy", names, e);
	}
	if (plugin_options_read(&plugins->strategy_options,
		plugins->strategy->options, plug->block, study_strategy_keys,
		e) != 0 ||
	    several_read(plugins, study, e) != 0)
		return -1;
	if (plugins->strategy->check == NULL ||
	    plugins->strategy->check(
		plugins->strategy_options, study->space, &why) == 0)
		return 0;
	if (plug->where == NULL || !json_err_placed(plug->where, &why))
		return plugin_err(plug, e, why.text);
	return err_set(e, ERR_USAGE, "%s", why.text);
}

static int
rule_read(
    struct plugins *plugins, const struct study_plugin *plug, struct err *e)
{
	static const char *const except[] = { "rule", "veto", NULL };
	struct plugin_rule *rule = &plugins->rules[plugins->n_rules];
	const char *names[NAMES_MAX + 1];
	const struct json *veto;
	size_t i;

	rule->stopper = stopper_find(plug->name);
	if (rule->stopper == NULL) {
		for (i = 0; i < NAMES_MAX && stoppers[i] != NULL; i++)
			names[i] = stoppers[i]->name;
		names[i] = NULL;
		return plugin_unknown(plug, "stopping rule", names, e);
	}
	if (plugin_options_read(&rule->options, rule->stopper->options,
		plug->block, except, e) != 0)
		return -1;
	plugins->n_rules++;
	veto = json_get(plug->block, "veto");
	if (veto != NULL && !json_bool(veto, &rule->veto))
		return json_err(veto, e, "expected true or false");
	return 0;
}

static int
backend_read(
    struct plugins *plugins, const struct study_plugin *plug, struct err *e)
{
	static const char *const except[] = { "name", NULL };
	struct plugin_backend *backend =
	    &plugins->backends[plugins->n_backends];
	const char *names[NAMES_MAX + 1];
	size_t i;

	backend->launcher = launcher_find(plug->name);
	if (backend->launcher == NULL) {
		for (i = 0; i < NAMES_MAX && launchers[i] != NULL; i++)
			names[i] = launchers[i]->name;
		names[i] = NULL;
		return plugin_unknown(plug, "backend", names, e);
	}
	if (plugin_options_read(&backend->options, backend->launcher->options,
		plug->block, except, e) != 0)
		return -1;
	plugins->n_backends++;
	return 0;
}

/* limits.convergence: needs a single objective and a strategy with a model. */
static int
convergence_read(
    struct plugins *plugins, const struct study *study, struct err *e)
{
	const struct study_limits *l = &study->limits;

	if (!l->convergence)
		return 0;
	if (study->n_objectives > 1 || study->n_constraints > 0)
		return json_err(l->convergence_where, e,
		    "it is for studies with one objective and no constraints");
	return plugin_options_read(&plugins->convergence,
	    strategy_convergence.options, l->convergence_block, NULL, e);
}

int
plugins_read(struct plugins *plugins, const struct study *study, struct err *e)
{
	size_t i;

	memset(plugins, 0, sizeof *plugins);
	plugins->rules = xcalloc(study->n_stopping + 1, sizeof *plugins->rules);
	plugins->backends =
	    xcalloc(study->n_backends + 1, sizeof *plugins->backends);
	if (strategy_read(plugins, study, e) != 0)
		goto fail;
	for (i = 0; i < study->n_stopping; i++)
		if (rule_read(plugins, &study->stopping[i], e) != 0)
			goto fail;
	for (i = 0; i < study->n_backends; i++)
		if (backend_read(plugins, &study->backends[i], e) != 0)
			goto fail;
	if (convergence_read(plugins, study, e) != 0 ||
	    plugins_check(plugins, study, e) != 0)
		goto fail;
	return 0;
fail:
	plugins_free(plugins);
	return -1;
}

void
plugins_free(struct plugins *plugins)
{
	size_t i;

	if (plugins->strategy != NULL)
		plugin_options_free(plugins->strategy_options);
	plugin_options_free(plugins->convergence);
	for (i = 0; i < plugins->n_rules; i++)
		plugin_options_free(plugins->rules[i].options);
	for (i = 0; i < plugins->n_backends; i++)
		plugin_options_free(plugins->backends[i].options);
	free(plugins->rules);
	free(plugins->backends);
	memset(plugins, 0, sizeof *plugins);
}

int
plugins_open_rules(struct stop_rule_set **out, const struct plugins *plugins,
    const struct study *study, struct err *e)
{
	struct stopper_env env = { .max_steps = study->trial.max_steps,
		.maximize = study->maximize,
		.study = study->name,
		.metric = study->metric };
	struct stop_rule_set *set = stop_rule_set_new();
	const struct plugin_rule *rule;
	struct err why = ERR_INIT;
	size_t i;

	for (i = 0; i < plugins->n_rules; i++) {
		rule = &plugins->rules[i];
		if (stop_rule_set_add(set, rule->stopper, rule->options, &env,
			rule->veto, &why) == 0)
			continue;
		stop_rule_set_free(set);
		return plugin_err(&study->stopping[i], e, why.text);
	}
	*out = set;
	return 0;
}

bool
plugins_strategy_continues(const char *name)
{
	const struct strategy *strategy = strategy_find(name);

	return strategy != NULL && strategy->continues;
}
