/*
 * Messages for people: one clause of limited length, without control characters
 * and keys.  Also small texts of requests.
 */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "trials/aws/aws-internal.h"

enum { TEXT_BYTES = 600, ID_BYTES = 100 };

void
aws_parsed_set(struct aws_parsed *s, enum aws_class what, const char *code,
    const char *text)
{
	free(s->code);
	free(s->text);
	s->what = what;
	s->code = xstrdup(code);
	s->text = xstrdup(text);
}

void
aws_parsed_fini(struct aws_parsed *s)
{
	free(s->code);
	free(s->text);
	json_free(s->doc);
	aws_s3_page_fini(&s->page);
	*s = (struct aws_parsed){ 0 };
}

void
aws_s3_page_fini(struct aws_s3_page *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		free((char *)p->objects[i].key);
	free(p->objects);
	free(p->token);
	*p = (struct aws_s3_page){ 0 };
}

void
aws_pair_add(
    struct aws_pair **pairs, size_t *n, const char *name, const char *value)
{
	*pairs = xreallocarray(*pairs, *n + 1, sizeof **pairs);
	(*pairs)[(*n)++] =
	    (struct aws_pair){ .name = xstrdup(name), .value = xstrdup(value) };
}

static void
pairs_free(struct aws_pair *pairs, size_t n)
{
	while (n-- > 0) {
		free((char *)pairs[n].name);
		free((char *)pairs[n].value);
	}
	free(pairs);
}

void
aws_request_fini(struct aws_request *r)
{
	free(r->host);
	free(r->path);
	free(r->body);
	pairs_free(r->query, r->n_query);
	pairs_free(r->headers, r->n_headers);
	*r = (struct aws_request){ 0 };
}

/* Every place where secret stands becomes "(hidden)". */
static void
text_mask(struct buf *b, const char *secret)
{
	struct buf out = { 0 };
	const char *p = buf_str(b), *at;

	if (secret == NULL || secret[0] == '\0' || strstr(p, secret) == NULL)
		return;
	while ((at = strstr(p, secret)) != NULL) {
		buf_add(&out, p, (size_t)(at - p));
		buf_puts(&out, "(hidden)");
		p = at + strlen(secret);
	}
	buf_puts(&out, p);
	buf_free(b);
	*b = out;
}

/*
 * A SignatureDoesNotMatch error quotes the request with the session token.  Cut
 * the message there.
 */
static size_t
text_end(const char *text)
{
	static const char *const marks[] = { "canonical string",
		"canonical request", "string-to-sign" };
	size_t n = strlen(text), i;
	const char *at;

	for (i = 0; i < sizeof marks / sizeof marks[0]; i++) {
		at = strcasestr(text, marks[i]);
		if (at == NULL || (size_t)(at - text) >= n)
			continue;
		n = (size_t)(at - text);
		while (n > 0 && text[n - 1] != '.' && text[n - 1] != '\n')
			n--;
	}
	return n;
}

/* Blanks collapsed, cut to most bytes between two characters. */
static void
text_put_line(struct buf *b, const char *text, size_t n, size_t most)
{
	struct buf line = { 0 };
	size_t i;
	bool cut;

	for (i = 0; i < n; i++)
		if (!isspace((unsigned char)text[i]))
			buf_putc(&line, text[i]);
		else if (line.len > 0 && line.data[line.len - 1] != ' ')
			buf_putc(&line, ' ');
	n = line.len;
	while (n > 0 && line.data[n - 1] == ' ')
		n--;
	cut = n > most;
	if (cut) {
		n = most;
		while (n > 0 && ((unsigned char)line.data[n] & 0xc0) == 0x80)
			n--;
	}
	text_put_harmless(b, buf_str(&line), n, TEXT_LINE);
	if (cut)
		buf_puts(b, "...");
	buf_free(&line);
}

static void
text_put_details(
    struct buf *b, const struct aws_parsed *said, const char *request_id)
{
	const char *code = said->code != NULL ? said->code : "";
	bool id = request_id != NULL && request_id[0] != '\0';

	if (code[0] == '\0' && !id)
		return;
	buf_puts(b, " (");
	text_put_line(b, code, strlen(code), ID_BYTES);
	if (id) {
		buf_puts(b, code[0] != '\0' ? ", request " : "request ");
		text_put_line(b, request_id, strlen(request_id), ID_BYTES);
	}
	buf_putc(b, ')');
}

char *
aws_message(const struct aws_keys *keys, const struct aws_queue *q,
    const struct aws_parsed *said, int status, const char *request_id)
{
	const char *text = said->text != NULL ? said->text : "";
	struct buf whole = { 0 }, b = { 0 };

	/* Masked before it is cut: half a key is too much. */
	buf_add(&whole, text, text_end(text));
	text_mask(&whole, keys->secret);
	text_mask(&whole, keys->token);
	buf_printf(
	    &b, "%s %s: ", aws_endpoint_service_name(q->service), q->operation);
	if (whole.len > 0)
		text_put_line(&b, whole.data, whole.len, TEXT_BYTES);
	else
		buf_printf(&b, "the answer was HTTP status %d", status);
	text_put_details(&b, said, request_id);
	text_mask(&b, keys->secret);
	text_mask(&b, keys->token);
	buf_free(&whole);
	return buf_take(&b);
}
