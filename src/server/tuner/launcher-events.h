/* What launchers tell, recorded. */

#ifndef HPOTUNE_LAUNCHER_EVENTS_H
#define HPOTUNE_LAUNCHER_EVENTS_H

#include "trials/launcher.h"

struct live_trial;
struct tuner;

launch_cb tuner_on_event;
/*
 * The last attempt of a trial has ended, and all its reports are read: when
 * steps per second are an aim and were never reported, compute them and record
 * them as a report of its last step.
 */
void launcher_events_add_speed(struct tuner *, struct live_trial *);

#endif /* HPOTUNE_LAUNCHER_EVENTS_H */
