/*
 * What changed in study.json since the last start.  The space of a study may
 * change while trials of the old one exist: each is read again in the new space,
 * with the defaults of parameters that are new.  One that does not fit is kept
 * with its result, and no strategy sees it.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/trial.h"
#include "src/server/plugins/plugins.h"
#include "src/server/study-change.h"
#include "src/server/study-row.h"
#include "src/server/warmstart/warmstart.h"
#include "src/store/store.h"

enum {
	VALUE_MAX = 2000, /* bytes of a value in the record */
	SHOWN = 10 /* trials that an event lists */
};

/* ---- the space ----------------------------------------------------------- */

/* A trial whose row changes. */
struct refit {
	int64_t trial;
	char *params; /* in the new space; NULL = as it is */
	char *outside; /* why it is none of the space; NULL = it is one */
};

struct change {
	const struct study *study;
	const struct json *old; /* the recorded fixed part */
	struct value *values;
	struct refit *list;
	size_t n, cap;
	int64_t trials, outside;
	struct buf numbers; /* of the first that are outside */
	struct err *err;
};

/* A new parameter that the trial would need a value of, or NULL. */
static const struct param *
new_without_default(const struct change *c, const struct json *params)
{
	const struct space *space = c->study->space;
	const struct json *before = json_get(c->old, "parameters");
	const struct param *p;
	size_t i, k;

	for (k = 0; k < space->n; k++) {
		i = (size_t)space->order[k];
		p = &space->params[i];
		if (space_active(space, i, c->values) &&
		    c->values[i].kind == VALUE_NONE)
			return json_get(before, p->name) == NULL &&
				       json_get(params, p->name) == NULL
				   ? p
				   : NULL;
	}
	return NULL;
}

/* A value of a parameter that the new conditions make inactive, or NULL. */
static const char *
inactive_value(const struct change *c, const struct json *params)
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
    struct change *c, const struct store_trial *row, char *why, size_t n)
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
refit_add(struct change *c, int64_t trial)
{
	XGROW(c->list, c->n, c->cap);
	c->list[c->n] = (struct refit){ .trial = trial };
	return &c->list[c->n++];
}

static int
on_trial(void *arg, const struct store_trial *row)
{
	struct change *c = arg;
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

static void
change_free(struct change *c)
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
removed_check(const struct change *c, int64_t trials)
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

static int64_t
trials_count(struct store *store)
{
	struct store_rows *rows;
	int64_t n = 0;

	if (store_rows_open(
		&rows, store, "SELECT count(*) FROM t_trial", NULL, NULL) != 0)
		return 0;
	if (store_rows_next(rows, NULL) == 1)
		n = store_rows_int(rows, 0);
	store_rows_close(rows);
	return n;
}

/* Read all trials in the new space; the caller frees c. */
static int
space_change(struct change *c, struct store *store, const struct study *study,
    const struct json *old, struct err *e)
{
	*c = (struct change){
		.study = study,
		.old = old,
		.values = xcalloc(study->space->n, sizeof *c->values),
		.err = e,
	};
	if (removed_check(c, trials_count(store)) != 0)
		return -1;
	return store_walk_trials(store, on_trial, c, e);
}

/* NULL: all trials are in the space. */
static char *
outside_text(const struct change *c)
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
outside_event(struct store *store, const struct change *c, int64_t now_us)
{
	char *text = outside_text(c);

	if (text == NULL)
		return;
	log_warn("study", "%s", text);
	(void)store_event_add(
	    store, now_us, LOG_LEVEL_WARN, "study", 0, 0, text, NULL);
	free(text);
}

static void
space_write(struct store *store, const struct change *c, int64_t now_us)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		(void)store_trial_refit(store, c->list[i].trial,
		    c->list[i].params, c->list[i].outside, NULL);
	(void)store_space_put(store, c->study->space, NULL);
	outside_event(store, c, now_us);
}

/* ---- what may never change: the first key that differs ------------------ */

enum { SHOWN_MOST = 60 }; /* columns of a value in the error */

/* One side: the fixed part, and the file that it was read from. */
struct side {
	const struct json *fixed, *file; /* NULL = not given there */
};

static bool
is_object(const struct json *j)
{
	return j != NULL && json_type(j) == JSON_OBJECT;
}

static const struct json *
member(const struct json *j, const char *key)
{
	return json_get(j, key);
}

