/*
 * States, events and end classes of a trial.  The table in trial.c is the life
 * cycle: the schema enforces the same transitions, and one test walks them.
 */

#ifndef HPOTUNE_TRIAL_H
#define HPOTUNE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Steps of reports range from 0 to this: each is exact in a double. */
#define TRIAL_STEP_MAX (INT64_C(1) << 53)

enum trial_state {
	TRIAL_WAITING,
	TRIAL_STARTING,
	TRIAL_RUNNING,
	TRIAL_STOPPING,
	TRIAL_COMPLETED,
	TRIAL_STOPPED, /* by a rule */
	TRIAL_FAILED,
	TRIAL_CANCELLED, /* by the user, or by the end of the study */
	TRIAL_STATES
};

enum trial_event {
	TRIAL_EV_PLACE, /* it gets a slot */
	TRIAL_EV_UP, /* its process runs */
	TRIAL_EV_STOP, /* a rule, the user or a limit stops it */
	TRIAL_EV_COMPLETE, /* succeeded */
	TRIAL_EV_FAIL, /* failed, no further attempt */
	TRIAL_EV_RETRY, /* ended, and another attempt follows */
	TRIAL_EV_STOPPED, /* ended after a rule's stop, or paused and not resumed */
	TRIAL_EV_CANCELLED, /* ended after the user's stop, or never started */
	TRIAL_EV_REUSE, /* never ran: takes the result of an equal setting */
	TRIAL_EV_RESUME, /* had ended, and another attempt follows */
	TRIAL_EVENTS
};

/* Why an attempt ended; column end_class in hpotune-db(5). */
enum end_class {
	END_NONE, /* has not ended */
	END_OK,
	END_STOPPED,
	END_ERROR,
	END_TIMEOUT,
	END_OOM,
	END_DIVERGED,
	END_NO_REPORT,
	END_LOST,
	END_SPOT,
	END_CAPACITY,
	END_QUOTA,
	END_USER,
	END_CLASSES
};

/* Who requested a stop; determines the final state of a stopping trial. */
enum stop_cause {
	STOP_NONE,
	STOP_RULE, /* -> stopped; a pause -> waiting */
	STOP_DIVERGED, /* a rule, for non-finite reports -> stopped */
	STOP_USER, /* -> cancelled */
	STOP_LIMIT, /* the study ended -> cancelled */
	STOP_SHUTDOWN, /* the server shuts down -> waiting */
	STOP_CAUSES
};

/* Where a setting comes from; column source in hpotune-db(5). */
enum trial_source {
	SOURCE_STRATEGY,
	SOURCE_ENQUEUE, /* the queue, by hpotune enqueue or study.json */
	SOURCE_DEFAULT, /* the queue, from the defaults of the parameters */
	TRIAL_SOURCES
};

const char *trial_state_name(enum trial_state);
const char *trial_event_name(enum trial_event);
const char *end_class_name(enum end_class);
const char *stop_cause_name(enum stop_cause);
const char *trial_source_name(enum trial_source);
/* The enum of a name as written in the store; false when there is none. */
bool trial_state_parse(const char *, enum trial_state *);
bool end_class_parse(const char *, enum end_class *);
bool stop_cause_parse(const char *, enum stop_cause *);
bool trial_source_parse(const char *, enum trial_source *);

/*
 * The state that event leads to from state from; false when there is no such
 * transition.
 */
bool trial_move(enum trial_state from, enum trial_event, enum trial_state *to);
/* Whether the state is final. */
bool trial_state_final(enum trial_state);
/* Whether a trial in this state holds a slot: starting, running or stopping. */
bool trial_state_placed(enum trial_state);

/* Whether the attempt never had a machine: it waits until there is one. */
bool end_class_waits(enum end_class);

/* What happens after an attempt failed. */
enum retry_policy {
	RETRY_NEVER,
	RETRY_COUNTED, /* counts towards trial.retries */
	RETRY_FREE, /* does not count: not the trial's fault */
	RETRY_ALONE /* counts; later, and alone on the machine */
};
enum retry_policy end_class_retry(enum end_class);

#endif /* HPOTUNE_TRIAL_H */
