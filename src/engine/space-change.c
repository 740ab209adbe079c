/*
 * The space of a study may change while trials of the old one exist: each is
 * read again in the new space, with the defaults of parameters that are new.
 * One that does not fit is kept with its result, and no strategy sees it.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/engine/space-change.h"
#include "src/engine/warmstart/warmstart.h"
#include "src/model/param.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/trial.h"
#include "src/store/queries.h"
#include "src/store/store.h"

enum { SHOWN = 10 }; /* trials that an event lists */

/*
 * A new parameter that the trial would need a value of, or NULL.  All of them are
 * looked at, also where the value of another one is outside of its new range: that
 * still decides which are active.
 */
static const struct param *
new_without_default(struct space_change *c, const struct json *params)
{
	const struct space *space = c->study->space;
	const struct json *before = json_get(c->old, "parameters"), *j;
	const struct param *p;
	size_t i, k;

	for (i = 0; i < space->n; i++)
		c->values[i] = (struct value){ .kind = VALUE_NONE };
	for (k = 0; k < space->n; k++) {
		i = (size_t)space->order[k];
		p = &space->params[i];
		if (!space_active(space, i, c->values))
			continue;
		if ((j = json_get(params, p->name)) != NULL)
			param_value_read(&c->values[i], j);
		else if (p->type == PARAM_FIXED)
			c->values[i] = p->values[0];
		else if (p->has_default)
			c->values[i] = p->def;
		else if (json_get(before, p->name) == NULL)
			return p;
	}
	return NULL;
}

/* A value of a parameter that the new conditions make inactive, or NULL. */
static const char *
inactive_value(const struct space_change *c, const struct json *params)
{
	const struct space *space = c->study->space;
	size_t i;

	for (i = 0; i < space->n; i++)
		if (c->values[i].kind == VALUE_NONE &&
		    json_get(params, space->params[i].name) != NULL)
			return space->params[i].name;
	return NULL;
}

/*
 * 1: the space has the setting, which is in c->values; 0: it does not, why is a
 * clause; -1: the change is an error.
 */
static int
setting_fit(
    struct space_change *c, const struct store_trial *row, char *why, size_t n)
{
	const struct param *needs;
	const char *inactive;
	struct json_doc *doc;
	int rc = 1;

	if (json_parse(&doc, row->params, strlen(row->params), NULL, false,
		c->err) != 0)
		return -1;
	if (!warmstart_fit(
		c->study->space, json_root(doc), c->values, why, n)) {
		needs = new_without_default(c, json_root(doc));
		rc = needs == NULL
			 ? 0
			 : err_set(c->err, ERR_USAGE,
			       "%s: parameters.%s: it is new, and "
			       "trial %" PRId64
			       " had no such parameter: give it a "
			       "\"default\", the value that earlier "
			       "trials had",
			       c->study->path, needs->name, row->number);
	} else if ((inactive = inactive_value(c, json_root(doc))) != NULL) {
		(void)snprintf(why, n, "%.64s is inactive", inactive);
		rc = 0;
	}
	json_free(doc);
	return rc;
}

static struct refit *
refit_add(struct space_change *c, int64_t trial)
{
	XGROW(c->list, c->n, c->cap);
	c->list[c->n] = (struct refit){ .trial = trial };
	return &c->list[c->n++];
}

static int
space_change_on_trial(void *arg, const struct store_trial *row)
{
	struct space_change *c = arg;
	struct buf params = { 0 };
	struct refit *r;
	char why[200];
	int fits = setting_fit(c, row, why, sizeof why);

	if (fits < 0)
		return -1;
	if (fits == 0 && !trial_state_final(row->state))
		return err_set(c->err, ERR_USAGE,
		    "%s: parameters: trial %" PRId64
		    ", which is %s, has no setting of the changed space: "
		    "%s: stop it first, hpotune stop %" PRId64,
		    c->study->path, row->number, trial_state_name(row->state),
		    why, row->number);
	c->trials++;
	r = refit_add(c, row->number);
	if (fits > 0) {
		space_put_json(&params, c->study->space, c->values);
		r->params = buf_take(&params);
		return 0;
	}
	r->outside = xstrdup(why);
	if (c->outside++ < SHOWN)
		buf_printf(&c->numbers, "%s%" PRId64,
		    c->numbers.len > 0 ? ", " : "", row->number);
	return 0;
}

void
space_change_free(struct space_change *c)
{
	while (c->n > 0) {
		c->n--;
		free(c->list[c->n].params);
		free(c->list[c->n].outside);
	}
	free(c->list);
	free(c->values);
	buf_free(&c->numbers);
}

/* No trial may lose a parameter: its value would no longer be read. */
static int
removed_check(const struct space_change *c, int64_t trials)
{
	const struct json *m = json_first(json_get(c->old, "parameters"));

	for (; m != NULL && trials > 0; m = json_next(m))
		if (space_find(c->study->space, json_key(m)) < 0)
			return err_set(c->err, ERR_USAGE,
			    "%s: parameters.%s: it is missing, and the trials "
			    "of the study have it: restore it, with \"type\": "
			    "\"fixed\" if it should no longer vary",
			    c->study->path, json_key(m));
	return 0;
}

int
space_change_read(struct space_change *c, struct store *store,
    const struct study *study, const struct json *old, struct err *e)
{
	*c = (struct space_change){
		.study = study,
		.old = old,
		.values = xcalloc(study->space->n, sizeof *c->values),
		.err = e,
	};
	if (removed_check(c, store_trials_count(store)) != 0)
		return -1;
	return store_walk_trials(store, space_change_on_trial, c, e);
}

char *
space_change_text(const struct space_change *c)
{
	if (c->outside == 0)
		return NULL;
	return xasprintf("%" PRId64 " of %" PRId64
			 " trials are outside of the changed space: they stay, "
			 "with their results, and the strategy does not see "
			 "them: %s%s",
	    c->outside, c->trials, buf_str(&c->numbers),
	    c->outside > SHOWN ? ", ..." : "");
}

static void
space_change_event(
    struct store *store, const struct space_change *c, int64_t now_us)
{
	char *text = space_change_text(c);

	if (text == NULL)
		return;
	log_warn("study", "%s", text);
	(void)store_event_add(
	    store, now_us, LOG_LEVEL_WARN, "study", 0, 0, text, NULL);
	free(text);
}

void
space_change_write(
    struct store *store, const struct space_change *c, int64_t now_us)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		(void)store_trial_refit(store, c->list[i].trial,
		    c->list[i].params, c->list[i].outside, NULL);
	if (c->study->confirm.own)
		(void)store_trials_number(store, NULL);
	(void)store_space_put(store, c->study->space, NULL);
	space_change_event(store, c, now_us);
}
