/*
 * Data channels, tags and the network of the backend block.
 */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "trials/sagemaker/options/sm-options-internal.h"

enum {
	CHANNELS_MAX = 20, /* AWS's, ours among them */
	CHANNEL_NAME_MAX = 64,
	TAGS_MAX = 50,
	OUR_TAGS = 4,
	TAG_NAME_MAX = 128, /* characters */
	TAG_VALUE_MAX = 256,
	SUBNETS_MAX = 16,
	SECURITY_GROUPS_MAX = 5,
	TEXT_MAX = 256,
	SEED_MAX = 2147483647
};

static const char *const input_keys[] = { "s3", "file_system", "distribution",
	"type", "attributes", "groups", "mode", "content_type", "compression",
	"record_wrapper", "shuffle_seed", NULL };

/* Read a list of texts; the result ends with NULL. */
static int
read_texts(char ***out, const struct json *list, size_t max, const char *what,
    bool (*good)(const char *), struct err *e)
{
	const struct json *j;
	const char *text;
	size_t n = 0;

	if (json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(list) < 1 || json_count(list) > max)
		return json_err(list, e, "expected 1 to %zu %s", max, what);
	*out = xcalloc(json_count(list) + 1, sizeof **out);
	for (j = json_first(list); j != NULL; j = json_next(j)) {
		if (json_read_string(j, &text, e) != 0)
			return -1;
		if (good != NULL && !good(text))
			return json_err(j, e, "expected one of %s", what);
		(*out)[n++] = xstrdup(text);
	}
	return 0;
}

static int
channel_check(const struct json *j, struct err *e)
{
	const char *name = json_key(j);
	size_t i, n = strlen(name);

	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) &&
		    strchr(".-_", name[i]) == NULL)
			break;
	if (n == 0 || n > CHANNEL_NAME_MAX || i < n)
		return json_err_key(j, e,
		    "the name of a channel is at most 64 letters, digits, "
		    ". - and _");
	if (strcmp(name, "hpotune") == 0)
		return json_err_key(j, e,
		    "this channel is hpotune's own: expected another name");
	return 0;
}

/* A member that must be one of several words; the error lists them. */
static int
word_check(const struct json *block, const char *key, const char *const *words,
    size_t *at, struct err *e)
{
	const struct json *j = json_get(block, key);

	return j == NULL ? 0 : json_read_word(j, words, at, e);
}

static int
texts_check(const struct json *block, const char *key, size_t max,
    const char *what, struct err *e)
{
	const struct json *j, *list = json_get(block, key);
	const char *text;

	if (list == NULL)
		return 0;
	if (json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(list) < 1 || json_count(list) > max)
		return json_err(list, e, "expected 1 to %zu %s", max, what);
	for (j = json_first(list); j != NULL; j = json_next(j)) {
		if (json_read_string(j, &text, e) != 0)
			return -1;
		if (*text == '\0' || strlen(text) > TEXT_MAX)
			return json_err(j, e, "expected one of %s", what);
	}
	return 0;
}

/* The group named by a channel must exist in the cluster. */
static int
groups_check(struct sm_reader *r, const struct json *block)
{
	const struct json *j, *list = json_get(block, "groups");
	size_t i;

	if (texts_check(block, "groups", 5, "groups", r->e) != 0)
		return -1;
	for (j = json_first(list); j != NULL; j = json_next(j)) {
		for (i = 0; i < r->s->n_groups; i++)
			if (strcmp(r->s->groups[i].name, json_string(j)) == 0)
				break;
		if (i == r->s->n_groups)
			return json_err(
			    j, r->e, "the backend has no such group");
	}
	return 0;
}

static bool
file_system_id_good(const char *s)
{
	size_t n = strlen(s);

	return n >= 11 && n <= 21 && strncmp(s, "fs-", 3) == 0 &&
	       strspn(s + 3, "0123456789abcdef") == n - 3;
}

/* {"id": "fs-…", "type": "EFS", "path": "/x", "access": "ro"} */
static int
file_system_check(struct sm_reader *r, const struct json *block)
{
	static const char *const keys[] = { "id", "type", "path", "access",
		NULL };
	static const char *const types[] = { "EFS", "FSxLustre", NULL };
	static const char *const access[] = { "ro", "rw", NULL };
	const struct json *id, *path;
	const char *text;
	size_t at;

	if (json_want(block, JSON_OBJECT, r->e) != 0 ||
	    json_only(block, keys, r->e) != 0 ||
	    (id = json_need(block, "id", r->e)) == NULL ||
	    json_need(block, "type", r->e) == NULL ||
	    (path = json_need(block, "path", r->e)) == NULL ||
	    json_read_string(id, &text, r->e) != 0)
		return -1;
	if (!file_system_id_good(text))
		return json_err(
		    id, r->e, "expected a file system like \"fs-0123456789\"");
	if (json_read_string(path, &text, r->e) != 0)
		return -1;
	if (*text != '/' || strlen(text) > 4096)
		return json_err(path, r->e, "expected a path from /");
	if (word_check(block, "type", types, &at, r->e) != 0)
		return -1;
	if (sm_options_json(r, "vpc") == NULL)
		return json_err(
		    block, r->e, "a file system needs \"vpc\", too");
	return word_check(block, "access", access, &at, r->e);
}

