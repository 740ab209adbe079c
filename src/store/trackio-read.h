/* Reads the runs of a project of Trackio as one JSON document. */

#ifndef HPOTUNE_TRACKIO_READ_H
#define HPOTUNE_TRACKIO_READ_H

struct buf;
struct err;

/*
 * Append { "metrics": names of all that were reported, "runs": [{ "name",
 * "config": { "lr": 0.1 }, "step": of the last report of the metric, "value":
 * that report, a number, "NaN" or "Infinity", or null }, …] } of the SQLite file
 * of a project, in the order in which the runs began.  metric may be NULL.
 */
int
trackio_read(struct buf *, const char *path, const char *metric, struct err *);

#endif /* HPOTUNE_TRACKIO_READ_H */
