/*
 * The status of a study: counts, best, running trials with their curves beside
 * the median, savings.  The same screen is used by "start" on a terminal,
 * "status" and "watch".  Reads views; changes nothing.
 */

#ifndef HPOTUNE_STATUS_H
#define HPOTUNE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;
struct json_writer;
struct store;
struct store_study;

/*
 * Append the screen, lines ended by newlines. width is the terminal's, 0 = no
 * limit.  A long list of running trials is cut.
 */
int status_render(
    struct buf *out, struct store *, int width, bool colour, struct err *);
/* The same as the members of a JSON object, which the caller has opened. */
int status_json(struct json_writer *, struct store *, struct err *);
/* What hpotune mcp shows of them: study, best, front, doubts, blocked. */
int status_json_brief(struct json_writer *, struct store *, struct err *);
/* "34 % of the steps (1234 of 3630), about 12m"; empty when none was saved. */
int status_put_savings(struct buf *out, struct store *, struct err *);
/*
 * "median would have stopped 3 of the 5 best completed trials", with what
 * follows from it; empty when none of them has a report that could be judged.
 */
int status_put_hindsight(struct buf *out, struct store *, struct err *);
/*
 * "short suits these curves best: it saves 30 to 40 % and …", of a study that has
 * ended, by its completed trials; empty where these are few, no picture of all
 * trials, or long.  turn: NULL, or called with arg while it is calculated.
 */
int status_put_presets(struct buf *out, struct store *, void (*turn)(void *arg),
    void *arg, struct err *);
/*
 * Whether the curves are so long that hindsight, which reads them, takes more time
 * than the rest of a status: 1, 0, or -1.
 */
int status_hindsight_long(struct store *, struct err *);
/*
 * Pass each doubt about what the study measures (study-doubts.h), the oldest
 * first: a sentence, with the trial that shows it.
 */
typedef void status_doubt(void *arg, const char *text);
int status_doubts(struct store *, status_doubt *, void *arg, struct err *);
/*
 * "2 stopped trials were resumed, for 28 of 41 steps; trial 7 is the best now";
 * empty when there was no second look.
 */
int status_put_looks(struct buf *out, struct store *store, struct err *e);
/*
 * "$3.20, at most $12.00 with what runs, of $50.00": limit 0 = none; empty when
 * nothing has a cost.
 */
int
status_put_costs(struct buf *out, struct store *, double limit, struct err *);
/*
 * "likely $34.20: …" (likely-cost.h) with the limits of the last run; empty when
 * it is not known.
 */
int status_put_likely(
    struct buf *out, struct store *, const struct store_study *, struct err *);
/* "3.4 GPU hours, 1.2 kWh" of ended attempts; empty when no GPU was used. */
int status_put_usage(struct buf *out, struct store *, struct err *);
/*
 * What starting costs a trial of Python on this machine, and what warm starts save
 * or would save, as its attempts have shown; empty when it cannot be told, or is
 * little.
 */
int status_put_start(struct buf *out, struct store *, struct err *);
/*
 * The GPUs of the study, one line each; when there are many, the number in each
 * state, and lines for those that trials cannot use (bad).
 */
typedef void status_gpu_line(void *arg, bool bad, const char *text);
int status_gpus(struct store *, status_gpu_line *, void *arg, struct err *);

/*
 * Why no trial can be started on a backend, from the latest event about it; ""
 * when trials can be started.
 */
int status_put_blocked(struct buf *out, struct store *, struct err *);

#endif /* HPOTUNE_STATUS_H */
