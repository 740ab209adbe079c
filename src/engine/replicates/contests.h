/*
 * Contests: whether one setting is better than another one beyond chance.  Both
 * run on the same values of the parameter of replicates, which the search has
 * not used: what made a setting the best one by luck is not seen again.  A
 * contest is a row from its beginning; its runs are trials of its two settings,
 * with numbers beyond those of the search.  What is due, and the verdict, follow
 * from these rows alone, so that a restart comes to the same; a verdict that is
 * recorded stays.
 */

#ifndef HPOTUNE_CONTESTS_H
#define HPOTUNE_CONTESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/evidence/paired-evidence.h"

struct err;
struct replicates;
struct store;
struct value;

enum contest_verdict {
	CONTEST_OPEN,
	CONTEST_BETTER, /* the challenger is */
	CONTEST_WORSE,
	CONTEST_NOT_SHOWN, /* neither after all pairs */
	CONTEST_KEPT, /* of a proposal: it is the baseline from then on */
	CONTEST_DISCARDED,
	CONTEST_UNDECIDED, /* after all pairs */
	CONTEST_VERDICTS
};

struct contest {
	int64_t number; /* from 1 */
	bool proposal; /* see proposals.h */
	enum contest_verdict verdict;
	/* Settings, from 1; a challenger of 0 is that of params, not begun. */
	int64_t challenger, baseline;
	char *metric;
	bool maximize; /* of the metric */
	double alpha;
	size_t pairs; /* at most */
	size_t pairs_least; /* without them nothing is decided */
	size_t looks; /* pairs, from the first, that have ended */
	struct paired_evidence evidence; /* of them */
	double least; /* better by at least so much; NaN = not better */
	int64_t opened_us, ended_us; /* 0 = not */
	char *params; /* of a proposal: JSON, without that of replicates */
	char *commit; /* of a proposal: hash of what it runs, or NULL */
	char *caller; /* who proposed it, or NULL */
	char *why; /* NULL while it is open */
};

/* All files may read it; only contests.c and proposals.c write it. */
struct contests {
	struct contest *list; /* by number */
	size_t n;
	struct replicates *replicates; /* borrowed */
};

void contests_open(struct contests *, struct replicates *);
void contests_close(struct contests *);
/* Read the rows, after the trials were read. */
int contests_load(struct contests *, struct store *, struct err *);

/*
 * The setting that is confirmed: the best one that breaks no constraint; and the
 * baseline.  0 = there is none.
 */
int64_t contests_best(const struct contests *);
int64_t contests_baseline(const struct contests *);
/* The contest that confirms this setting now: open or decided; or NULL. */
const struct contest *
contests_find(const struct contests *, int64_t challenger);
/* Begin to confirm a setting, in a transaction; both have a trial. */
const struct contest *contests_begin(
    struct contests *, struct store *, int64_t challenger, int64_t now_us);

/*
 * As replicates_due, for open contests.  A setting beyond the last one is new:
 * call proposals_begun with it.
 */
bool contests_due(const struct contests *, int64_t *setting, int *replicate,
    struct value *values);
/* Whether any is open. */
bool contests_any_open(const struct contests *);
/*
 * Judge open contests where a run has ended since the last call, and write their
 * rows: f is called for each that is decided.
 */
void contests_judge(struct contests *, struct store *, int64_t now_us,
    void (*f)(void *arg, const struct contest *), void *arg);
/* Whether no open contest needs this trial, which is one of contests; why. */
bool contests_over(const struct contests *, int64_t trial, char *why, size_t n);

#endif /* HPOTUNE_CONTESTS_H */
