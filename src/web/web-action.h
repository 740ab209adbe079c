/*
 * Actions of the pages: the same commands as on the command line, run as
 * programs, so that the rules are theirs and a slow one delays no page.
 */

#ifndef HPOTUNE_WEB_ACTION_H
#define HPOTUNE_WEB_ACTION_H

struct http_server_request;
struct loop;
struct web_actions;
struct web_address;
struct web_study;

struct web_actions *web_actions_open(struct loop *);
/* Kills what still runs. */
void web_actions_close(struct web_actions *);
/*
 * Do what the form says and answer the request with what the command printed:
 * 200, or 409 when it failed, or 400 for a form that is none.  do: pause,
 * resume, stop (of trial, or of the server), enqueue (words); of a trial: retry,
 * forget, count (again), note (words) and tag (words, those after a minus sign
 * are taken away); and without a trial archive, restore and note (words), which
 * are no commands: they are for the list of studies, which hides it, shows it,
 * and has a note about it.
 */
void web_action_do(struct web_actions *, const struct web_study *,
    const struct web_address *form, struct http_server_request *);

#endif /* HPOTUNE_WEB_ACTION_H */
