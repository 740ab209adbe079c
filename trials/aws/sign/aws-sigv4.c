/*
 * Signature version 4: canonical request, string to sign, key derivation,
 * headers.
 */

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "src/base/digest.h"
#include "src/base/http/http.h"
#include "src/base/mem.h"
#include "trials/aws/sign/aws-sigv4.h"

/* "20150830T123600Z" */
#define STAMP_LEN 17
#define DAY_LEN 8

static void
stamp_write(char out[STAMP_LEN], int64_t time_s)
{
	time_t t = (time_t)time_s;
	struct tm tm;

	memset(&tm, 0, sizeof tm);
	(void)gmtime_r(&t, &tm);
	if (strftime(out, STAMP_LEN, "%Y%m%dT%H%M%SZ", &tm) == 0)
		memcpy(out, "00000000T000000Z", STAMP_LEN);
}

/* day/region/service/aws4_request */
static void
put_scope(struct buf *b, const struct aws_sigv4 *s)
{
	char stamp[STAMP_LEN];

	stamp_write(stamp, s->time_s);
	buf_add(b, stamp, DAY_LEN);
	buf_printf(b, "/%s/%s/aws4_request", s->region, s->service);
}

/* Remove the last "/part". */
static void
drop_part(struct buf *b)
{
	while (b->len > 0 && b->data[b->len - 1] != '/')
		b->len--;
	if (b->len > 0)
		b->data[--b->len] = '\0';
}

/*
 * RFC 3986, 5.2.4, and "//" is "/": what every service but S3 does.  Only a
 * slash that was written ends the path.
 */
static void
put_normal_path(struct buf *b, const char *path)
{
	struct buf out = { 0 };
	const char *p;
	size_t n;

	for (p = path + strspn(path, "/"); *p != '\0'; p += strspn(p, "/")) {
		n = strcspn(p, "/");
		if (n == 2 && memcmp(p, "..", 2) == 0) {
			drop_part(&out);
		} else if (n != 1 || *p != '.') {
			buf_putc(&out, '/');
			buf_add(&out, p, n);
		}
		p += n;
	}
	if (out.len == 0 || (p > path && p[-1] == '/'))
		buf_putc(&out, '/');
	http_put_encoded(b, out.data, out.len, true);
	buf_free(&out);
}

static void
put_path(struct buf *b, const struct aws_sigv4 *s)
{
	if (s->path_once)
		buf_puts(b, *s->path != '\0' ? s->path : "/");
	else
		put_normal_path(b, s->path);
}

/* One pair of the query, encoded. */
struct pair {
	char *name, *value;
};

static int
pair_cmp(const void *av, const void *bv)
{
	const struct pair *a = av, *b = bv;
	int c = strcmp(a->name, b->name);

	return c != 0 ? c : strcmp(a->value, b->value);
}

static char *
encoded(const char *s)
{
	struct buf b = { 0 };

	http_put_encoded(&b, s, strlen(s), false);
	return b.data != NULL ? buf_take(&b) : xstrdup("");
}

void
aws_sigv4_put_query(struct buf *b, const struct aws_pair *q, size_t n)
{
	struct pair *pairs;
	size_t i;

	if (n == 0)
		return;
	pairs = xcalloc(n, sizeof *pairs);
	for (i = 0; i < n; i++) {
		pairs[i].name = encoded(q[i].name);
		pairs[i].value = encoded(q[i].value);
	}
	qsort(pairs, n, sizeof *pairs, pair_cmp);
	for (i = 0; i < n; i++) {
		buf_printf(b, "%s%s=%s", i > 0 ? "&" : "", pairs[i].name,
		    pairs[i].value);
		free(pairs[i].name);
		free(pairs[i].value);
	}
	free(pairs);
}

/* Headers to sign: given ones and our own, sorted by name. */
struct heads {
	struct aws_pair *list;
	size_t n;
	char stamp[STAMP_LEN];
	char digest[DIGEST_HEX];
};

/* By insertion, so that several of one name stay in their order. */
static void
heads_add(struct heads *h, const char *name, const char *value)
{
	size_t at = h->n++;

	for (; at > 0 && strcasecmp(h->list[at - 1].name, name) > 0; at--)
		h->list[at] = h->list[at - 1];
	h->list[at] = (struct aws_pair){ name, value };
}

static void
heads_make(struct heads *h, const struct aws_sigv4 *s)
{
	size_t i;

	memset(h, 0, sizeof *h);
	h->list = xcalloc(s->n_headers + 4, sizeof *h->list);
	stamp_write(h->stamp, s->time_s);
	sha256_hex(h->digest, s->body, s->body_len);
	heads_add(h, "host", s->host);
	heads_add(h, "x-amz-date", h->stamp);
	if (s->content_sha256)
		heads_add(h, "x-amz-content-sha256", h->digest);
	if (s->keys->token != NULL && !s->token_unsigned)
		heads_add(h, "x-amz-security-token", s->keys->token);
	for (i = 0; i < s->n_headers; i++)
		heads_add(h, s->headers[i].name, s->headers[i].value);
}

static bool
heads_again(const struct heads *h, size_t i)
{
	return i > 0 && strcasecmp(h->list[i].name, h->list[i - 1].name) == 0;
}

static void
put_lower(struct buf *b, const char *s)
{
	for (; *s != '\0'; s++)
		buf_putc(b, *s >= 'A' && *s <= 'Z' ? (char)(*s | 0x20) : *s);
}

