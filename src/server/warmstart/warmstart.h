/*
 * warm_start: the trials of other studies that this one learns from.  They are
 * read once, at the first start, and kept in our own database.
 */

#ifndef HPOTUNE_WARMSTART_H
#define HPOTUNE_WARMSTART_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct store;
struct study;

/* What became of the trials of one database. */
struct warmstart_source {
	char *name; /* as in study.json */
	int64_t trials; /* it has */
	int64_t taken;
	int64_t running; /* not over, or cancelled */
	int64_t blameless; /* failed by no fault of theirs */
	int64_t empty; /* without a result */
	int64_t unfit; /* outside this study's space */
	char why[160]; /* what the first of these has */
	char strange[80]; /* a parameter that is not one of ours, or "" */
	char note[160]; /* what else is to be known of a tuning job, or "" */
};

struct warmstart_trial;

struct warmstart {
	struct warmstart_source *sources;
	size_t n_sources;
	struct warmstart_trial *trials; /* oldest first */
	size_t n, cap;
};

/*
 * Read what study.json lists.  own is the study's own database, which need
 * not be there.  An error stands at its place in study.json.
 */
int warmstart_read(
    struct warmstart *, const struct study *, const char *own, struct err *);
void warmstart_free(struct warmstart *);
/* Inside a transaction: keep them, and say so in events. */
int warmstart_put(
    struct store *, const struct warmstart *, int64_t now_us, struct err *);
/* "34 of 40 trials of old.db; left out: …" */
void warmstart_put_source(struct buf *, const struct warmstart_source *);

#endif /* HPOTUNE_WARMSTART_H */
