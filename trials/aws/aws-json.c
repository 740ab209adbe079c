/* JSON services: requests and parsing of responses, which are not trusted. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "trials/aws/aws-call.h"
#include "trials/aws/aws-internal.h"

enum { JSON_TIMEOUT_MS = 30 * 1000 };

static const struct {
	const char *target, *type;
} protocols[AWS_SERVICES] = {
	[AWS_SAGEMAKER] = { "SageMaker", "application/x-amz-json-1.1" },
	[AWS_LOGS] = { "Logs_20140328", "application/x-amz-json-1.1" },
	[AWS_CLOUDWATCH] = { "GraniteServiceVersion20100801",
	    "application/x-amz-json-1.0" },
	[AWS_EVENTS] = { "AWSEvents", "application/x-amz-json-1.1" },
	[AWS_SQS] = { "AmazonSQS", "application/x-amz-json-1.0" },
};

/* Length of the "\uXXXX" at s; *good: it is a valid character. */
static size_t
escape_take(const char *s, size_t n, bool *good)
{
	int code = text_hex4(s + 2, n - 2), low;

	*good = true;
	if (code < 0)
		return 2;
	*good = code != 0 && (code < 0xd800 || code > 0xdfff);
	if (code < 0xd800 || code > 0xdbff || n < 12 || s[6] != '\\' ||
	    s[7] != 'u')
		return 6;
	low = text_hex4(s + 8, n - 8);
	if (low < 0xdc00 || low > 0xdfff)
		return 6;
	*good = true;
	return 12;
}

/*
 * Logs contain arbitrary bytes of trials: replace what the JSON parser rejects
 * inside a string by U+FFFD.
 */
static void
json_mend(struct buf *b, const char *s, size_t n)
{
	size_t i, take;
	uint32_t code;
	int used;
	bool good;

	for (i = 0; i < n; i += take) {
		take = 1;
		good = true;
		if (s[i] == '\\' && i + 1 < n) {
			take = 2;
			if (s[i + 1] == 'u')
				take = escape_take(s + i, n - i, &good);
		} else if ((unsigned char)s[i] < ' ') {
			buf_putc(b, ' ');
			continue;
		} else if ((unsigned char)s[i] >= 0x80) {
			used = text_decode(s + i, n - i, &code);
			good = used > 0;
			take = good ? (size_t)used : 1;
		}
		if (good)
			buf_add(b, s + i, take);
		else
			buf_puts(b, "\xef\xbf\xbd");
	}
}

static struct json_doc *
aws_json_take(const char *body, size_t len, struct err *e)
{
	struct json_doc *doc = NULL;
	struct buf mended = { 0 };

	if (json_parse(&doc, body, len, NULL, false, e) == 0)
		return doc;
	json_mend(&mended, body, len);
	if (json_parse(&doc, buf_str(&mended), mended.len, NULL, false, NULL) !=
	    0)
		doc = NULL;
	buf_free(&mended);
	return doc;
}

static bool
aws_json_is_blank(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strchr(" \t\r\n", s[i]) == NULL || s[i] == '\0')
			return false;
	return true;
}

/* Parse the body of a 2xx answer. */
static void
read_good(struct aws_parsed *said, const struct aws_raw *raw)
{
	struct err e = ERR_INIT;
	char *text;

	aws_parsed_set(said, AWS_OK, "", "");
	if (aws_json_is_blank(raw->body, raw->len))
		return;
	said->doc = aws_json_take(raw->body, raw->len, &e);
	if (said->doc != NULL && json_type(json_root(said->doc)) == JSON_OBJECT)
		return;
	text = xasprintf("the answer is not a JSON object%s%s",
	    e.kind != ERR_NONE ? ": " : "", e.text);
	aws_parsed_set(said, AWS_TRANSIENT, "", text);
	said->broken = true;
	free(text);
}

static const char *
aws_json_member(const struct json *root, const char *a, const char *b)
{
	const char *s = json_string(json_get(root, a));

	return s != NULL ? s : json_string(json_get(root, b));
}

/* A body that is not AWS's JSON, e.g. of a proxy: retry. */
static void
aws_json_read_foreign(struct aws_parsed *said, const struct aws_raw *raw)
{
	enum aws_class what = aws_retry_classify(raw->status, "", "");
	char *text;

	text = xasprintf(
	    "HTTP status %d with an answer that is not AWS's", raw->status);
	aws_parsed_set(said,
	    what == AWS_THROTTLE ? AWS_THROTTLE : AWS_TRANSIENT, "", text);
	free(text);
}

static void
aws_json_read_error(struct aws_parsed *said, const struct aws_raw *raw)
{
	const struct json *root = NULL;
	const char *code = NULL, *text = NULL;
	enum aws_class what;
	char *plain;

	said->doc = aws_json_take(raw->body, raw->len, NULL);
	if (said->doc != NULL && json_type(json_root(said->doc)) == JSON_OBJECT)
		root = json_root(said->doc);
	if (root != NULL) {
		code = aws_json_member(root, "__type", "code");
		text = aws_json_member(root, "message", "Message");
	}
	if (raw->errortype != NULL)
		code = raw->errortype;
	if (code == NULL && text == NULL) {
		aws_json_read_foreign(said, raw);
		return;
	}
	plain = aws_retry_plain_code(code != NULL ? code : "");
	text = text != NULL ? text : "";
	what = aws_retry_classify(raw->status, plain, text);
	/*
	 * For EventBridge this code means a quota of the account, not a rate.
	 */
	if (raw->service == AWS_EVENTS && what == AWS_THROTTLE &&
	    strcmp(plain, "LimitExceededException") == 0)
		what = AWS_QUOTA;
	/* A service of AWS answers 400; a bare 404 is some other server's. */
	if (plain[0] == '\0' && what == AWS_MISSING)
		what = AWS_CALLER;
	aws_parsed_set(said, what, plain, text);
	free(plain);
}

void
aws_json_read(struct aws_parsed *said, const struct aws_raw *raw)
{
	if (raw->status >= 200 && raw->status < 300)
		read_good(said, raw);
	else
		aws_json_read_error(said, raw);
}

static void
aws_json_request_fill(struct aws_request *r, const struct aws_endpoint *p,
    const struct aws_ask *ask)
{
	char *target =
	    xasprintf("%s.%s", protocols[ask->service].target, ask->operation);
	const char *body = ask->body != NULL ? ask->body : "{}";

	*r = (struct aws_request){
		.method = "POST",
		.host = xstrdup(p->host),
		.path = xasprintf("%s/", p->path),
		.plain = p->plain,
		.body = xstrdup(body),
		.len = strlen(body),
		.timeout_ms =
		    ask->timeout_ms > 0 ? ask->timeout_ms : JSON_TIMEOUT_MS,
	};
	aws_pair_add(&r->headers, &r->n_headers, "Content-Type",
	    protocols[ask->service].type);
	aws_pair_add(&r->headers, &r->n_headers, "X-Amz-Target", target);
	free(target);
}

struct aws_call *
aws_json(struct aws *aws, const struct aws_ask *ask, aws_cb *cb, void *arg)
{
	return aws_call_ask(
	    aws, ask, aws_json_request_fill, aws_json_read, cb, arg);
}
