/*
 * Sends notices about a study: messages to an SNS topic, events to an
 * EventBridge bus.  The tuner decides what is sent, and when it is retried.
 */

#ifndef HPOTUNE_NOTIFY_H
#define HPOTUNE_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "src/model/study/study.h"

struct err;
struct loop;
struct notify;

/* The result of a message: NULL = accepted, else why not. */
typedef void notify_cb(void *arg, enum study_channel, const char *why);

struct notify_env {
	struct loop *loop;
	const struct study_notify *to; /* borrowed, like all texts */
	const char *study;
	notify_cb *answer; /* called from the loop, never from notify_send */
	/* A note for the view events: rejected keys, a wrong clock. */
	void (*note)(void *arg, bool warn, const char *text);
	void *arg;
};

struct notify_message {
	const char *id; /* a UUID; the same in a retry */
	enum study_moment moment;
	const char *text; /* for people */
	const char *detail; /* the same as a JSON object */
	int64_t time_us; /* when it happened */
};

struct notify *notify_new(const struct notify_env *);
/* Free without a callback; a message in flight may still arrive. */
void notify_free(struct notify *);
/*
 * Send on a channel of env.to that has no message in flight. -1: nothing was
 * sent because the credential files, the library or the endpoint are missing.
 */
int notify_send(struct notify *, enum study_channel,
    const struct notify_message *, struct err *);

#endif /* HPOTUNE_NOTIFY_H */
