/* What changed in study.json since the last start, and the record of it. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/engine/space-change.h"
#include "src/engine/study-change.h"
#include "src/engine/study-difference.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/plugins/plugins.h"
#include "src/store/queries.h"
#include "src/store/store.h"

enum { VALUE_MAX = 2000 }; /* bytes of a value in the record */

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
			       json_get(json_root(f->now), "parameters")) ||
			   (json_get(json_root(f->old), "confirm") == NULL &&
			       json_get(json_root(f->now), "confirm") != NULL);
	buf_free(&mine);
	return rc;
}

/* Check all; c holds the trials when the space differs, and is freed anyway. */
static int
change_read(struct space_change *c, struct fixed_parts *f, struct store *store,
    const struct store_study *recorded, const struct study *study,
    struct err *e)
{
	*c = (struct space_change){ 0 };
	if (study_difference_check(recorded->fixed, recorded->json, study, e) !=
		0 ||
	    seed_check(recorded, study, e) != 0 ||
	    fixed_parts_read(f, recorded, study, e) != 0 ||
	    population_check(json_root(f->old), study, f->space, e) != 0)
		return -1;
	if (!f->space)
		return 0;
	return space_change_read(c, store, study, json_root(f->old), e);
}

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
study_change_put_trial(struct buf *b, const struct json *trial)
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
		study_change_put_trial(&text, now);
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
	struct strv *texts; /* they are listed here and not recorded, or NULL */
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
		study_change_put_trial(&b, j);
	else
		json_write(&b, j);
	if (b.len > VALUE_MAX)
		b.data[text_fit(buf_str(&b), VALUE_MAX)] = '\0';
	return buf_take(&b);
}

/* "limits.trials: 6, was 4" */
static void
change_text_add(struct strv *texts, const struct store_change *c)
{
	const char *effect = without_effect(c->key);

	strv_add(texts,
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

	if (r->texts != NULL)
		change_text_add(r->texts, &change);
	else
		(void)store_change_add(r->store, &change, NULL);
	free(before);
	free(after);
}

static void difference_put(struct record *r, const char *path,
    const struct json *old, const struct json *now);

static void
study_change_member_put(struct record *r, const char *path, const char *key,
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
	if (!study_difference_is_object(old) ||
	    !study_difference_is_object(now)) {
		if (old != NULL || now != NULL)
			change_put(r, path, old, now);
		return;
	}
	for (m = json_first(now); m != NULL; m = json_next(m))
		study_change_member_put(r, path, json_key(m), old, now);
	for (m = json_first(old); m != NULL; m = json_next(m))
		if (json_get(now, json_key(m)) == NULL)
			study_change_member_put(r, path, json_key(m), old, now);
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
	for (m = json_first(now); m != NULL && r->texts == NULL;
	     m = json_next(m)) {
		was = json_get(before, json_key(m));
		if (was == NULL || !json_same(was, m))
			event_put(r->store, json_key(m), m, r->now_us);
	}
	for (m = json_first(before); m != NULL && r->texts == NULL;
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
	struct space_change c;
	struct record r = {
		.store = store,
		.outside = -1,
		.now_us = now_us,
	};
	int rc = change_read(&c, &f, store, recorded, study, e);

	if (rc == 0) {
		r.trials = store_trials_count(store);
		r.outside = f.space ? c.outside : -1;
		rc = differences_record(&r, recorded->json, study, e);
	}
	if (rc == 0 && f.space)
		space_change_write(store, &c, now_us);
	space_change_free(&c);
	fixed_parts_free(&f);
	return rc;
}

int
study_change_check(struct store *store, const struct store_study *recorded,
    const struct study *study, struct strv *texts, struct err *e)
{
	struct fixed_parts f = { 0 };
	struct space_change c;
	struct record r = { .store = store, .texts = texts };
	int rc = change_read(&c, &f, store, recorded, study, e);
	char *outside;

	if (rc == 0 && texts != NULL)
		rc = differences_record(&r, recorded->json, study, e);
	outside = rc == 0 && texts != NULL ? space_change_text(&c) : NULL;
	if (outside != NULL)
		strv_add(texts, outside);
	space_change_free(&c);
	fixed_parts_free(&f);
	return rc;
}
