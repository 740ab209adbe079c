/*
 * Encodes and decodes messages: frames, and the three bodies with a structure.
 * All input is checked: a worker may be another build, or corrupt.
 */

#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/history/history-serialize.h"
#include "src/worker/worker-protocol.h"

#define MAGIC UINT32_C(0x68707400) /* "hpt"; the low byte is the kind */

struct head {
	uint32_t length, kind;
};

/* Bytes consumed from the front; short is set when there are too few. */
struct cut {
	const char *data;
	size_t len;
	int lacks;
};

void
worker_protocol_put(
    struct buf *b, enum worker_message_kind kind, const void *data, size_t len)
{
	struct head head = { .length = (uint32_t)len,
		.kind = MAGIC | (uint32_t)kind };

	buf_add(b, &head, sizeof head);
	buf_add(b, data, len);
}

ptrdiff_t
worker_protocol_take(
    struct worker_message *m, const char *data, size_t len, size_t most)
{
	struct head head;
	uint32_t kind;

	if (len < sizeof head)
		return 0;
	memcpy(&head, data, sizeof head);
	kind = head.kind & 0xff;
	if ((head.kind & ~UINT32_C(0xff)) != MAGIC || head.length > most ||
	    kind < WORKER_MESSAGE_HELLO || kind > WORKER_MESSAGE_ANSWER)
		return -1;
	if (len - sizeof head < head.length)
		return 0;
	*m = (struct worker_message){ .kind = (enum worker_message_kind)kind,
		.data = data + sizeof head,
		.len = head.length };
	return (ptrdiff_t)(sizeof head + head.length);
}

static struct cut
cut_open(const struct worker_message *m)
{
	return (struct cut){ .data = m->data, .len = m->len };
}

static const char *
cut_bytes(struct cut *c, size_t n)
{
	const char *at = c->data;

	if (c->lacks || n > c->len) {
		c->lacks = 1;
		return NULL;
	}
	c->data += n;
	c->len -= n;
	return at;
}

static void
cut_into(struct cut *c, void *to, size_t n)
{
	const char *from = cut_bytes(c, n);

	if (from != NULL)
		memcpy(to, from, n);
}

/* A text with its terminating NUL. */
static const char *
cut_text(struct cut *c)
{
	const char *end = c->len > 0 ? memchr(c->data, '\0', c->len) : NULL;

	if (end == NULL) {
		c->lacks = 1;
		return "";
	}
	return cut_bytes(c, (size_t)(end - c->data) + 1);
}

void
worker_protocol_put_study(struct buf *b, const struct worker_message_study *s)
{
	struct buf body = { 0 };

	buf_add(&body, s->path, strlen(s->path) + 1);
	buf_add(&body, s->strategy, strlen(s->strategy) + 1);
	buf_add(&body, s->json, s->json_len);
	worker_protocol_put(b, WORKER_MESSAGE_STUDY, body.data, body.len);
	buf_free(&body);
}

int
worker_protocol_read_study(
    struct worker_message_study *s, const struct worker_message *m)
{
	struct cut c = cut_open(m);

	s->path = cut_text(&c);
	s->strategy = cut_text(&c);
	s->json = c.data;
	s->json_len = c.len;
	return c.lacks ? -1 : 0;
}

void
worker_protocol_put_ask(struct buf *b, const struct worker_message_ask *ask,
    const struct history *history, unsigned keep)
{
	struct buf body = { 0 };

	buf_add(&body, ask, sizeof *ask);
	history_serialize(&body, history, keep);
	worker_protocol_put(b, WORKER_MESSAGE_ASK, body.data, body.len);
	buf_free(&body);
}

int
worker_protocol_read_ask(struct worker_message_ask *ask,
    struct history **history, const struct worker_message *m, struct err *e)
{
	struct cut c = cut_open(m);

	cut_into(&c, ask, sizeof *ask);
	if (c.lacks ||
	    memchr(ask->strategy, '\0', sizeof ask->strategy) == NULL)
		return err_set(e, ERR_FILE, "a question was cut short");
	return history_deserialize(history, c.data, c.len, e);
}

/* The numbers of an answer, before x and the texts. */
struct answer_head {
	int64_t result, trial, redraw, from, n;
	double seconds, fits, memory;
};

void
worker_protocol_put_answer(struct buf *b, const struct worker_message_answer *a)
{
	struct answer_head head = { .result = a->result,
		.trial = a->trial,
		.redraw = a->redraw,
		.from = a->from,
		.n = (int64_t)a->n,
		.seconds = a->seconds,
		.fits = a->fits,
		.memory = a->memory };
	struct buf body = { 0 };

	buf_add(&body, &head, sizeof head);
	buf_add(&body, a->x, a->n * sizeof *a->x);
	buf_add(&body, a->made_by, strlen(a->made_by) + 1);
	buf_add(&body, a->text, strlen(a->text) + 1);
	worker_protocol_put(b, WORKER_MESSAGE_ANSWER, body.data, body.len);
	buf_free(&body);
}

int
worker_protocol_read_answer(struct worker_message_answer *a, double *x,
    size_t n, const struct worker_message *m)
{
	struct cut c = cut_open(m);
	struct answer_head head = { 0 };

	cut_into(&c, &head, sizeof head);
	if (c.lacks || head.n != (int64_t)n)
		return -1;
	*a = (struct worker_message_answer){ .result = head.result,
		.trial = head.trial,
		.redraw = head.redraw,
		.from = head.from,
		.seconds = head.seconds,
		.fits = head.fits,
		.memory = head.memory,
		.x = x,
		.n = n };
	cut_into(&c, x, n * sizeof *x);
	a->made_by = cut_text(&c);
	a->text = cut_text(&c);
	return c.lacks || head.result < -1 || head.result > 1 ? -1 : 0;
}