/* Trimmed, with runs of blanks reduced to one. */
static void
put_trimmed(struct buf *b, const char *s)
{
	static const char blanks[] = " \t\r\n\v\f";
	bool first = true;
	size_t n;

	for (s += strspn(s, blanks); *s != '\0'; s += strspn(s, blanks)) {
		if (!first)
			buf_putc(b, ' ');
		first = false;
		n = strcspn(s, blanks);
		buf_add(b, s, n);
		s += n;
	}
}

static void
put_heads(struct buf *b, const struct heads *h)
{
	size_t i;

	for (i = 0; i < h->n; i++) {
		if (heads_again(h, i)) {
			b->data[b->len - 1] = ','; /* was a line's end */
		} else {
			put_lower(b, h->list[i].name);
			buf_putc(b, ':');
		}
		put_trimmed(b, h->list[i].value);
		buf_putc(b, '\n');
	}
}

static void
put_names(struct buf *b, const struct heads *h)
{
	size_t i;

	for (i = 0; i < h->n; i++) {
		if (heads_again(h, i))
			continue;
		if (i > 0)
			buf_putc(b, ';');
		put_lower(b, h->list[i].name);
	}
}

static void
put_canonical(struct buf *b, const struct aws_sigv4 *s, const struct heads *h)
{
	buf_printf(b, "%s\n", s->method);
	put_path(b, s);
	buf_putc(b, '\n');
	aws_sigv4_put_query(b, s->query, s->n_query);
	buf_putc(b, '\n');
	put_heads(b, h);
	buf_putc(b, '\n');
	put_names(b, h);
	buf_printf(b, "\n%s", h->digest);
}

void
aws_sigv4_canonical(struct buf *b, const struct aws_sigv4 *s)
{
	struct heads h;

	heads_make(&h, s);
	put_canonical(b, s, &h);
	free(h.list);
}

/* The buffer may contain the session token. */
static void
sigv4_wipe(struct buf *b)
{
	if (b->data != NULL)
		explicit_bzero(b->data, b->cap);
	buf_free(b);
}

void
aws_sigv4_string(struct buf *b, const struct aws_sigv4 *s)
{
	struct buf canonical = { 0 };
	char hex[DIGEST_HEX], stamp[STAMP_LEN];

	aws_sigv4_canonical(&canonical, s);
	sha256_hex(hex, canonical.data, canonical.len);
	sigv4_wipe(&canonical);
	stamp_write(stamp, s->time_s);
	buf_printf(b, "AWS4-HMAC-SHA256\n%s\n", stamp);
	put_scope(b, s);
	buf_printf(b, "\n%s", hex);
}

/* secret -> day -> region -> service -> "aws4_request" */
static void
signing_key(unsigned char key[DIGEST_LEN], const struct aws_sigv4 *s)
{
	const char *const chain[] = { s->region, s->service, "aws4_request" };
	size_t n = strlen(s->keys->secret) + 4, i;
	char *first = xasprintf("AWS4%s", s->keys->secret);
	unsigned char next[DIGEST_LEN];
	char stamp[STAMP_LEN];

	stamp_write(stamp, s->time_s);
	hmac_sha256(key, first, n, stamp, DAY_LEN);
	explicit_bzero(first, n);
	free(first);
	for (i = 0; i < sizeof chain / sizeof chain[0]; i++) {
		hmac_sha256(next, key, DIGEST_LEN, chain[i], strlen(chain[i]));
		memcpy(key, next, DIGEST_LEN);
	}
	explicit_bzero(next, sizeof next);
}

void
aws_sigv4_signature(char out[DIGEST_HEX], const struct aws_sigv4 *s)
{
	unsigned char key[DIGEST_LEN], mac[DIGEST_LEN];
	struct buf text = { 0 };

	signing_key(key, s);
	aws_sigv4_string(&text, s);
	hmac_sha256(mac, key, sizeof key, text.data, text.len);
	digest_hex(out, mac);
	explicit_bzero(key, sizeof key);
	buf_free(&text);
}

static char *
authorization(const struct aws_sigv4 *s, const struct heads *h)
{
	struct buf b = { 0 };
	char hex[DIGEST_HEX];

	aws_sigv4_signature(hex, s);
	buf_printf(
	    &b, "Authorization: AWS4-HMAC-SHA256 Credential=%s/", s->keys->id);
	put_scope(&b, s);
	buf_puts(&b, ", SignedHeaders=");
	put_names(&b, h);
	buf_printf(&b, ", Signature=%s", hex);
	return buf_take(&b);
}

char **
aws_sigv4_headers(const struct aws_sigv4 *s)
{
	char **out = xcalloc(5, sizeof *out);
	struct heads h;
	size_t n = 0;

	heads_make(&h, s);
	out[n++] = authorization(s, &h);
	out[n++] = xasprintf("X-Amz-Date: %s", h.stamp);
	if (s->content_sha256)
		out[n++] = xasprintf("X-Amz-Content-Sha256: %s", h.digest);
	if (s->keys->token != NULL)
		out[n++] =
		    xasprintf("X-Amz-Security-Token: %s", s->keys->token);
	free(h.list);
	return out;
}

static void
wipe_text(char **s)
{
	if (*s != NULL)
		explicit_bzero(*s, strlen(*s));
	free(*s);
	*s = NULL;
}

void
aws_sigv4_free(char **headers)
{
	size_t i;

	for (i = 0; headers != NULL && headers[i] != NULL; i++)
		wipe_text(&headers[i]);
	free(headers);
}

void
aws_sigv4_keys_fini(struct aws_keys *k)
{
	wipe_text(&k->id);
	wipe_text(&k->secret);
	wipe_text(&k->token);
}