/* Keys of the fixed part that the next sections look at. */
static bool
may_change(const char *key)
{
	static const char *const keys[] = { "parameters", "strategy", "seed",
		"target", NULL };
	size_t i;

	for (i = 0; keys[i] != NULL; i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

/* The first key in which two objects differ and may not, or NULL. */
static const char *
differing_key(const struct json *a, const struct json *b)
{
	const struct json *m, *other;

	for (m = json_first(a); m != NULL; m = json_next(m)) {
		other = json_get(b, json_key(m));
		if (may_change(json_key(m)) ||
		    (other != NULL && json_same(other, m)))
			continue;
		if (!is_object(m) || !is_object(other) ||
		    differing_key(m, other) != NULL)
			return json_key(m);
	}
	for (m = json_first(b); m != NULL; m = json_next(m))
		if (!may_change(json_key(m)) &&
		    json_get(a, json_key(m)) == NULL)
			return json_key(m);
	return NULL;
}

static struct side
side_member(const struct side *s, const char *key)
{
	return (struct side){ .fixed = member(s->fixed, key),
		.file = member(s->file, key) };
}

/* As written in the file; in canonical form where the file's differs. */
static void
side_put(struct buf *out, const struct side *s)
{
	const struct json *j = s->file;
	struct buf text = { 0 };
	size_t n;

	if (j == NULL) {
		buf_puts(out, "not given");
		return;
	}
	if (is_object(j) && s->fixed != NULL && !is_object(s->fixed))
		j = s->fixed;
	json_write(&text, j);
	n = text_fit(buf_str(&text), SHOWN_MOST);
	buf_add(out, buf_str(&text), n);
	if (n < text.len)
		buf_puts(out, "...");
	buf_free(&text);
}

/*
 * Append "parameters.lr.max: 0.1 in the study's database, 0.2 in study.json".
 */
static void
difference_text(struct buf *out, struct side old, struct side now)
{
	const char *key = differing_key(old.fixed, now.fixed);
	const char *parent = "";

	while (key != NULL) {
		buf_printf(out, "%s%s", parent, key);
		parent = ".";
		old = side_member(&old, key);
		now = side_member(&now, key);
		key = NULL;
		if (is_object(old.fixed) && is_object(now.fixed) &&
		    is_object(old.file) && is_object(now.file))
			key = differing_key(old.fixed, now.fixed);
	}
	buf_puts(out, ": ");
	side_put(out, &old);
	buf_puts(out, " in the study's database, ");
	side_put(out, &now);
	buf_puts(out, " in study.json");
}

/*
 * Whether what may never change is the same in fixed (study_put_fixed), with the
 * study.json given as json, and this study: an error (ERR_USAGE) names the first
 * key that differs and both values.
 */
static int
study_compare(const char *fixed, const char *json, const struct study *study,
    struct err *e)
{
	struct json_doc *old = NULL, *file = NULL, *now = NULL;
	struct buf text = { 0 }, mine = { 0 };
	int rc;

	study_put_fixed(&mine, study);
	if (strcmp(fixed, buf_str(&mine)) == 0) {
		buf_free(&mine);
		return 0;
	}
	rc = json_parse(&old, fixed, strlen(fixed), NULL, false, e);
	if (rc == 0)
		rc = json_parse(&file, json, strlen(json), NULL, false, e);
	if (rc == 0)
		rc = json_parse(&now, mine.data, mine.len, NULL, false, e);
	if (rc == 0 && differing_key(json_root(old), json_root(now)) != NULL) {
		difference_text(&text,
		    (struct side){ json_root(old), json_root(file) },
		    (struct side){ json_root(now), json_root(study->doc) });
		rc = err_set(e, ERR_USAGE,
		    "%s: %s: it may not change once there are trials: "
		    "restore the old value, or give the changed study "
		    "another name",
		    study->path, buf_str(&text));
	} else if (rc != 0)
		(void)err_add(e, "%s.db: the study", study->name);
	json_free(old);
	json_free(file);
	json_free(now);
	buf_free(&text);
	buf_free(&mine);
	return rc;
}

/* ---- what may change ----------------------------------------------------- */

static const char *
strategy_name(const struct json *fixed)
{
	const char *name = json_string(json_get(fixed, "strategy"));

	return name != NULL ? name : "";
}

/* The trials of a population continue from each other. */
static int
population_check(const struct json *old, const struct study *study, bool space,
    struct err *e)
{
	const char *before = strategy_name(old);
	bool other = strcmp(before, study->strategy.name) != 0;

	if ((!other && !space) ||
	    (!plugins_strategy_continues(before) &&
		!plugins_strategy_continues(study->strategy.name)))
		return 0;
	return err_set(e, ERR_USAGE,
	    "%s: %s: the trials of a population go on from each other, so that "
	    "it may not change with the strategies %s and %s: restore it, or "
	    "give the changed study another name",
	    study->path, other ? "strategy" : "parameters", before,
	    study->strategy.name);
}

/* The names of jobs come from it.  One that is not given is the recorded one. */
static int
seed_check(const struct store_study *recorded, const struct study *study,
    struct err *e)
{
	if (!study->has_seed || study->seed == recorded->seed)
		return 0;
	return err_set(e, ERR_USAGE,
	    "%s: strategy.seed: %" PRIu64 " in the study's database, %" PRIu64
	    " in study.json: it may not change once there are trials: restore "
	    "the old value, or give the changed study another name",
	    study->path, recorded->seed, study->seed);
}

/* The two fixed parts: as recorded, and of this study. */
struct fixed_parts {
	struct json_doc *old, *now;
	bool space; /* the parameters differ */
};

static void
fixed_parts_free(struct fixed_parts *f)
{
	json_free(f->old);
	json_free(f->now);
}

static int
fixed_parts_read(struct fixed_parts *f, const struct store_study *recorded,
    const struct study *study, struct err *e)
{
	struct buf mine = { 0 };
	int rc;

	*f = (struct fixed_parts){ 0 };
	study_put_fixed(&mine, study);
	rc = json_parse(
	    &f->old, recorded->fixed, strlen(recorded->fixed), NULL, false, e);
	if (rc == 0)
		rc = json_parse(&f->now, mine.data, mine.len, NULL, false, e);
	if (rc != 0)
		(void)err_add(e, "%s.db: the study", study->name);
	else
		f->space = !json_same(json_get(json_root(f->old), "parameters"),
		    json_get(json_root(f->now), "parameters"));
	buf_free(&mine);
	return rc;
}

/* Check all; c holds the trials when the space differs, and is freed anyway. */
static int
change_read(struct change *c, struct fixed_parts *f, struct store *store,
    const struct store_study *recorded, const struct study *study,
    struct err *e)
{
	*c = (struct change){ 0 };
	if (study_compare(recorded->fixed, recorded->json, study, e) != 0 ||
	    seed_check(recorded, study, e) != 0 ||
	    fixed_parts_read(f, recorded, study, e) != 0 ||
	    population_check(json_root(f->old), study, f->space, e) != 0)
		return -1;
	if (!f->space)
		return 0;
	return space_change(c, store, study, json_root(f->old), e);
}

/* ---- the record ---------------------------------------------------------- */

/* Variables may hold secrets: only their names are recorded. */
static void
put_env(struct buf *b, const struct json *env)
{
	const struct json *m;

	buf_putc(b, '{');
	for (m = json_first(env); m != NULL; m = json_next(m)) {
		json_put_string(b, json_key(m));
		buf_puts(b, json_next(m) != NULL ? ":…," : ":…");
	}
	buf_putc(b, '}');
}

static void
put_trial(struct buf *b, const struct json *trial)
{
	const struct json *m;

	buf_putc(b, '{');
	for (m = json_first(trial); m != NULL; m = json_next(m)) {
		json_put_string(b, json_key(m));
		buf_putc(b, ':');
		if (strcmp(json_key(m), "env") == 0)
			put_env(b, m);
		else
			json_write(b, m);
		if (json_next(m) != NULL)
			buf_putc(b, ',');
	}
	buf_putc(b, '}');
}

/* What reads the key before the first trial only. */
static const char *
without_effect(const char *key)
{
	if (strcmp(key, "warm_start") == 0)
		return "it is read at the first start only";
	if (strcmp(key, "enqueue") == 0)
		return "it is read at the first start only: hpotune enqueue "
		       "adds settings";
	return NULL;
}

/* An event for a key at the top; now NULL: it was taken out. */
static void
event_put(struct store *store, const char *key, const struct json *now,
    int64_t now_us)
{
	struct buf text = { 0 };

	buf_printf(&text, "study.json changed in %s: ", key);
	if (now == NULL)
		buf_puts(&text, "taken out");
	else if (strcmp(key, "trial") == 0)
		put_trial(&text, now);
	else
		json_write(&text, now);
	if (without_effect(key) != NULL)
		buf_printf(&text, "; %s", without_effect(key));
	log_info("study", "%s", buf_str(&text));
	(void)store_event_add(
	    store, now_us, LOG_LEVEL_INFO, "study", 0, 0, buf_str(&text), NULL);
	buf_free(&text);
}

/* The rows of view changes are written by a descent over both documents. */
struct record {
	struct store *store;
	struct strv *told; /* they are listed here and not recorded, or NULL */
	int64_t trials, outside; /* outside -1: the space is the same */
	int64_t now_us;
};

/* The value of a key as text, cut; the caller frees it.  NULL: not given. */
static char *
value_text(const char *path, const struct json *j)
{
	struct buf b = { 0 };

	if (j == NULL)
		return NULL;
	if (strncmp(path, "trial.env.", 10) == 0)
		buf_puts(&b, "…");
	else if (strcmp(path, "trial.env") == 0)
		put_env(&b, j);
	else if (strcmp(path, "trial") == 0)
		put_trial(&b, j);
	else
		json_write(&b, j);
	if (b.len > VALUE_MAX)
		b.data[text_fit(buf_str(&b), VALUE_MAX)] = '\0';
	return buf_take(&b);
}

/* "limits.trials: 6, was 4" */
static void
told_add(struct strv *told, const struct store_change *c)
{
	const char *effect = without_effect(c->key);

	strv_add(told,
	    xasprintf("%s: %s, was %s%s%s", c->key,
		c->now != NULL ? c->now : "not given",
		c->old != NULL ? c->old : "not given",
		effect != NULL ? "; " : "", effect != NULL ? effect : ""));
}

static void
change_put(struct record *r, const char *path, const struct json *old,
    const struct json *now)
{
	char *before = value_text(path, old), *after = value_text(path, now);
	bool space = strcmp(path, "parameters") == 0 ||
		     strncmp(path, "parameters.", 11) == 0;
	struct store_change change = {
		.key = path,
		.old = before,
		.now = after,
		.trials = r->trials,
		.outside = space ? r->outside : -1,
		.time_us = r->now_us,
	};

	if (r->told != NULL)
		told_add(r->told, &change);
	else
		(void)store_change_add(r->store, &change, NULL);
	free(before);
	free(after);
}

static void difference_put(struct record *r, const char *path,
    const struct json *old, const struct json *now);

static void
member_put(struct record *r, const char *path, const char *key,
    const struct json *old, const struct json *now)
{
	char *below = xasprintf("%s%s%s", path, *path != '\0' ? "." : "", key);

	difference_put(r, below, json_get(old, key), json_get(now, key));
	free(below);
}

/* Members that both have, or one; then nothing below differs twice. */
static void
difference_put(struct record *r, const char *path, const struct json *old,
    const struct json *now)
{
	const struct json *m;

	if (old != NULL && now != NULL && json_same(old, now))
		return;
	if (!is_object(old) || !is_object(now)) {
		if (old != NULL || now != NULL)
			change_put(r, path, old, now);
		return;
	}
	for (m = json_first(now); m != NULL; m = json_next(m))
		member_put(r, path, json_key(m), old, now);
	for (m = json_first(old); m != NULL; m = json_next(m))
		if (json_get(now, json_key(m)) == NULL)
			member_put(r, path, json_key(m), old, now);
}

/* Events and rows of all that differs between two texts of study.json. */
static int
differences_record(
    struct record *r, const char *old, const struct study *study, struct err *e)
{
	const struct json *now = json_root(study->doc), *before, *m, *was;
	struct json_doc *doc;

	if (json_parse(&doc, old, strlen(old), NULL, false, e) != 0)
		return -1;
	before = json_root(doc);
	difference_put(r, "", before, now);
	for (m = json_first(now); m != NULL && r->told == NULL;
	     m = json_next(m)) {
		was = json_get(before, json_key(m));
		if (was == NULL || !json_same(was, m))
			event_put(r->store, json_key(m), m, r->now_us);
	}
	for (m = json_first(before); m != NULL && r->told == NULL;
	     m = json_next(m))
		if (json_get(now, json_key(m)) == NULL)
			event_put(r->store, json_key(m), NULL, r->now_us);
	json_free(doc);
	return 0;
}

int
study_change_record(struct store *store, const struct store_study *recorded,
    const struct study *study, int64_t now_us, struct err *e)
{
	struct fixed_parts f = { 0 };
	struct change c;
	struct record r = {
		.store = store,
		.outside = -1,
		.now_us = now_us,
	};
	int rc = change_read(&c, &f, store, recorded, study, e);

	if (rc == 0) {
		r.trials = trials_count(store);
		r.outside = f.space ? c.outside : -1;
		rc = differences_record(&r, recorded->json, study, e);
	}
	if (rc == 0 && f.space)
		space_write(store, &c, now_us);
	change_free(&c);
	fixed_parts_free(&f);
	return rc;
}

int
study_change_check(struct store *store, const struct store_study *recorded,
    const struct study *study, struct strv *told, struct err *e)
{
	struct fixed_parts f = { 0 };
	struct change c;
	struct record r = { .store = store, .told = told };
	int rc = change_read(&c, &f, store, recorded, study, e);
	char *outside;

	if (rc == 0 && told != NULL)
		rc = differences_record(&r, recorded->json, study, e);
	outside = rc == 0 && told != NULL ? outside_text(&c) : NULL;
	if (outside != NULL)
		strv_add(told, outside);
	change_free(&c);
	fixed_parts_free(&f);
	return rc;
}
