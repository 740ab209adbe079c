/* hpotune replay --chart: which trials of a study a rule stops, as bars. */

#ifndef HPOTUNE_REPLAY_CHART_H
#define HPOTUNE_REPLAY_CHART_H

struct buf;
struct cli;
struct replay_chart;

/*
 * Append a heading and a bar for each of the best trials: the reports that are
 * run, those of a second look, and those that are not run.
 */
void replay_chart_put(struct buf *, const struct replay_chart *,
    const char *rule, const struct cli *);

#endif /* HPOTUNE_REPLAY_CHART_H */
