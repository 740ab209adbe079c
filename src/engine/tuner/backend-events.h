/* Records the events of backends. */

#ifndef HPOTUNE_BACKEND_EVENTS_H
#define HPOTUNE_BACKEND_EVENTS_H

#include "trials/backend.h"

struct live_trial;
struct tuner;

launch_cb tuner_on_event;

#endif /* HPOTUNE_BACKEND_EVENTS_H */
