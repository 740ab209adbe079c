/*
 * A process of this machine in a form that can be recorded and recognised later:
 * a pid may be used again, after a reboot or by another process.
 */

#ifndef HPOTUNE_PROCESS_MARK_H
#define HPOTUNE_PROCESS_MARK_H

#include <stdbool.h>
#include <stdint.h>

enum { PROCESS_MARK_HOST = 65, PROCESS_MARK_TEXT = 96 };

/* pid 0: no process. */
struct process_mark {
	int64_t pid;
	char host[PROCESS_MARK_HOST];
	/* The boot, the namespace of the pid, and when the process began. */
	char text[PROCESS_MARK_TEXT];
};

enum process_seen {
	PROCESS_SEEN_ALIVE,
	PROCESS_SEEN_GONE,
	PROCESS_SEEN_UNKNOWN /* it is of another machine or container */
};

/* The number of the namespace in which this program has its pid; 0 = unknown. */
uint64_t process_mark_namespace(void);
/*
 * Of the process that has this pid now, in the namespace of this number. False:
 * there is none, or it cannot be seen from here; then the mark is of no process.
 */
bool process_mark_take(struct process_mark *, int64_t pid, uint64_t ns);
/* Whether the process still runs. */
enum process_seen process_mark_look(const struct process_mark *);
bool
process_mark_same(const struct process_mark *, const struct process_mark *);
/* Whether this pid is a shell that somebody types into: it leads a terminal. */
bool process_mark_is_terminal(int64_t pid);

#endif /* HPOTUNE_PROCESS_MARK_H */
