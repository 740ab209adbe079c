/*
 * One trial and every move it can make.  The table in trial.c is the life
 * cycle: the schema refuses what it refuses, and one test walks it.
 */

#ifndef HPOTUNE_TRIAL_H
#define HPOTUNE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Steps of reports count from 0 to this: each is whole in a double. */
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
	TRIAL_EV_PLACE, /* a slot is given to it */
	TRIAL_EV_UP, /* its process is there */
	TRIAL_EV_STOP, /* a rule, the user or a limit condemns it */
	TRIAL_EV_COMPLETE, /* ended well */
	TRIAL_EV_FAIL, /* ended badly, no further attempt */
	TRIAL_EV_RETRY, /* ended, and there will be another attempt */
	TRIAL_EV_STOPPED, /* ended after a rule's stop, or paused for good */
	TRIAL_EV_CANCELLED, /* ended after the user's stop, or never began */
	TRIAL_EV_REUSE, /* never ran: an earlier one had its setting */
	TRIAL_EVENTS
};

/* Why an attempt ended: interface.md, end_class. */
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

/* Who asked for a stop: it decides where a stopping trial ends. */
enum stop_cause {
	STOP_NONE,
	STOP_RULE, /* -> stopped; a pause -> waiting */
	STOP_DIVERGED, /* a rule, for non-finite reports -> stopped */
	STOP_USER, /* -> cancelled */
	STOP_LIMIT, /* the study ended -> cancelled */
	STOP_SHUTDOWN, /* the server was told to leave -> waiting */
	STOP_CAUSES
};

const char *trial_state_name(enum trial_state);
const char *trial_event_name(enum trial_event);
const char *end_class_name(enum end_class);
const char *stop_cause_name(enum stop_cause);
/* The enum of a name as written in the store; false when there is none. */
bool trial_state_parse(const char *, enum trial_state *);
bool end_class_parse(const char *, enum end_class *);
bool stop_cause_parse(const char *, enum stop_cause *);

/* Where event takes a trial in state from; false when the move is refused. */
bool trial_move(enum trial_state from, enum trial_event, enum trial_state *to);
/* Whether nothing will ever move it again. */
bool trial_state_final(enum trial_state);
/* Whether it holds a slot: starting, running or stopping. */
bool trial_state_placed(enum trial_state);

/* Whether the attempt never had a machine: it waits until there is one. */
bool end_class_waits(enum end_class);

/* What to do after an attempt ended badly. */
enum retry_policy {
	RETRY_NEVER,
	RETRY_COUNTED, /* uses up trial.retries */
	RETRY_FREE, /* burns nothing: not the trial's fault */
	RETRY_ALONE /* counted, later, with nothing else running */
};
enum retry_policy end_class_retry(enum end_class);

#endif /* HPOTUNE_TRIAL_H */