/* Members for S3 only; an error if used otherwise. */
static int
s3_only_check(const struct json *block, struct err *e)
{
	static const char *const keys[] = { "distribution", "type",
		"attributes", NULL };
	const struct json *j;
	size_t i;

	for (i = 0; keys[i] != NULL; i++)
		if ((j = json_get(block, keys[i])) != NULL)
			return json_err_key(j, e, "this key goes with s3 only");
	return 0;
}

static int
input_words_check(struct sm_input *in, const struct json *block, struct err *e)
{
	static const char *const shares[] = { "replicated", "sharded", NULL };
	static const char *const types[] = { "prefix", "manifest",
		"augmented-manifest", NULL };
	static const char *const modes[] = { "File", "FastFile", "Pipe", NULL };
	static const char *const gz[] = { "none", "gzip", NULL };
	static const char *const wrappers[] = { "none", "RecordIO", NULL };
	const struct json *j = json_get(block, "content_type");
	size_t share = 0, type = 0, at;
	const char *text;
	int64_t seed;

	if (word_check(block, "distribution", shares, &share, e) != 0 ||
	    word_check(block, "type", types, &type, e) != 0 ||
	    word_check(block, "mode", modes, &at, e) != 0 ||
	    word_check(block, "compression", gz, &at, e) != 0 ||
	    word_check(block, "record_wrapper", wrappers, &at, e) != 0 ||
	    texts_check(block, "attributes", 16, "attributes", e) != 0)
		return -1;
	in->sharded = share == 1;
	if (json_get(block, "attributes") != NULL && type != 2)
		return json_err(json_get(block, "attributes"), e,
		    "attributes go with type \"augmented-manifest\" only");
	if (j != NULL && json_read_string(j, &text, e) != 0)
		return -1;
	if (j != NULL && (*text == '\0' || strlen(text) > TEXT_MAX))
		return json_err(j, e, "expected a type like \"text/csv\"");
	j = json_get(block, "shuffle_seed");
	return j == NULL ? 0 : json_read_integer(j, 0, SEED_MAX, &seed, e);
}

static int
read_input_block(
    struct sm_reader *r, struct sm_input *in, const struct json *block)
{
	const struct json *s3 = json_get(block, "s3");
	const struct json *fs = json_get(block, "file_system");
	const char *uri;

	if (json_only(block, input_keys, r->e) != 0)
		return -1;
	if ((s3 == NULL) == (fs == NULL))
		return json_err(
		    block, r->e, "expected one of \"s3\" and \"file_system\"");
	if (fs != NULL &&
	    (file_system_check(r, fs) == -1 || s3_only_check(block, r->e) != 0))
		return -1;
	if (s3 != NULL) {
		if (json_read_string(s3, &uri, r->e) != 0)
			return -1;
		if (!sm_settings_s3_readable(uri))
			return json_err(s3, r->e,
			    "expected a URI like \"s3://BUCKET/PREFIX/\"");
		in->s3 = xstrdup(uri);
	}
	in->block = block;
	if (input_words_check(in, block, r->e) != 0)
		return -1;
	return groups_check(r, block);
}

static int
read_input(struct sm_reader *r, const struct json *j)
{
	struct sm_input *in = &r->s->inputs[r->s->n_inputs];
	const char *uri = json_string(j);

	if (channel_check(j, r->e) != 0)
		return -1;
	in->channel = xstrdup(json_key(j));
	r->s->n_inputs++;
	if (json_type(j) == JSON_OBJECT)
		return read_input_block(r, in, j);
	if (uri == NULL || !sm_settings_s3_readable(uri))
		return json_err(j, r->e,
		    "expected a URI like \"s3://BUCKET/PREFIX/\" or an "
		    "object");
	in->s3 = xstrdup(uri);
	return 0;
}

