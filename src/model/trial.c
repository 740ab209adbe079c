/* The life cycle of a trial as a table of state transitions. */

#include <string.h>

#include "src/model/trial.h"

/* All transitions of a trial.  A pair that is not here is a bug. */
static const struct move {
	enum trial_state from;
	enum trial_event on;
	enum trial_state to;
} moves[] = {
	{ TRIAL_WAITING, TRIAL_EV_PLACE, TRIAL_STARTING },
	{ TRIAL_WAITING, TRIAL_EV_CANCELLED, TRIAL_CANCELLED },
	{ TRIAL_WAITING, TRIAL_EV_STOPPED, TRIAL_STOPPED },
	{ TRIAL_WAITING, TRIAL_EV_REUSE, TRIAL_COMPLETED },
	{ TRIAL_STARTING, TRIAL_EV_UP, TRIAL_RUNNING },
	{ TRIAL_STARTING, TRIAL_EV_STOP, TRIAL_STOPPING },
	{ TRIAL_STARTING, TRIAL_EV_COMPLETE, TRIAL_COMPLETED },
	{ TRIAL_STARTING, TRIAL_EV_FAIL, TRIAL_FAILED },
	{ TRIAL_STARTING, TRIAL_EV_RETRY, TRIAL_WAITING },
	{ TRIAL_STARTING, TRIAL_EV_STOPPED, TRIAL_STOPPED },
	{ TRIAL_STARTING, TRIAL_EV_CANCELLED, TRIAL_CANCELLED },
	{ TRIAL_RUNNING, TRIAL_EV_STOP, TRIAL_STOPPING },
	{ TRIAL_RUNNING, TRIAL_EV_COMPLETE, TRIAL_COMPLETED },
	{ TRIAL_RUNNING, TRIAL_EV_FAIL, TRIAL_FAILED },
	{ TRIAL_RUNNING, TRIAL_EV_RETRY, TRIAL_WAITING },
	{ TRIAL_RUNNING, TRIAL_EV_STOPPED, TRIAL_STOPPED },
	{ TRIAL_RUNNING, TRIAL_EV_CANCELLED, TRIAL_CANCELLED },
	{ TRIAL_STOPPING, TRIAL_EV_STOPPED, TRIAL_STOPPED },
	{ TRIAL_STOPPING, TRIAL_EV_CANCELLED, TRIAL_CANCELLED },
	{ TRIAL_STOPPING, TRIAL_EV_COMPLETE, TRIAL_COMPLETED },
	{ TRIAL_STOPPING, TRIAL_EV_FAIL, TRIAL_FAILED },
	{ TRIAL_STOPPING, TRIAL_EV_RETRY, TRIAL_WAITING },
	{ TRIAL_STOPPED, TRIAL_EV_RESUME, TRIAL_WAITING },
	{ TRIAL_FAILED, TRIAL_EV_RESUME, TRIAL_WAITING },
	{ TRIAL_CANCELLED, TRIAL_EV_RESUME, TRIAL_WAITING },
};

static const char *const state_names[TRIAL_STATES] = {
	[TRIAL_WAITING] = "waiting",
	[TRIAL_STARTING] = "starting",
	[TRIAL_RUNNING] = "running",
	[TRIAL_STOPPING] = "stopping",
	[TRIAL_COMPLETED] = "completed",
	[TRIAL_STOPPED] = "stopped",
	[TRIAL_FAILED] = "failed",
	[TRIAL_CANCELLED] = "cancelled",
};

static const char *const event_names[TRIAL_EVENTS] = {
	[TRIAL_EV_PLACE] = "place",
	[TRIAL_EV_UP] = "up",
	[TRIAL_EV_STOP] = "stop",
	[TRIAL_EV_COMPLETE] = "complete",
	[TRIAL_EV_FAIL] = "fail",
	[TRIAL_EV_RETRY] = "retry",
	[TRIAL_EV_STOPPED] = "stopped",
	[TRIAL_EV_CANCELLED] = "cancelled",
	[TRIAL_EV_REUSE] = "reuse",
	[TRIAL_EV_RESUME] = "resume",
};

