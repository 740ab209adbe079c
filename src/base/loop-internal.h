/* For the modules of libevent's other parts: the loop's event base. */

#ifndef HPOTUNE_LOOP_INTERNAL_H
#define HPOTUNE_LOOP_INTERNAL_H

struct event_base;
struct loop;

/* Owned by the loop; NULL on a virtual clock. */
struct event_base *loop_base(const struct loop *);

#endif /* HPOTUNE_LOOP_INTERNAL_H */
