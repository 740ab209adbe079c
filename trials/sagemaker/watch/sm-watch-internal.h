/* Declarations shared by the watch files. */

#ifndef HPOTUNE_SM_WATCH_INTERNAL_H
#define HPOTUNE_SM_WATCH_INTERNAL_H

#include <stddef.h>

#include "trials/aws/aws.h"
#include "trials/sagemaker/watch/sm-watch.h"

struct buf;
struct json_writer;
struct sm_watch_eventbridge; /* Write "Dimensions" with one of them. */
void sm_watch_put_dimension(
    struct json_writer *, const char *name, const char *value);

/* sm-watch-eventbridge.c */
struct sm_watch_call;

/* One removal of resources, and its callback. */
struct sm_watch_removal {
	struct sm_watch *watch;
	bool quiet; /* send no notes */
	void (*done)(void *arg);
	void *arg;
};

struct sm_watch {
	struct sm_watch_env env; /* texts are copies */
	struct sm_watch_call *calls; /* in flight */
	struct sm_watch_eventbridge *events; /* or NULL */
	struct loop_timer *publish; /* or NULL */
	bool publish_noted, alarm_noted;
	double best; /* best objective; NaN = none */
	double cost, billable_s; /* of ended jobs */
	int running, ended;
	struct sm_watch_removal events_removal, alarm_removal;
};

/* json is NULL if the call failed (a note was sent). */
typedef void sm_watch_cb(void *arg, const struct json *);
/*
 * Send a request; a failure is noted as "what: why", once if noted is given.
 * then may be NULL.
 */
void sm_watch_ask(struct sm_watch *, enum aws_service, const char *operation,
    const struct buf *body, const char *what, bool *noted, sm_watch_cb *then,
    void *arg);

/* Write "Dimensions" with one of them. */
void sm_watch_put_dimension(
    struct json_writer *, const char *name, const char *value);

/* sm-watch-eventbridge.c */
struct sm_watch_eventbridge *sm_watch_eventbridge_new(struct sm_watch *);
void sm_watch_eventbridge_free(struct sm_watch_eventbridge *);
/* Remove rule and queue; done is called when all answers have come. */
void sm_watch_eventbridge_remove(
    struct sm_watch *, void (*done)(void *arg), void *arg);

#endif /* HPOTUNE_SM_WATCH_INTERNAL_H */