static int
read_inputs(struct sm_reader *r)
{
	const struct json *j, *block = sm_options_json(r, "inputs");

	if (block == NULL)
		return 0;
	if (json_want(block, JSON_OBJECT, r->e) != 0)
		return -1;
	if (json_count(block) > CHANNELS_MAX - 1)
		return json_err(block, r->e,
		    "expected at most %d channels: SageMaker takes %d, and "
		    "one is hpotune's own",
		    CHANNELS_MAX - 1, CHANNELS_MAX);
	r->s->inputs = xcalloc(CHANNELS_MAX, sizeof *r->s->inputs);
	for (j = json_first(block); j != NULL; j = json_next(j))
		if (read_input(r, j) == -1)
			return -1;
	return 0;
}

/* Letters of any language, digits, blanks and _.:/=+-@, at most max of them. */
static bool
sm_inputs_tag_good(const char *s, size_t max)
{
	size_t n = 0;

	for (; *s != '\0'; s++) {
		if ((unsigned char)*s < 0x80 && !isalnum((unsigned char)*s) &&
		    strchr(" _.:/=+-@", *s) == NULL)
			return false;
		n += ((unsigned char)*s & 0xc0) != 0x80;
	}
	return n <= max;
}

static int
sm_inputs_read_tag(struct sm_reader *r, const struct json *j)
{
	struct sm_pair *tag = &r->s->tags[r->s->n_tags];
	const char *name = json_key(j), *value;

	if (*name == '\0' || !sm_inputs_tag_good(name, TAG_NAME_MAX))
		return json_err_key(j, r->e,
		    "the name of a tag is at most 128 letters, digits, blanks "
		    "and _.:/=+-@");
	if (strncasecmp(name, "aws:", 4) == 0)
		return json_err_key(j, r->e, "names with aws: are AWS's own");
	if (strncmp(name, "hpotune:", 8) == 0)
		return json_err_key(
		    j, r->e, "names with hpotune: are hpotune's own");
	if (json_read_string(j, &value, r->e) != 0)
		return -1;
	if (!sm_inputs_tag_good(value, TAG_VALUE_MAX))
		return json_err(j, r->e,
		    "expected at most 256 letters, digits, blanks and "
		    "_.:/=+-@");
	tag->name = xstrdup(name);
	tag->value = xstrdup(value);
	r->s->n_tags++;
	return 0;
}

static int
read_tags(struct sm_reader *r)
{
	const struct json *j, *block = sm_options_json(r, "tags");

	if (block == NULL)
		return 0;
	if (json_want(block, JSON_OBJECT, r->e) != 0)
		return -1;
	if (json_count(block) > TAGS_MAX - OUR_TAGS)
		return json_err(block, r->e,
		    "expected at most %d tags: SageMaker takes %d, and %d are "
		    "hpotune's own",
		    TAGS_MAX - OUR_TAGS, TAGS_MAX, OUR_TAGS);
	r->s->tags = xcalloc(TAGS_MAX, sizeof *r->s->tags);
	for (j = json_first(block); j != NULL; j = json_next(j))
		if (sm_inputs_read_tag(r, j) == -1)
			return -1;
	return 0;
}

static bool
id_good(const char *s, const char *front)
{
	size_t n = strlen(front);

	if (strncmp(s, front, n) != 0 || s[n] == '\0' || strlen(s) > 32)
		return false;
	for (; *s != '\0'; s++)
		if (!isalnum((unsigned char)*s) && *s != '-')
			return false;
	return true;
}

static bool
subnet_good(const char *s)
{
	return id_good(s, "subnet-");
}

static bool
security_group_good(const char *s)
{
	return id_good(s, "sg-");
}

static int
read_vpc(struct sm_reader *r)
{
	static const char *const keys[] = { "subnets", "security_groups",
		NULL };
	const struct json *block = sm_options_json(r, "vpc"), *nets, *groups;

	if (block == NULL ||
	    (json_type(block) == JSON_OBJECT && json_count(block) == 0))
		return 0;
	if (json_want(block, JSON_OBJECT, r->e) != 0 ||
	    json_only(block, keys, r->e) != 0 ||
	    (nets = json_need(block, "subnets", r->e)) == NULL ||
	    (groups = json_need(block, "security_groups", r->e)) == NULL ||
	    read_texts(&r->s->subnets, nets, SUBNETS_MAX,
		"subnets like \"subnet-0123\"", subnet_good, r->e) != 0)
		return -1;
	return read_texts(&r->s->security_groups, groups, SECURITY_GROUPS_MAX,
	    "security groups like \"sg-0123\"", security_group_good, r->e);
}

int
sm_inputs_read(struct sm_reader *r)
{
	if (read_vpc(r) == -1 || read_inputs(r) == -1)
		return -1;
	return read_tags(r);
}
