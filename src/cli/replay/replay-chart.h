/* hpotune replay --chart: which trials of a study a rule stops, as bars. */

#ifndef HPOTUNE_REPLAY_CHART_H
#define HPOTUNE_REPLAY_CHART_H

#include <stddef.h>

struct buf;
struct cli;
struct replay_chart;
struct replay_charts;

/*
 * Append what became of the best trial of every study, a line for each of the
 * n rules (texts) and file; then, where charts have the trials of a study, a
 * bar for each of the best ones: the reports that are run, those of a second
 * look, and those that are not run.
 */
void replay_chart_put(struct buf *, const struct replay_charts *,
    const char *const *rules, size_t n, const struct cli *);
/* The marks of what becomes of a best trial, by enum replay_fate. */
extern const char *const replay_chart_utf8[];
/* The mark of each study, and how many more there are; free it. */
char *replay_chart_fates(const struct replay_chart *, const char *const *marks);

#endif /* HPOTUNE_REPLAY_CHART_H */
