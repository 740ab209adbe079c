/* Parses and writes the JSON lines of packed trials. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/fashion-mnist/pack/lines.h"

enum { LINES_CHUNK = 65536 };

static void *
grown(void *p, size_t n)
{
	if ((p = realloc(p, n)) == NULL)
		abort();
	return p;
}

static long
line_number(const cJSON *root, const char *name)
{
	const cJSON *j = cJSON_GetObjectItemCaseSensitive(root, name);

	return cJSON_IsNumber(j) ? (long)j->valuedouble : 0;
}

/* As the command line would have it. */
static char *
param_text(const cJSON *j)
{
	char value[64], *text = NULL;
	const char *v = value;

	if (cJSON_IsString(j))
		v = j->valuestring;
	else if (cJSON_IsNumber(j))
		snprintf(value, sizeof value, "%.17g", j->valuedouble);
	else
		snprintf(value, sizeof value, "%s",
		    cJSON_IsTrue(j)    ? "true"
		    : cJSON_IsFalse(j) ? "false"
				       : "null");
	if (asprintf(&text, "--%s=%s", j->string, v) == -1)
		abort();
	return text;
}

static void
line_start(struct line *l, const cJSON *root)
{
	const cJSON *params, *dir, *j;

	l->kind = LINE_START;
	l->until = line_number(root, "until_step");
	dir = cJSON_GetObjectItemCaseSensitive(root, "checkpoint_dir");
	if (cJSON_IsString(dir))
		l->checkpoint_dir = strdup(dir->valuestring);
	params = cJSON_GetObjectItemCaseSensitive(root, "params");
	cJSON_ArrayForEach(j, params)
	{
		l->param = grown(l->param, (l->n + 1) * sizeof *l->param);
		l->param[l->n++] = param_text(j);
	}
}

int
line_read(struct line *l, const char *text, struct fail *f)
{
	cJSON *root = cJSON_Parse(text);

	memset(l, 0, sizeof *l);
	if (!cJSON_IsObject(root)) {
		cJSON_Delete(root);
		return fail_set(f, "not a JSON object: %.80s", text);
	}
	l->attempt = line_number(root, "attempt");
	if ((l->trial = line_number(root, "start")) > 0)
		line_start(l, root);
	else if ((l->trial = line_number(root, "stop")) > 0)
		l->kind = LINE_STOP;
	else if (line_number(root, "hpotune") > 0) {
		l->kind = LINE_HELLO;
		l->places = line_number(root, "places");
	}
	cJSON_Delete(root);
	return 0;
}

void
line_free(struct line *l)
{
	while (l->n > 0)
		free(l->param[--l->n]);
	free(l->param);
	free(l->checkpoint_dir);
	memset(l, 0, sizeof *l);
}

/* JSON has no word for them, but hpotune reads this one. */
static const char *
number_text(char *text, size_t n, double value, int digits)
{
	if (isfinite(value))
		snprintf(text, n, "%.*f", digits, value);
	else
		snprintf(text, n, "NaN");
	return text;
}

int
line_report(long trial, long attempt, const struct job_report *r)
{
	char a[32], b[400], c[400];

	printf("{\"trial\": %ld, \"attempt\": %ld, \"step\": %llu, "
	       "\"val_accuracy\": %s, \"val_loss\": %s, \"loss\": %s}\n",
	    trial, attempt, (unsigned long long)r->step,
	    number_text(a, sizeof a, r->accuracy, 4),
	    number_text(b, sizeof b, r->val_loss, 6),
	    number_text(c, sizeof c, r->loss, 6));
	return fflush(stdout) == 0 ? 0 : -1;
}

static int
line_say(cJSON *root)
{
	char *text = cJSON_PrintUnformatted(root);

	if (text == NULL)
		abort();
	printf("%s\n", text);
	free(text);
	cJSON_Delete(root);
	return fflush(stdout) == 0 ? 0 : -1;
}

int
line_end(long trial, long attempt, const char *why)
{
	cJSON *root = cJSON_CreateObject();

	cJSON_AddNumberToObject(root, "trial", (double)trial);
	cJSON_AddNumberToObject(root, "attempt", (double)attempt);
	cJSON_AddNumberToObject(root, "end", why == NULL ? 0 : 1);
	if (why != NULL)
		cJSON_AddStringToObject(root, "why", why);
	return line_say(root);
}

int
line_log(const char *text)
{
	cJSON *root = cJSON_CreateObject();

	cJSON_AddStringToObject(root, "log", text);
	return line_say(root);
}

void
lines_hear(struct lines *l, int fd, int timeout)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	while (!l->over && poll(&p, 1, timeout) > 0) {
		if (l->room - l->length < LINES_CHUNK) {
			l->room += 2 * LINES_CHUNK;
			l->text = grown(l->text, l->room);
		}
		n = read(fd, l->text + l->length, LINES_CHUNK);
		if (n == -1 && errno == EINTR)
			continue;
		l->over = n <= 0;
		l->length += n > 0 ? (size_t)n : 0;
		timeout = 0;
	}
}

char *
lines_next(struct lines *l)
{
	char *end, *line;
	size_t n;

	if (l->length == 0 || (end = memchr(l->text, '\n', l->length)) == NULL)
		return NULL;
	n = (size_t)(end - l->text);
	if ((line = strndup(l->text, n)) == NULL)
		abort();
	l->length -= n + 1;
	memmove(l->text, end + 1, l->length);
	return line;
}

void
lines_free(struct lines *l)
{
	free(l->text);
	memset(l, 0, sizeof *l);
}
