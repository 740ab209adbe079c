/* Shared by history.c and history-curves.c only. */

#ifndef HPOTUNE_HISTORY_INTERNAL_H
#define HPOTUNE_HISTORY_INTERNAL_H

#include "src/model/history/curve.h"
#include "src/model/history/history.h"

/* Where a trial's curve is. */
enum history_form {
	HISTORY_FORM_NONE, /* no report yet */
	HISTORY_FORM_LIVE, /* at = index into live */
	HISTORY_FORM_PLAIN, /* arena: values; steps are first, first + 1, … */
	HISTORY_FORM_STRIDE, /* arena: first, stride, values */
	HISTORY_FORM_STEPS /* arena: values, steps */
};

/* One trial: 24 bytes. */
struct history_entry {
	double loss;
	uint32_t at;
	uint32_t n; /* reports, unless live */
	int32_t first; /* HISTORY_FORM_PLAIN */
	uint8_t state; /* enum trial_state */
	uint8_t form;
};

/* What history_set_parent recorded. */
struct history_origin {
	int64_t from, member;
};

/* One word of the arena. */
union word {
	double value;
	int64_t step;
};
_Static_assert(sizeof(union word) == sizeof(double), "curves are borrowed");

struct history {
	size_t dims;
	unsigned keep;
	bool maximize;
	struct history_entry *trials;
	size_t n, cap;
	size_t n_before; /* trials of other studies */
	size_t n_objectives, n_constraints;
	bool *goals; /* of the objectives: maximize; NULL = one */
	double *results; /* a row of both per trial; NULL = none */
	struct history_origin *descents; /* per trial; NULL = none */
	double *points;
	size_t points_cap; /* trials */
	union word *arena;
	size_t used, arena_cap; /* words */
	size_t dead; /* words no longer used by any curve */
	struct curve_buf *live;
	uint32_t *vacant; /* indices of live that are free */
	size_t n_live, live_cap, n_vacant;
	int64_t best;
	bool replaced;
	double old;
};

/* history.c */
struct history_entry *history_entry(const struct history *, int64_t trial);

/* history-curves.c */
/* Pack a live curve into the arena. */
void history_curve_freeze(struct history *, struct history_entry *);
/* Unpack a finished curve: its trial reports again, or is retried. */
struct curve_buf *history_curve_thaw(struct history *, struct history_entry *);
void history_curves_free(struct history *);

#endif /* HPOTUNE_HISTORY_INTERNAL_H */
