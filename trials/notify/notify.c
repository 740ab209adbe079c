/*
 * Notices by SNS and EventBridge.  Each channel has its own client, since topic
 * and bus may be in different regions; it is opened at the first message.
 * Reference: SNS API, Publish; EventBridge API, PutEvents.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/http/http.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "trials/aws/aws.h"
#include "trials/notify/notify.h"

enum { TRIES = 4, TRY_MS = 15 * 1000, WHY_BYTES = 400 };

struct channel {
	struct notify *notify;
	enum study_channel which;
	struct aws *aws; /* NULL = not yet */
};

struct notify {
	struct notify_env env;
	struct channel channels[STUDY_CHANNELS];
};

static void
form_put(struct buf *b, const char *name, const char *value)
{
	buf_printf(b, "&%s=", name);
	http_put_encoded(b, value, strlen(value), false);
}

/* By these, a subscription chooses what it gets. */
static void
attribute_put(struct buf *b, int n, const char *name, const char *value)
{
	buf_printf(b, "&MessageAttributes.entry.%d.Name=%s", n, name);
	buf_printf(b, "&MessageAttributes.entry.%d.Value.DataType=String", n);
	buf_printf(b, "&MessageAttributes.entry.%d.Value.StringValue=", n);
	http_put_encoded(b, value, strlen(value), false);
}

static bool
is_ordered(const char *topic)
{
	static const char end[] = ".fifo";
	size_t n = strlen(topic), k = sizeof end - 1;

	return n > k && strcmp(topic + n - k, end) == 0;
}

/* A FIFO topic drops a second message with the same id for five minutes. */
static void
sns_form(struct buf *b, const struct notify *n, const char *topic,
    const struct notify_message *m)
{
	char *subject = xasprintf("hpotune: study %s %s", n->env.study,
	    study_moment_phrase(m->moment));

	form_put(b, "TopicArn", topic);
	form_put(b, "Subject", subject);
	form_put(b, "Message", m->text);
	attribute_put(b, 1, "study", n->env.study);
	attribute_put(b, 2, "moment", study_moment_name(m->moment));
	attribute_put(b, 3, "notice", m->id);
	if (is_ordered(topic)) {
		form_put(b, "MessageGroupId", n->env.study);
		form_put(b, "MessageDeduplicationId", m->id);
	}
	free(subject);
}

static void
events_body(struct buf *b, const char *bus, const struct notify_message *m)
{
	char *type = xasprintf("Study %s", study_moment_name(m->moment));
	struct json_writer w = { .out = b };

	json_writer_object(&w, NULL);
	json_writer_array(&w, "Entries");
	json_writer_object(&w, NULL);
	json_writer_text(&w, "EventBusName", bus);
	json_writer_text(&w, "Source", "hpotune");
	json_writer_text(&w, "DetailType", type);
	json_writer_text(&w, "Detail", m->detail);
	json_writer_integer(&w, "Time", m->time_us / 1000000);
	json_writer_end(&w);
	json_writer_end(&w);
	json_writer_end(&w);
	free(type);
}

/*
 * PutEvents returns 200 also if it rejected the event: set why, or "" if it was
 * accepted.
 */
static void
events_judge(const struct json *answer, char *why, size_t n)
{
	const struct json *entries, *one;
	const char *code, *text;
	int64_t failed;

	*why = '\0';
	if (!json_integer(json_get(answer, "FailedEntryCount"), &failed)) {
		(void)snprintf(why, n,
		    "EventBridge PutEvents: the answer has no "
		    "FailedEntryCount");
		return;
	}
	if (failed == 0)
		return;
	entries = json_get(answer, "Entries");
	one = json_first(entries);
	code = one != NULL ? json_string(json_get(one, "ErrorCode")) : NULL;
	text = one != NULL ? json_string(json_get(one, "ErrorMessage")) : NULL;
	(void)snprintf(why, n,
	    "EventBridge PutEvents: the event was not accepted: %.200s "
	    "(%.100s)",
	    text != NULL ? text : "no reason is given",
	    code != NULL ? code : "no code");
}

static void
notify_on_answer(void *arg, const struct aws_answer *a)
{
	struct channel *c = arg;
	const struct notify_env *env = &c->notify->env;
	char why[WHY_BYTES] = "";

	if (a->good && c->which == STUDY_CHANNEL_EVENTS && a->json == NULL)
		(void)snprintf(why, sizeof why,
		    "EventBridge PutEvents: the answer is empty");
	else if (a->good && c->which == STUDY_CHANNEL_EVENTS)
		events_judge(a->json, why, sizeof why);
	else if (!a->good)
		(void)snprintf(why, sizeof why, "%s",
		    *a->message != '\0' ? a->message : a->code);
	env->answer(env->arg, c->which, *why != '\0' ? why : NULL);
}

struct notify *
notify_new(const struct notify_env *env)
{
	struct notify *n = xcalloc(1, sizeof *n);
	int i;

	n->env = *env;
	for (i = 0; i < STUDY_CHANNELS; i++) {
		n->channels[i].notify = n;
		n->channels[i].which = (enum study_channel)i;
	}
	return n;
}

void
notify_free(struct notify *n)
{
	int i;

	if (n == NULL)
		return;
	for (i = 0; i < STUDY_CHANNELS; i++)
		aws_close(n->channels[i].aws);
	free(n);
}

/* The region is always set, so no query for it is needed. */
static int
channel_open(struct channel *c, struct err *e)
{
	const struct notify_env *env = &c->notify->env;
	struct aws_env aws = { .loop = env->loop,
		.region = env->to->channels[c->which].region,
		.profile = env->to->profile,
		.env = (aws_getenv *)getenv,
		.pace = 1,
		.note = env->note,
		.note_arg = env->arg };

	return c->aws != NULL ? 0 : aws_open(&c->aws, &aws, e);
}

int
notify_send(struct notify *n, enum study_channel which,
    const struct notify_message *m, struct err *e)
{
	struct channel *c = &n->channels[which];
	const char *to = n->env.to->channels[which].to;
	struct aws_ask ask = { .tries = TRIES, .timeout_ms = TRY_MS };
	struct buf b = { 0 };

	if (channel_open(c, e) != 0) {
		c->aws = NULL;
		return -1;
	}
	switch (which) {
	case STUDY_CHANNEL_SNS:
		sns_form(&b, n, to, m);
		ask.service = AWS_SNS;
		ask.operation = "Publish";
		ask.body = buf_str(&b);
		(void)aws_query(c->aws, &ask, notify_on_answer, c);
		break;
	case STUDY_CHANNEL_EVENTS:
		events_body(&b, to, m);
		ask.service = AWS_EVENTS;
		ask.operation = "PutEvents";
		ask.body = buf_str(&b);
		(void)aws_json(c->aws, &ask, notify_on_answer, c);
		break;
	case STUDY_CHANNELS:
		break;
	}
	buf_free(&b);
	return 0;
}
