/*
 * The process that has asked for an attempt of ask and tell.  When it is watched
 * and has ended, the attempt is lost, so that its setting can be tried again.
 *
 * A program that asks for itself says so, and is watched ("sure").  hpotune ask
 * names the process that has started it, which may be one step of a longer work:
 * it is watched once it has told of a trial that it asked for, and when it asks
 * again.
 */

#ifndef HPOTUNE_ASKER_H
#define HPOTUNE_ASKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/process-mark.h"

struct err;
struct json;
struct store;

/* All zero: nobody. */
struct asker {
	struct process_mark mark;
	bool watched;
};

/*
 * Who asks, in the words of a request: {"pid": 7, "ns": 4026531836, "sure":
 * true}, ns the namespace of the pid; nobody where that is NULL or cannot be seen
 * from here.  The store tells whether it is watched for another trial.
 */
void asker_read(struct asker *, const struct json *, struct store *);
/*
 * Whether the process of these words, of which the asker was read, is one that
 * runs its trials and has ended since it sent them.
 */
bool asker_ended(const struct asker *, const struct json *words);
/* Who tells of the trial, in the same words: whether the asker changes by it. */
bool asker_told(struct asker *, const struct json *);
/* Record the asker of an attempt. */
int asker_put(const struct asker *, struct store *, int64_t trial, int attempt,
    struct err *);
/*
 * Call a function with the asker of each attempt that has not ended; the asker
 * is borrowed.
 */
typedef void asker_fn(void *arg, int64_t trial, const struct asker *);
int asker_walk(struct store *, asker_fn *, void *arg, struct err *);
/* Whether an asker is watched, and has ended. */
bool asker_gone(const struct asker *);
/* Write that the asker has ended: a clause. */
void asker_put_why(const struct asker *, char *why, size_t n);

#endif /* HPOTUNE_ASKER_H */
