/* Serializes a history through its public interface, and reads it back. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/history/history-serialize.h"
#include "src/model/history/history.h"

#define PACK_MAGIC UINT64_C(0x68706f68697374)
#define PACK_MOST (UINT64_C(1) << 20) /* parameters, objectives, constraints */

struct pack_head {
	uint64_t magic;
	uint64_t dims, keep;
	uint64_t objectives, constraints;
	int64_t first, count;
};

struct serialize_trial {
	int64_t state;
	double loss, noise, seconds, memory;
	int64_t over; /* 1: it ran out of memory */
	uint64_t reports;
};

/* Bytes that are read, in order. */
struct unpack {
	const unsigned char *at;
	size_t left;
	bool bad;
};

static void
serialize_goals(struct buf *b, const struct history *h)
{
	size_t i;
	unsigned char
	    turned; /* whether the first objective is maximized: 0 or 1 */

	for (i = 0; i < history_n_objectives(h); i++) {
		turned = history_goal(h, i) ? 1 : 0;
		buf_add(b, &turned, sizeof turned);
	}
}

static void
serialize_trial(
    struct buf *b, const struct history *h, int64_t trial, unsigned keep)
{
	struct curve c = history_curve(h, trial);
	const double *point = history_point(h, trial);
	struct serialize_trial t = {
		.state = history_state(h, trial),
		.loss = history_loss(h, trial),
		.noise = history_noise(h, trial),
		.seconds = history_seconds(h, trial),
		.memory = history_memory(h, trial),
		.over = history_memory_over(h, trial),
	};
	size_t i, first = 0;
	double value;
	int64_t step;

	if ((keep & HISTORY_LAST) != 0 && c.n > 0)
		first = c.n - 1;
	if ((keep & HISTORY_CURVES) != 0)
		t.reports = c.n - first;
	buf_add(b, &t, sizeof t);
	if (point != NULL && (keep & HISTORY_POINTS) != 0)
		buf_add(b, point, history_dims(h) * sizeof *point);
	if (history_has_results(h))
		buf_add(b, history_losses(h, trial),
		    (history_n_objectives(h) + history_n_constraints(h)) *
			sizeof *point);
	for (i = first; i < first + t.reports; i++) {
		step = curve_step(&c, i);
		buf_add(b, &step, sizeof step);
		value = curve_value(&c, i);
		buf_add(b, &value, sizeof value);
	}
}

void
history_serialize(struct buf *b, const struct history *h, unsigned keep)
{
	struct pack_head head = {
		.magic = PACK_MAGIC,
		.dims = history_dims(h),
		.keep = history_keeps(h) & keep,
		.objectives =
		    history_has_results(h) ? history_n_objectives(h) : 0,
		.constraints = history_n_constraints(h),
		.first = history_first(h),
		.count = history_count(h),
	};
	int64_t i;

	buf_add(b, &head, sizeof head);
	serialize_goals(b, h);
	for (i = head.first; i <= head.count; i++)
		serialize_trial(b, h, i, keep);
}

static void
serialize_take(struct unpack *u, void *data, size_t len)
{
	if (u->bad || u->left < len) {
		u->bad = true;
		memset(data, 0, len);
		return;
	}
	if (len > 0)
		memcpy(data, u->at, len);
	u->at += len;
	u->left -= len;
}

/* Check that a byte is 0 or 1 before it is used as a bool. */
static bool
take_bool(struct unpack *u)
{
	unsigned char byte;

	serialize_take(u, &byte, 1);
	u->bad = u->bad || byte > 1;
	return byte == 1;
}

static size_t
head_goals(const struct pack_head *head)
{
	return head->objectives > 0 ? (size_t)head->objectives : 1;
}

