/*
 * Somebody elsewhere is told of a study: a message to a topic of SNS, an event
 * to a bus of EventBridge.  Sends what it is given, on the loop; what is due,
 * and when to try again, is the tuner's to decide.
 */

#ifndef HPOTUNE_NOTIFY_H
#define HPOTUNE_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "src/model/study/study.h"

struct err;
struct loop;
struct notify;

/* The answer of a channel: NULL = it has taken the message, else why not. */
typedef void notify_cb(void *arg, enum study_channel, const char *why);

struct notify_env {
	struct loop *loop;
	const struct study_notify *to; /* borrowed, as all texts are */
	const char *study;
	notify_cb *answer; /* called from the loop, not from notify_send */
	/* Something worth an event: keys were refused, the clock is off. */
	void (*note)(void *arg, bool warn, const char *text);
	void *arg;
};

struct notify_message {
	const char *id; /* a UUID: the same whenever this one is sent again */
	enum study_moment moment;
	const char *text; /* for people */
	const char *detail; /* the same as a JSON object */
	int64_t time_us; /* when it happened */
};

struct notify *notify_new(const struct notify_env *);
/* Without a callback; what is on its way may still arrive. */
void notify_free(struct notify *);
/*
 * Send on a channel that env.to names and that awaits no answer.  -1: nothing
 * was sent, for want of keys' files, the library, or an endpoint.
 */
int notify_send(struct notify *, enum study_channel,
    const struct notify_message *, struct err *);

#endif /* HPOTUNE_NOTIFY_H */
