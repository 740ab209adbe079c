/*
 * Pages of studies, sent piece by piece: the first is on its way while the
 * next is drawn, and other requests are answered between two pieces.
 */

#ifndef HPOTUNE_WEB_STREAM_H
#define HPOTUNE_WEB_STREAM_H

struct err;
struct http_server_request;
struct loop;
struct web_access;
struct web_address;
struct web_streams;
struct web_study;

struct web_streams *web_streams_open(struct loop *);
void web_streams_close(struct web_streams *);
/*
 * Answer with the page of the study; takes the contents of address.  -1: it
 * cannot be read; the request has no answer then.
 */
int web_stream_study(struct web_streams *, const struct web_access *,
    const struct web_study *, struct web_address *,
    struct http_server_request *, struct err *);

#endif /* HPOTUNE_WEB_STREAM_H */
