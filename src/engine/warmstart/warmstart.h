/*
 * warm_start: the trials of other studies that this one learns from.  They are
 * read once, at the first start, and stored in our own database.
 */

#ifndef HPOTUNE_WARMSTART_H
#define HPOTUNE_WARMSTART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct json;
struct space;
struct store;
struct study;
struct value;

/* The trials of one source, by what happened to them. */
struct warmstart_source {
	char *name; /* as in study.json */
	int64_t trials; /* in total */
	int64_t taken;
	int64_t running; /* not finished, or cancelled */
	int64_t blameless; /* failed by a fault of the machine */
	int64_t empty; /* without a result */
	int64_t unfit; /* outside this study's space */
	char why[160]; /* why the first of these does not fit */
	char strange[80]; /* a parameter that this study does not have, or "" */
	char note[160]; /* further information on a tuning job, or "" */
};

struct warmstart_trial;

struct warmstart {
	struct warmstart_source *sources;
	size_t n_sources;
	struct warmstart_trial *trials; /* oldest first */
	size_t n, cap;
};

/*
 * Read the sources listed in study.json. own is the study's own database, which
 * need not exist.  An error names its position in study.json.
 */
int warmstart_read(
    struct warmstart *, const struct study *, const char *own, struct err *);
void warmstart_free(struct warmstart *);
/* Inside a transaction: record the trials, and events about them. */
void warmstart_put(struct store *, const struct warmstart *, int64_t now_us);
/* Append "34 of 40 trials of old.db; left out: …". */
void warmstart_put_source(struct buf *, const struct warmstart_source *);

/*
 * A setting of another study, or of another space, in this space, which gives
 * missing parameters their defaults; values has one for each parameter.  False
 * when it does not fit, with the reason in why (n bytes).
 */
bool warmstart_fit(const struct space *, const struct json *params,
    struct value *values, char *why, size_t n);

#endif /* HPOTUNE_WARMSTART_H */
