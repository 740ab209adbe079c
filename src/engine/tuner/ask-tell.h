/* Trials that another program runs and reports (ask/tell). */

#ifndef HPOTUNE_ASK_TELL_H
#define HPOTUNE_ASK_TELL_H

struct live_trial;
struct request;
struct tuner;

#define ASK_TELL_BACKEND "ask" /* backend name of attempts that others run */
/* Requests of ask/tell. */
void ask_tell_ask(struct tuner *, struct request *);
void ask_tell_tell(struct tuner *, struct request *);
void ask_tell_judge(struct tuner *, struct request *);
/* End a trial as if its program had exited: no report is awaited. */
void ask_tell_cancel(struct tuner *, struct live_trial *);
/* In each turn, before requests: end attempts whose process has ended. */
void ask_tell_check(struct tuner *);

#endif /* HPOTUNE_ASK_TELL_H */
