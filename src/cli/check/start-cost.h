/*
 * What a start costs a trial of Python before it begins: the time in which it
 * imports modules, measured by a process that imports them and does nothing else.
 */

#ifndef HPOTUNE_START_COST_H
#define HPOTUNE_START_COST_H

#include <stdint.h>

#include "src/base/mem.h"

struct json_writer;
struct study;

struct start_cost {
	int64_t modules; /* -1: not measured */
	double seconds, processor;
	char why[200]; /* no trial can start warm; "": it can */
};

/*
 * Measure it on this machine, for some seconds at most a minute: the modules that
 * a list names, those that the last trial of the state directory has shown, or
 * those that the program names.  dir: a folder for files.
 */
void start_cost_measure(struct start_cost *, const struct study *,
    const char *state_dir, const char *dir);
/* A line: what it is, and what warm starts save of it.  Nothing when not measured. */
void
start_cost_put(struct buf *, const struct start_cost *, const struct study *);
void start_cost_put_json(struct json_writer *, const struct start_cost *);

#endif /* HPOTUNE_START_COST_H */
