/*
 * The "notify" block of study.json: where notices go when the study ends or
 * waits.  Checks the syntax of topics and buses; whether they exist is known
 * when the first notice is sent.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/study/study-internal.h"

enum {
	REGION_MAX = 40,
	ACCOUNT_DIGITS = 12,
	NAME_MAX_LEN = 256 /* of a topic or bus */
};

static const char *const moments[] = {
	[STUDY_MOMENT_FINISHED] = "finished",
	[STUDY_MOMENT_FAILED] = "failed",
	[STUDY_MOMENT_WAITING] = "waiting",
	[STUDY_MOMENT_INTERRUPTED] = "interrupted",
	NULL,
};

static const char *const phrases[] = {
	[STUDY_MOMENT_FINISHED] = "has finished",
	[STUDY_MOMENT_FAILED] = "has failed",
	[STUDY_MOMENT_WAITING] = "waits for you",
	[STUDY_MOMENT_INTERRUPTED] = "was interrupted",
};

static const char *const channels[] = {
	[STUDY_CHANNEL_SNS] = "sns",
	[STUDY_CHANNEL_EVENTS] = "eventbridge",
};

static const char lower[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
static const char word[] = "abcdefghijklmnopqrstuvwxyz0123456789-"
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
static const char bus_chars[] = "abcdefghijklmnopqrstuvwxyz0123456789-"
				"ABCDEFGHIJKLMNOPQRSTUVWXYZ_./";

const char *
study_moment_name(enum study_moment moment)
{
	return moments[moment];
}

const char *
study_moment_phrase(enum study_moment moment)
{
	return phrases[moment];
}

const char *
study_channel_name(enum study_channel channel)
{
	return channels[channel];
}

/*
 * Whether s begins with 1 to most of these characters, followed by end; returns
 * their length.
 */
static bool
part_good(const char *s, const char *chars, size_t most, char end, size_t *n)
{
	*n = strspn(s, chars);
	return *n > 0 && *n <= most && s[*n] == end;
}

static bool
region_good(const char *s, char end, size_t *n)
{
	return part_good(s, lower, REGION_MAX, end, n) && *s != '-';
}

/*
 * The part after "arn:PARTITION:SERVICE:REGION:ACCOUNT:", and the region as a
 * new text; or NULL.
 */
static const char *
arn_read(const char *arn, const char *service, char **region)
{
	const char *at = arn, *name;
	size_t n, k = strlen(service);

	if (strncmp(at, "arn:aws", 7) != 0 ||
	    !part_good(at + 4, lower, REGION_MAX, ':', &n))
		return NULL;
	at += 4 + n + 1;
	if (strncmp(at, service, k) != 0 || at[k] != ':')
		return NULL;
	at += k + 1;
	name = at;
	if (!region_good(at, ':', &n))
		return NULL;
	at += n + 1;
	if (strspn(at, "0123456789") != ACCOUNT_DIGITS ||
	    at[ACCOUNT_DIGITS] != ':')
		return NULL;
	*region = xstrndup(name, n);
	return at + ACCOUNT_DIGITS + 1;
}

/* The name of a topic; a FIFO topic's ends with ".fifo". */
static bool
topic_good(const char *name)
{
	size_t n = strspn(name, word);

	return n > 0 && strlen(name) <= NAME_MAX_LEN &&
	       (name[n] == '\0' || strcmp(name + n, ".fifo") == 0);
}

static int
read_sns(struct study_notify *out, const struct json *j, struct err *e)
{
	const char *arn, *name;

	if (json_read_string(j, &arn, e) != 0)
		return -1;
	name = arn_read(arn, "sns", &out->channels[STUDY_CHANNEL_SNS].region);
	if (name == NULL || !topic_good(name))
		return json_err(j, e,
		    "expected the ARN of a topic, as "
		    "arn:aws:sns:eu-west-1:123456789012:NAME");
	out->channels[STUDY_CHANNEL_SNS].to = xstrdup(arn);
	return 0;
}

/* The region of a bus: from its ARN, notify.region, or the topic's ARN. */
static int
read_bus(struct study_notify *out, const struct json *j, const char *region,
    struct err *e)
{
	static const char kind[] = "event-bus/";
	char **own = &out->channels[STUDY_CHANNEL_EVENTS].region;
	const char *text, *name;
	size_t n;

	if (json_read_string(j, &text, e) != 0)
		return -1;
	name = text;
	if (strncmp(text, "arn:", 4) == 0) {
		name = arn_read(text, "events", own);
		if (name != NULL)
			name = strncmp(name, kind, sizeof kind - 1) == 0
				   ? name + sizeof kind - 1
				   : NULL;
	}
	if (name == NULL || !part_good(name, bus_chars, NAME_MAX_LEN, '\0', &n))
		return json_err(j, e,
		    "expected the name of an event bus, as default, or its "
		    "ARN, as arn:aws:events:eu-west-1:123456789012:"
		    "event-bus/NAME");
	if (*own == NULL && region == NULL)
		region = out->channels[STUDY_CHANNEL_SNS].region;
	if (*own == NULL && region == NULL)
		return json_err(j, e,
		    "no AWS region: name it in notify.region, or give the ARN "
		    "of the bus");
	if (*own == NULL)
		*own = xstrdup(region);
	out->channels[STUDY_CHANNEL_EVENTS].to = xstrdup(text);
	return 0;
}

static int
read_on(struct study_notify *out, const struct json *list, struct err *e)
{
	const struct json *j;
	size_t i;

	if (list == NULL) {
		out->on[STUDY_MOMENT_FINISHED] = true;
		out->on[STUDY_MOMENT_FAILED] = true;
		out->on[STUDY_MOMENT_WAITING] = true;
		return 0;
	}
	if (json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(list) == 0)
		return json_err(list, e, "expected one moment at least");
	for (j = json_first(list); j != NULL; j = json_next(j)) {
		if (json_read_word(j, moments, &i, e) != 0)
			return -1;
		if (out->on[i])
			return json_err(j, e, "this moment is given twice");
		out->on[i] = true;
	}
	return 0;
}

static int
read_text(
    const char **out, const struct json *block, const char *key, struct err *e)
{
	const struct json *j = json_get(block, key);

	if (j == NULL)
		return 0;
	if (json_read_string(j, out, e) != 0)
		return -1;
	return **out != '\0' ? 0 : json_err(j, e, "expected a name");
}

int
study_read_notify(
    struct study_notify *out, const struct json *block, struct err *e)
{
	static const char *const known[] = { "sns", "eventbridge", "on",
		"region", "profile", NULL };
	const struct json *sns, *bus;
	const char *region = NULL, *profile = NULL;
	size_t n;

	if (json_want(block, JSON_OBJECT, e) != 0 ||
	    json_only(block, known, e) != 0 ||
	    read_text(&region, block, "region", e) != 0 ||
	    read_text(&profile, block, "profile", e) != 0)
		return -1;
	if (region != NULL && !region_good(region, '\0', &n))
		return json_err(json_get(block, "region"), e,
		    "this is not an AWS region such as eu-west-1");
	sns = json_get(block, "sns");
	bus = json_get(block, "eventbridge");
	if (sns == NULL && bus == NULL)
		return json_err(block, e,
		    "no destination for notices: expected sns or eventbridge");
	if (region != NULL && bus == NULL)
		return json_err_key(json_get(block, "region"), e,
		    "region is for eventbridge, which is not given; a "
		    "topic has the region of its ARN");
	if (sns != NULL && read_sns(out, sns, e) != 0)
		return -1;
	if (bus != NULL && read_bus(out, bus, region, e) != 0)
		return -1;
	if (profile != NULL)
		out->profile = xstrdup(profile);
	return read_on(out, json_get(block, "on"), e);
}

void
study_notify_clear(struct study_notify *n)
{
	size_t i;

	for (i = 0; i < STUDY_CHANNELS; i++) {
		free(n->channels[i].to);
		free(n->channels[i].region);
	}
	free(n->profile);
	*n = (struct study_notify){ 0 };
}
