/* What the user does to recorded trials: notes, tags, retries, forgetting. */

#ifndef HPOTUNE_USER_EDITS_H
#define HPOTUNE_USER_EDITS_H

struct request;
struct tuner;

/* params: {"text": "…"}; an empty text removes the note. */
void user_edits_note(struct tuner *, struct request *);
/* params: {"tags": ["…"], "remove": ["…"]} */
void user_edits_tag(struct tuner *, struct request *);
/* trial, or 0 with params {"failed": true}: all that have failed. */
void user_edits_retry(struct tuner *, struct request *);
/* params: {"undo": false} */
void user_edits_forget(struct tuner *, struct request *);
/* trial is an entry of the queue; 0: all that wait. */
void user_edits_unqueue(struct tuner *, struct request *);

#endif /* HPOTUNE_USER_EDITS_H */
