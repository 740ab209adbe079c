/*
 * Signatures: the requests of a file, tests/data/aws-sign.json or the one
 * named, each with the canonical request, the string to sign and the signature
 * from botocore (tests/peers/aws_sign.py writes such files); and two examples
 * of AWS's documentation.
 */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "tests/support/tap.h"
#include "trials/aws/sign/aws-sigv4.h"

static const char *
text(const struct json *o, const char *key)
{
	const char *s = json_string(json_get(o, key));

	return s != NULL ? s : "";
}

static int64_t
number(const struct json *o, const char *key)
{
	int64_t n = 0;

	(void)json_integer(json_get(o, key), &n);
	return n;
}

static bool
flag(const struct json *o, const char *key)
{
	bool b = false;

	(void)json_bool(json_get(o, key), &b);
	return b;
}

/* [["name", "value"], …] */
static struct aws_pair *
pairs(const struct json *list, size_t *n)
{
	struct aws_pair *out;
	const struct json *j;

	*n = 0;
	out = xcalloc(json_count(list) + 1, sizeof *out);
	for (j = json_first(list); j != NULL; j = json_next(j)) {
		out[*n].name = json_string(json_first(j));
		out[*n].value = json_string(json_next(json_first(j)));
		++*n;
	}
	return out;
}

struct want {
	struct aws_sigv4 sign;
	struct aws_keys keys;
	struct aws_pair *query, *headers;
};

static void
want_read(struct want *w, const struct json *o)
{
	struct aws_sigv4 *s = &w->sign;

	memset(w, 0, sizeof *w);
	w->keys.id = xstrdup(text(o, "id"));
	w->keys.secret = xstrdup(text(o, "secret"));
	if (json_get(o, "token") != NULL)
		w->keys.token = xstrdup(text(o, "token"));
	w->query = pairs(json_get(o, "query"), &s->n_query);
	w->headers = pairs(json_get(o, "headers"), &s->n_headers);
	s->keys = &w->keys;
	s->query = w->query;
	s->headers = w->headers;
	s->region = text(o, "region");
	s->service = text(o, "service");
	s->time_s = number(o, "time");
	s->method = text(o, "method");
	s->host = text(o, "host");
	s->path = text(o, "path");
	s->path_once = flag(o, "path_once");
	s->body = text(o, "body");
	s->body_len = strlen(s->body);
	s->content_sha256 = flag(o, "content_sha256");
	s->token_unsigned = flag(o, "token_unsigned");
}

static bool
same(const char *what, const char *got, const char *want)
{
	if (strcmp(got, want) == 0)
		return true;
	printf("# %s, got:\n# %s\n# want:\n# %s\n", what, got, want);
	return false;
}

/* The header of this name among those to send, "" when it is not there. */
static const char *
header(char **headers, const char *name)
{
	size_t n = strlen(name);

	for (; *headers != NULL; headers++)
		if (strncmp(*headers, name, n) == 0 &&
		    strncmp(*headers + n, ": ", 2) == 0)
			return *headers + n + 2;
	return "";
}

static bool
want_check(const struct want *w, const struct json *o)
{
	struct buf canonical = { 0 }, string = { 0 };
	char hex[DIGEST_HEX], **headers = aws_sigv4_headers(&w->sign);
	bool good;

	aws_sigv4_canonical(&canonical, &w->sign);
	aws_sigv4_string(&string, &w->sign);
	aws_sigv4_signature(hex, &w->sign);
	good = same("canonical", buf_str(&canonical), text(o, "canonical"));
	good &= same("string", buf_str(&string), text(o, "string"));
	good &= same("signature", hex, text(o, "signature"));
	if (json_get(o, "authorization") != NULL)
		good &= same("header", header(headers, "Authorization"),
		    text(o, "authorization"));
	good &= same(
	    "token", header(headers, "X-Amz-Security-Token"), text(o, "token"));
	buf_free(&canonical);
	buf_free(&string);
	aws_sigv4_free(headers);
	return good;
}

static void
test_file(const char *path)
{
	struct err e = ERR_INIT;
	struct json_doc *doc;
	const struct json *o;
	struct want w;

	if (!ok(json_load(&doc, path, &e) == 0, "the requests are there")) {
		printf("# %s\n", e.text);
		return;
	}
	for (o = json_first(json_root(doc)); o != NULL; o = json_next(o)) {
		want_read(&w, o);
		ok(want_check(&w, o), "%s", text(o, "name"));
		aws_sigv4_keys_fini(&w.keys);
		free(w.query);
		free(w.headers);
	}
	json_free(doc);
}

/* GET / of the test suite, and GetObject with a range of the S3 guide. */
static void
test_documented(void)
{
	static char id[] = "AKIDEXAMPLE", s3_id[] = "AKIAIOSFODNN7EXAMPLE",
		    secret[] = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
		    s3_secret[] = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
	const struct aws_keys keys = { id, secret, NULL },
			      s3_keys = { s3_id, s3_secret, NULL };
	const struct aws_pair range = { "Range", "bytes=0-9" };
	const struct aws_sigv4 vanilla = { .keys = &keys,
		.region = "us-east-1",
		.service = "service",
		.time_s = 1440938160,
		.method = "GET",
		.host = "example.amazonaws.com",
		.path = "/" };
	const struct aws_sigv4 s3 = { .keys = &s3_keys,
		.region = "us-east-1",
		.service = "s3",
		.time_s = 1369353600,
		.method = "GET",
		.host = "examplebucket.s3.amazonaws.com",
		.path = "/test.txt",
		.path_once = true,
		.headers = &range,
		.n_headers = 1,
		.content_sha256 = true };
	char hex[DIGEST_HEX];

	aws_sigv4_signature(hex, &vanilla);
	is_str(hex,
	    "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
	    "the plainest request");
	aws_sigv4_signature(hex, &s3);
	is_str(hex,
	    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
	    "an object of S3");
}

/* A token that is added after signing leaves the signature as it was. */
static void
test_token(void)
{
	static char id[] = "A", secret[] = "B", token[] = "C";
	struct aws_keys keys = { id, secret, NULL };
	struct aws_sigv4 s = { .keys = &keys,
		.region = "r",
		.service = "s",
		.method = "GET",
		.host = "h",
		.path = "/" };
	char without[DIGEST_HEX], with[DIGEST_HEX], **headers;

	aws_sigv4_signature(without, &s);
	keys.token = token;
	aws_sigv4_signature(with, &s);
	ok(strcmp(with, without) != 0, "a token is signed");
	s.token_unsigned = true;
	aws_sigv4_signature(with, &s);
	is_str(with, without, "or not, when the service wants it so");
	headers = aws_sigv4_headers(&s);
	is_str(header(headers, "X-Amz-Security-Token"), "C", "and sent");
	aws_sigv4_free(headers);
}

int
main(int argc, char **argv)
{
	const char *top = getenv("TOP_SRCDIR");
	char *path = argc > 1 ? xstrdup(argv[1])
			      : xasprintf("%s/tests/data/aws-sign.json",
				    top != NULL ? top : ".");

	test_file(path);
	test_documented();
	test_token();
	free(path);
	return done_testing();
}
