/* Whether there is anything left to do, and how a study ends. */

#ifndef HPOTUNE_STUDY_END_H
#define HPOTUNE_STUDY_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tuner;

/* All files may read it; only study-end.c writes it. */
struct study_end {
	bool shutdown, shutdown_now; /* the server is to leave */
	bool over; /* a limit or the target ended it */
	bool awaits; /* … by a limit that may be raised: it continues then */
	bool failed;
	char why[640]; /* one clause */
};

/* Replicates that run or wait end when their setting has. */
void study_end_replicates(struct tuner *);
/* After all else: when the search is over, confirm the best setting; if it did. */
bool study_end_confirm(struct tuner *);
/* Decide, in a turn, whether it is over; and what may be spent. */
void study_end_check(struct tuner *);
/* The server is to leave: end what runs here. */
void study_end_stop_all(struct tuner *);
/* Update the study's row when nothing is left to do. */
void study_end_record(struct tuner *);
/* A trial begins: a study that was over is not over any more. */
void study_end_reopen(struct tuner *);
/* The study cannot continue, for the reason why. */
void study_end_failed(struct tuner *, const char *why);

#endif /* HPOTUNE_STUDY_END_H */
