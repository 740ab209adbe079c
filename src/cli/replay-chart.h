/* hpotune replay --chart: which trials of a study a rule stops, as bars. */

#ifndef HPOTUNE_REPLAY_CHART_H
#define HPOTUNE_REPLAY_CHART_H

struct buf;
struct cli;
struct err;
struct replay_chart;

/*
 * Append a heading and a bar for each of the best trials: the reports that are
 * run, those of a second look, and those that are not run.
 */
void replay_chart_put(struct buf *, const struct replay_chart *,
    const char *rule, const struct cli *);
/* Write an HTML page with the curves of the study; -1 with the error. */
int replay_chart_write(const char *path, const struct replay_chart *,
    const char *rule, struct err *);

#endif /* HPOTUNE_REPLAY_CHART_H */
