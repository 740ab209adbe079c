/* A study as a log directory of TensorBoard with its HParams page. */

#ifndef HPOTUNE_EXPORT_TENSORBOARD_H
#define HPOTUNE_EXPORT_TENSORBOARD_H

#include <stdbool.h>

struct err;
struct store;

/*
 * Write event files below folder, which is created: one with the parameters and
 * the objectives of the study, and trial-N/ with the parameters, the metrics and
 * the state of each trial that has begun.  replace: files with the same names are
 * replaced, each at once.  The store is in a transaction.
 */
int export_tensorboard(
    struct store *, const char *folder, bool replace, struct err *);

#endif /* HPOTUNE_EXPORT_TENSORBOARD_H */
