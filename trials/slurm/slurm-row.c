/* Reads rows of squeue. */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trials/slurm/slurm-row.h"

static const struct {
	const char *word;
	enum slurm_state state;
} states[] = {
	{ "PENDING", SLURM_STATE_WAITS },
	{ "CONFIGURING", SLURM_STATE_WAITS },
	{ "EXPEDITING", SLURM_STATE_WAITS }, /* 25.11 */
	{ "REQUEUED", SLURM_STATE_WAITS },
	{ "REQUEUE_FED", SLURM_STATE_WAITS },
	{ "REQUEUE_HOLD", SLURM_STATE_WAITS },
	{ "RESV_DEL_HOLD", SLURM_STATE_WAITS },
	{ "SPECIAL_EXIT", SLURM_STATE_WAITS },
	{ "RUNNING", SLURM_STATE_RUNS },
	{ "COMPLETING", SLURM_STATE_RUNS },
	{ "STAGE_OUT", SLURM_STATE_RUNS },
	{ "SIGNALING", SLURM_STATE_RUNS },
	{ "RESIZING", SLURM_STATE_RUNS },
	{ "STOPPED", SLURM_STATE_RUNS },
	{ "SUSPENDED", SLURM_STATE_RUNS },
	{ "COMPLETED", SLURM_STATE_COMPLETED },
	{ "FAILED", SLURM_STATE_FAILED },
	{ "BOOT_FAIL", SLURM_STATE_LAUNCH },
	{ "CANCELLED", SLURM_STATE_CANCELLED },
	{ "REVOKED", SLURM_STATE_CANCELLED },
	{ "NODE_FAIL", SLURM_STATE_NODE },
	{ "PREEMPTED", SLURM_STATE_PREEMPTED },
	{ "TIMEOUT", SLURM_STATE_TIMEOUT },
	{ "DEADLINE", SLURM_STATE_TIMEOUT },
	{ "OUT_OF_MEMORY", SLURM_STATE_MEMORY },
};

/* Copy the field up to the next bar, and go behind it. */
static bool
field(const char **at, const char *end, char *to, size_t n)
{
	const char *bar = memchr(*at, '|', (size_t)(end - *at));
	size_t len;

	if (bar == NULL)
		return false;
	len = (size_t)(bar - *at);
	if (len > n - 1)
		len = n - 1;
	memcpy(to, *at, len);
	to[len] = '\0';
	*at = bar + 1;
	return true;
}

int64_t
slurm_row_limit(const char *text)
{
	int64_t part[4] = { 0 }, days = 0;
	const char *dash = strchr(text, '-');
	int n = 0;
	char *end;

	if (dash != NULL) {
		days = strtol(text, &end, 10);
		if (end != dash)
			return 0;
		text = dash + 1;
	}
	for (; n < 3; n++) {
		part[n] = strtol(text, &end, 10);
		if (end == text || part[n] < 0)
			return 0;
		if (*end != ':') {
			n++;
			break;
		}
		text = end + 1;
	}
	if (*end != '\0')
		return 0;
	if (n == 3)
		return days * 86400 + part[0] * 3600 + part[1] * 60 + part[2];
	/* Minutes and seconds; after days they are hours and minutes. */
	if (n == 2)
		return dash != NULL
			   ? days * 86400 + part[0] * 3600 + part[1] * 60
			   : part[0] * 60 + part[1];
	return dash != NULL ? days * 86400 + part[0] * 3600 : part[0] * 60;
}

int64_t
slurm_row_time(const char *text)
{
	struct tm t = { 0 };

	if (strptime(text, "%Y-%m-%dT%H:%M:%S", &t) == NULL)
		return 0;
	return (int64_t)timegm(&t);
}

enum slurm_state
slurm_row_state(const char *word, const char *reason)
{
	enum slurm_state s = SLURM_STATE_OTHER;
	size_t i;

	for (i = 0; i < sizeof states / sizeof states[0]; i++)
		if (strcmp(states[i].word, word) == 0)
			s = states[i].state;
	/* A script that a signal ended has the first in 22.05. */
	if (s == SLURM_STATE_FAILED &&
	    (strcmp(reason, "JobLaunchFailure") == 0 ||
		strncmp(reason, "RaisedSignal", 12) == 0))
		return SLURM_STATE_LAUNCH;
	return s;
}

/*
 * Names of hpotune have neither bars nor blanks.  Those of others, and comments, may
 * have both: what is behind the last bar is the end of the comment.
 */
size_t
slurm_row_name(const char *fields, size_t len, const char **name)
{
	static const char ours[] = "hp-";
	const char *bar, *end = fields + len, *at = fields;

	if (len < sizeof ours - 1 || strncmp(at, ours, sizeof ours - 1) != 0) {
		bar = memrchr(fields, '|', len);
		if (bar == NULL || (size_t)(end - bar) < sizeof ours ||
		    strncmp(bar + 1, ours, sizeof ours - 1) != 0)
			return 0;
		at = bar + 1;
	}
	*name = at;
	while (at < end && *at != '|' && *at != ' ')
		at++;
	return (size_t)(at - *name);
}

bool
slurm_row_read(struct slurm_row *row, const char *line, size_t len)
{
	const char *at = line, *end = line + len;
	const char *name;
	char id[32], limit[32], submitted[32], *stop;

	*row = (struct slurm_row){ 0 };
	if (!field(&at, end, id, sizeof id) ||
	    !field(&at, end, row->word, sizeof row->word) ||
	    !field(&at, end, row->reason, sizeof row->reason) ||
	    !field(&at, end, row->node, sizeof row->node) ||
	    !field(&at, end, limit, sizeof limit) ||
	    !field(&at, end, submitted, sizeof submitted))
		return false;
	row->id = strtoll(id, &stop, 10);
	if (stop == id || row->id <= 0)
		return false;
	len = slurm_row_name(at, (size_t)(end - at), &name);
	if (len == 0) {
		name = at;
		len = (size_t)(end - at);
	}
	/* One of ours is never cut. */
	if (len >= sizeof row->name)
		return false;
	memcpy(row->name, name, len);
	row->state = slurm_row_state(row->word, row->reason);
	row->limit_s = slurm_row_limit(limit);
	row->submitted_s = slurm_row_time(submitted);
	return true;
}

bool
slurm_row_final(const struct slurm_row *row)
{
	return row->id != 0 && row->state != SLURM_STATE_WAITS &&
	       row->state != SLURM_STATE_RUNS &&
	       row->state != SLURM_STATE_OTHER;
}

bool
slurm_row_stuck(const struct slurm_row *row)
{
	return row->state == SLURM_STATE_WAITS &&
	       (strcasestr(row->reason, "launch failed requeued held") !=
		       NULL ||
		   strcasestr(row->reason, "launch_failed") != NULL);
}

static int
rank(const struct slurm_row *row)
{
	if (row->id == 0)
		return 0;
	if (slurm_row_final(row))
		return 1;
	return row->state == SLURM_STATE_RUNS ? 3 : 2;
}

bool
slurm_row_better(
    const struct slurm_row *a, const struct slurm_row *b, int64_t id)
{
	if (id != 0 && (a->id == id) != (b->id == id))
		return a->id == id;
	if (rank(a) != rank(b))
		return rank(a) > rank(b);
	return a->id > b->id;
}
