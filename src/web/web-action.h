/*
 * Actions of the pages: the same commands as on the command line, run as
 * programs, so that the rules are theirs and a slow one delays no page.
 */

#ifndef HPOTUNE_WEB_ACTION_H
#define HPOTUNE_WEB_ACTION_H

struct http_server_request;
struct loop;
struct web_actions;

struct web_actions *web_actions_open(struct loop *);
/* Kills what still runs. */
void web_actions_close(struct web_actions *);
/*
 * Run a command and answer the request with what it printed: 200, or 409 when it
 * failed, or 400 when too many run.  argv is copied.
 */
void web_action_run(
    struct web_actions *, char *const *argv, struct http_server_request *);

#endif /* HPOTUNE_WEB_ACTION_H */
