/*
 * Pages that follow a study: server-sent events.  All pages of a study share
 * one rendering, and its cost is bounded: after a round that took c ms of the
 * processor the next one starts 50 c ms later at the earliest, and a section
 * that took c ms is drawn again after 100 c ms.
 */

#ifndef HPOTUNE_WEB_LIVE_H
#define HPOTUNE_WEB_LIVE_H

#include <stdbool.h>

struct http_server_request;
struct loop;
struct web_live;
struct web_study;

struct web_live *web_live_open(struct loop *);
void web_live_close(struct web_live *);
/*
 * Send events to a client until it disconnects.  tick: only that something has
 * changed; otherwise "part" with the sections of the study's page that have.
 */
void web_live_add(struct web_live *, const struct web_study *,
    struct http_server_request *, bool tick);

#endif /* HPOTUNE_WEB_LIVE_H */