/* Whether the remaining bytes can hold what the header announces. */
static bool
head_fits(const struct pack_head *head, size_t left)
{
	size_t row = sizeof(struct serialize_trial), goals = head_goals(head);
	int64_t trials;

	if (head->magic != PACK_MAGIC || head->dims > PACK_MOST ||
	    (head->keep & ~(uint64_t)(HISTORY_POINTS | HISTORY_CURVES)) != 0 ||
	    head->objectives > PACK_MOST || head->constraints > PACK_MOST ||
	    (head->objectives == 0 && head->constraints > 0) || left < goals)
		return false;
	if ((head->keep & HISTORY_POINTS) != 0)
		row += (size_t)head->dims * sizeof(double);
	row += (size_t)(head->objectives + head->constraints) * sizeof(double);
	return head->first <= 1 &&
	       !__builtin_sub_overflow(head->count, head->first, &trials) &&
	       trials >= -1 && trials < INT64_MAX &&
	       (uint64_t)(trials + 1) <= (left - goals) / row &&
	       head->first > -TRIAL_STEP_MAX;
}

static struct history *
deserialize_new(struct unpack *u, struct pack_head *head)
{
	struct history *h = NULL;
	size_t i, goals;
	bool *maximize;

	serialize_take(u, head, sizeof *head);
	if (u->bad || !head_fits(head, u->left))
		return NULL;
	goals = head_goals(head);
	maximize = xcalloc(goals, sizeof *maximize);
	for (i = 0; i < goals; i++)
		maximize[i] = take_bool(u);
	if (!u->bad) {
		h = history_new(head->dims, maximize[0], (unsigned)head->keep);
		if (head->objectives > 0)
			history_set_objectives(
			    h, goals, maximize, head->constraints);
		history_add_prior(h, (size_t)(1 - head->first));
	}
	free(maximize);
	return h;
}

/*
 * The results of one trial, in the user's sign as history_results takes them.
 */
static void
deserialize_results(struct unpack *u, struct history *h, int64_t trial)
{
	size_t i, n = history_n_objectives(h), all;
	double *row;

	if (!history_has_results(h))
		return;
	all = n + history_n_constraints(h);
	row = xcalloc(all, sizeof *row);
	serialize_take(u, row, all * sizeof *row);
	for (i = 0; i < n; i++)
		if (history_goal(h, i))
			row[i] = -row[i];
	if (!u->bad)
		history_results(h, trial, row, row + n);
	free(row);
}

static void
deserialize_trial(
    struct unpack *u, struct history *h, int64_t trial, double *point)
{
	size_t dims = history_dims(h);
	struct serialize_trial t;
	double value;
	int64_t step;

	serialize_take(u, &t, sizeof t);
	if ((history_keeps(h) & HISTORY_POINTS) != 0)
		serialize_take(u, point, dims * sizeof *point);
	u->bad = u->bad || t.state < 0 || t.state >= TRIAL_STATES ||
		 !(t.seconds >= 0) || !(t.memory >= 0) || t.over < 0 ||
		 t.over > 1;
	if (u->bad)
		return;
	history_add(h, trial, point);
	history_set_noise(h, trial, t.noise);
	history_set_seconds(h, trial, t.seconds);
	history_set_memory(h, trial, t.memory, t.over == 1);
	deserialize_results(u, h, trial);
	for (; t.reports > 0 && !u->bad; t.reports--) {
		serialize_take(u, &step, sizeof step);
		serialize_take(u, &value, sizeof value);
		u->bad = u->bad || step < 0 || step > TRIAL_STEP_MAX;
		if (!u->bad)
			history_report(
			    h, trial, step, history_flip_sign(h, value));
	}
	if (t.state != TRIAL_RUNNING)
		history_end(h, trial, (enum trial_state)t.state,
		    history_flip_sign(h, t.loss));
}

int
history_deserialize(
    struct history **out, const void *data, size_t len, struct err *e)
{
	struct unpack u = { .at = data, .left = len };
	struct pack_head head;
	struct history *h = deserialize_new(&u, &head);
	double *point;
	int64_t i;

	if (h == NULL)
		return err_set(
		    e, ERR_STORE, "the serialized history is not valid");
	point = xcalloc((size_t)head.dims + 1, sizeof *point);
	for (i = head.first; i <= head.count && !u.bad; i++)
		deserialize_trial(&u, h, i, point);
	free(point);
	if (u.bad || u.left > 0) {
		history_free(h);
		return err_set(
		    e, ERR_STORE, "the serialized history is not valid");
	}
	*out = h;
	return 0;
}
