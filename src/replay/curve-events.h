/* Curves of TensorBoard event files. */

#ifndef HPOTUNE_CURVE_EVENTS_H
#define HPOTUNE_CURVE_EVENTS_H

struct curve_file;
struct err;

/*
 * Fill an empty one from a folder of TensorBoard event files; on -1 the caller
 * frees it.
 */
int curve_events_read(
    struct curve_file *, const char *folder, const char *metric, struct err *);

#endif /* HPOTUNE_CURVE_EVENTS_H */
