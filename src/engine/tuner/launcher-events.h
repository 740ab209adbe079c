/* Records the events of launchers. */

#ifndef HPOTUNE_LAUNCHER_EVENTS_H
#define HPOTUNE_LAUNCHER_EVENTS_H

#include "trials/launcher.h"

struct live_trial;
struct tuner;

launch_cb tuner_on_event;

#endif /* HPOTUNE_LAUNCHER_EVENTS_H */