static const struct end_row {
	const char *name;
	enum retry_policy retry;
} ends[END_CLASSES] = {
	[END_NONE] = { "none", RETRY_NEVER },
	[END_OK] = { "ok", RETRY_NEVER },
	[END_STOPPED] = { "stopped", RETRY_NEVER },
	[END_ERROR] = { "error", RETRY_COUNTED },
	[END_TIMEOUT] = { "timeout", RETRY_NEVER },
	[END_OOM] = { "oom", RETRY_ALONE },
	[END_DIVERGED] = { "diverged", RETRY_NEVER },
	[END_NO_REPORT] = { "no-report", RETRY_NEVER },
	[END_LOST] = { "lost", RETRY_FREE },
	[END_SPOT] = { "spot", RETRY_FREE },
	[END_CAPACITY] = { "capacity", RETRY_FREE },
	[END_QUOTA] = { "quota", RETRY_FREE },
	[END_USER] = { "user", RETRY_NEVER },
};

static const char *const cause_names[STOP_CAUSES] = {
	[STOP_NONE] = "none",
	[STOP_RULE] = "rule",
	[STOP_DIVERGED] = "diverged",
	[STOP_USER] = "user",
	[STOP_LIMIT] = "limit",
	[STOP_SHUTDOWN] = "shutdown",
};

static const char *const source_names[TRIAL_SOURCES] = {
	[SOURCE_STRATEGY] = "strategy",
	[SOURCE_ENQUEUE] = "enqueue",
	[SOURCE_DEFAULT] = "default",
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const char *
trial_state_name(enum trial_state s)
{
	return s < TRIAL_STATES ? state_names[s] : "?";
}

const char *
trial_event_name(enum trial_event ev)
{
	return ev < TRIAL_EVENTS ? event_names[ev] : "?";
}

const char *
end_class_name(enum end_class c)
{
	return c < END_CLASSES ? ends[c].name : "?";
}

const char *
stop_cause_name(enum stop_cause c)
{
	return c < STOP_CAUSES ? cause_names[c] : "?";
}

/* The index of a name in a table of n, or n. */
static size_t
name_find(const char *name, const char *const *names, size_t n)
{
	size_t i;

	for (i = 0; i < n && strcmp(name, names[i]) != 0; i++)
		continue;
	return i;
}

const char *
trial_source_name(enum trial_source source)
{
	return source < TRIAL_SOURCES ? source_names[source] : "?";
}

bool
trial_state_parse(const char *name, enum trial_state *out)
{
	size_t i = name_find(name, state_names, TRIAL_STATES);

	if (i < TRIAL_STATES)
		*out = (enum trial_state)i;
	return i < TRIAL_STATES;
}

bool
end_class_parse(const char *name, enum end_class *out)
{
	size_t i;

	for (i = 0; i < END_CLASSES; i++)
		if (strcmp(name, ends[i].name) == 0) {
			*out = (enum end_class)i;
			return true;
		}
	return false;
}

bool
stop_cause_parse(const char *name, enum stop_cause *out)
{
	size_t i = name_find(name, cause_names, STOP_CAUSES);

	if (i < STOP_CAUSES)
		*out = (enum stop_cause)i;
	return i < STOP_CAUSES;
}

bool
trial_source_parse(const char *name, enum trial_source *out)
{
	size_t i = name_find(name, source_names, TRIAL_SOURCES);

	if (i < TRIAL_SOURCES)
		*out = (enum trial_source)i;
	return i < TRIAL_SOURCES;
}

bool
trial_move(enum trial_state from, enum trial_event ev, enum trial_state *to)
{
	size_t i;

	for (i = 0; i < COUNT(moves); i++)
		if (moves[i].from == from && moves[i].on == ev) {
			*to = moves[i].to;
			return true;
		}
	return false;
}

bool
trial_state_final(enum trial_state s)
{
	return s >= TRIAL_COMPLETED;
}

bool
trial_state_placed(enum trial_state s)
{
	return s == TRIAL_STARTING || s == TRIAL_RUNNING || s == TRIAL_STOPPING;
}

bool
end_class_waits(enum end_class c)
{
	return c == END_CAPACITY || c == END_QUOTA;
}

enum retry_policy
end_class_retry(enum end_class c)
{
	return c < END_CLASSES ? ends[c].retry : RETRY_NEVER;
}
