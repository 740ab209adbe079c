/*
 * The list of studies, as readers have found it: one looks which studies there
 * are and which have changed, one reads those that have.  A request waits for
 * them only as long as they get on; a study that does not answer is left out for
 * fifty times of what it took, and its line says so.
 */

#ifndef HPOTUNE_WEB_LIST_H
#define HPOTUNE_WEB_LIST_H

struct http_server_request;
struct loop;
struct web_access;
struct web_address;
struct web_list;
struct web_readers;
struct web_studies;

/* All are borrowed; the list is the one that changes the studies. */
struct web_list *web_list_open(struct loop *, struct web_readers *,
    const struct web_access *, struct web_studies *);
/* Call after the clients have been disconnected. */
void web_list_close(struct web_list *);
/* Look which studies there are, so that their ids stay the same. */
void web_list_look(struct web_list *);
/* Answer with the list; takes the contents of the address. */
void web_list_answer(
    struct web_list *, struct http_server_request *, struct web_address *);

#endif /* HPOTUNE_WEB_LIST_H */
