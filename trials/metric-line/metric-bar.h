/*
 * Progress bars that overwrite themselves: which of their states are reports.
 * Private to this folder.
 *
 * A bar of steps, 3/20 loss=0.5, 4/20 loss=0.4: of the states with one step the last
 * counts, and it is complete when another step is shown or the bar ends.  Where
 * values were there at the first step already, they belong to the work that is going on, as
 * tqdm shows them before it counts: a state is complete when the count has followed,
 * and if the count lags, each state is one step.
 */

#ifndef HPOTUNE_METRIC_BAR_H
#define HPOTUNE_METRIC_BAR_H

#include <stdbool.h>
#include <stdint.h>

#include "trials/metric-line/metric-line.h"

/* The bars of one log, and reports of them that wait. */
struct metric_bars;
struct metric_bars *metric_bar_new(void);
void metric_bar_free(struct metric_bars *);
/* Whether a bar is being shown whose end is the end of its line. */
bool metric_bar_shown(const struct metric_bars *);
/*
 * A state of a bar: the values and the step of r.  ends: it is the last one.
 * Reports of it wait for metric_bar_next.
 */
void
metric_bar_put(struct metric_bars *, const struct metric_line *, bool ends);
/* A state that shows a step and no values, of a bar that patterns read. */
void metric_bar_open(struct metric_bars *, int64_t step);
/* Whether such a state would be the first one of its line. */
bool metric_bar_opens(const struct metric_bars *);
/* The line of the bars ends without a state, or the log with all. */
void metric_bar_end(struct metric_bars *, bool all);
/* The next report that waits, into r; false: there is none. */
bool metric_bar_next(struct metric_bars *, struct metric_line *r);

#endif /* HPOTUNE_METRIC_BAR_H */
