/*
 * Pages that follow a study: server-sent events.  All pages of a study share
 * one reader, which draws what has changed (web-follow.h).
 */

#ifndef HPOTUNE_WEB_LIVE_H
#define HPOTUNE_WEB_LIVE_H

#include <stdbool.h>

struct http_server_request;
struct loop;
struct web_live;
struct web_readers;
struct web_studies;

/* The studies and readers are borrowed. */
struct web_live *
web_live_open(struct loop *, struct web_readers *, struct web_studies *);
/* Call after the clients have been disconnected. */
void web_live_close(struct web_live *);
/*
 * Send events to a client until it disconnects.  tick: only that something has
 * changed; otherwise "part" with the sections of the study's page that have.
 * "trouble" says why the study cannot be followed for a while.  An id of no study
 * is answered by 404.
 */
void web_live_add(
    struct web_live *, const char *id, struct http_server_request *, bool tick);

#endif /* HPOTUNE_WEB_LIVE_H */
