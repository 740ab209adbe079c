/*
 * Protocol between the server and hpotune-worker: frames of a length, a kind
 * and bytes.  Both are of one build on one machine, so numbers are in native
 * format.
 *
 *	worker	HELLO	its version and device
 *	worker	NONE	it has no device, and why; it exits
 *	server	STUDY	study.json
 *	server	ASK	a request with the whole history: the worker keeps no
 *			state between two of them
 *	worker	ANSWER	to the latest ASK
 */

#ifndef HPOTUNE_WORKER_PROTOCOL_H
#define HPOTUNE_WORKER_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct history;

enum worker_message_kind {
	WORKER_MESSAGE_HELLO = 1,
	WORKER_MESSAGE_NONE,
	WORKER_MESSAGE_STUDY,
	WORKER_MESSAGE_ASK,
	WORKER_MESSAGE_ANSWER
};

/* A frame: data are borrowed from what it was read from. */
struct worker_message {
	enum worker_message_kind kind;
	const char *data;
	size_t len;
};

/* Larger than any request. */
#define WORKER_MESSAGE_MAX (UINT32_C(1) << 31)

void worker_protocol_put(
    struct buf *, enum worker_message_kind, const void *, size_t);
/*
 * The first frame of len bytes: how many bytes it took, 0 when it is not all
 * there, -1 when this is no frame of at most so many bytes.
 */
ptrdiff_t worker_protocol_take(
    struct worker_message *, const char *, size_t len, size_t most);

/*
 * STUDY: where study.json stood, the strategy that owns its options, and its
 * text; borrowed.
 */
struct worker_message_study {
	const char *path, *strategy, *json;
	size_t json_len;
};
void
worker_protocol_put_study(struct buf *, const struct worker_message_study *);
int worker_protocol_read_study(
    struct worker_message_study *, const struct worker_message *);

/*
 * ASK.  The history is packed by put (as far as keep says), and rebuilt by
 * read.
 */
struct worker_message_ask {
	uint64_t seed;
	int64_t trial, n_enqueued, n_known, redraw;
	int64_t convergence; /* 1: a convergence check */
	int64_t time_limited; /* 1: yes; both as in strategy_ask */
	double time_used;
	/*
	 * The strategy to ask: that of the study, or another one with its
	 * default options.
	 */
	char strategy[32];
};
void worker_protocol_put_ask(struct buf *, const struct worker_message_ask *,
    const struct history *, unsigned keep);
int worker_protocol_read_ask(struct worker_message_ask *, struct history **,
    const struct worker_message *, struct err *);

/* ANSWER: what suggest returned and wrote; texts are borrowed. */
struct worker_message_answer {
	int64_t result; /* of suggest: 0, 1, -1 */
	int64_t trial, redraw; /* of the request */
	int64_t from;
	double seconds;
	double fits, memory; /* as of a suggestion */
	const double *x; /* n numbers */
	size_t n;
	const char *made_by; /* "" = none */
	const char *text; /* of the error */
};
void
worker_protocol_put_answer(struct buf *, const struct worker_message_answer *);
/* Check that there are n numbers and copy them to x. */
int worker_protocol_read_answer(struct worker_message_answer *, double *x,
    size_t n, const struct worker_message *);

#endif /* HPOTUNE_WORKER_PROTOCOL_H */
