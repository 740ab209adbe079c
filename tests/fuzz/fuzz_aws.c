/*
 * Arbitrary bytes as an answer of AWS.  The first one selects the form: j JSON
 * and 200, e JSON and 400, x XML and 404, l a list, w S3's "wrong region".  A
 * parsed answer is never a success by mistake and never contains a key.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "trials/aws/aws-internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
need(bool good)
{
	if (!good)
		abort();
}

static void
check_text(const struct aws_parsed *said, int status)
{
	char id[] = "AKID", secret[] = "SECRETkey", token[] = "TOKENkey";
	char operation[] = "Operation";
	struct aws_keys keys = { .id = id, .secret = secret, .token = token };
	struct aws_queue q = { .service = AWS_S3, .operation = operation };
	char *text = aws_message(&keys, &q, said, status, "id\n1");
	size_t at, n = strlen(text);
	uint32_t code;
	int used;

	need(n < 4000);
	need(strstr(text, secret) == NULL && strstr(text, token) == NULL);
	for (at = 0; at < n; at += (size_t)used) {
		used = text_decode(text + at, n - at, &code);
		need(used > 0 && !text_is_control(code));
	}
	free(text);
}

static void
check_page(const struct aws_s3_page *p)
{
	size_t i;

	need(p->token == NULL || p->token[0] != '\0');
	for (i = 0; i < p->n; i++)
		need(p->objects[i].key[0] != '\0' && p->objects[i].size >= 0);
}

static void
check(aws_read_fn *read, struct aws_raw raw)
{
	struct aws_parsed said = { 0 };

	read(&said, &raw);
	need(said.code != NULL && said.text != NULL);
	need((said.what == AWS_OK) == (raw.status == 200 && !said.broken));
	if (said.what == AWS_OK && said.doc != NULL)
		need(json_type(json_root(said.doc)) == JSON_OBJECT);
	check_page(&said.page);
	check_text(&said, raw.status);
	aws_parsed_fini(&said);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct aws_raw raw = { .method = "GET", .region = "eu-west-1" };
	char *body;

	if (size == 0)
		return 0;
	/* As http hands it over: a NUL follows. */
	body = xmalloc(size);
	memcpy(body, data + 1, size - 1);
	body[size - 1] = '\0';
	raw.body = body;
	raw.len = size - 1;
	switch (data[0]) {
	case 'e':
		raw.status = 400;
		check(aws_json_read, raw);
		break;
	case 'x':
		raw.status = 404;
		check(aws_xml_read, raw);
		break;
	case 'l':
		raw.status = 200;
		check(aws_xml_read_list, raw);
		break;
	case 'w':
		raw.status = 301;
		raw.bucket_region = body;
		check(aws_xml_read, raw);
		break;
	default:
		raw.status = 200;
		check(aws_json_read, raw);
		break;
	}
	free(body);
	return 0;
}
