/* XML answers: accepted and rejected input. */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/xml.h"
#include "tests/support/tap.h"

static struct xml *
parse(const char *text)
{
	struct err e = ERR_INIT;
	struct xml *x = NULL;

	if (xml_parse(&x, text, strlen(text), &e) == -1)
		printf("# %s\n", e.text);
	return x;
}

static const char list[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<ListBucketResult xmlns=\"http://example.org/doc/\">"
    "<IsTruncated>false</IsTruncated>\n"
    "<Contents><Key>a &amp; b&#x21;</Key><Size>1</Size></Contents>\n"
    "<Contents><Key><![CDATA[<c>]]></Key><Size>22</Size></Contents>\n"
    "<s:Owner xmlns:s=\"http://example.org/\"><s:ID/></s:Owner>"
    "</ListBucketResult>\n";

static void
test_tree(void)
{
	struct xml *root = parse(list);
	const struct xml *c;

	if (!ok(root != NULL, "a list"))
		return;
	is_str(xml_name(root), "ListBucketResult", "its root");
	is_str(xml_get(root, "IsTruncated"), "false", "a child");
	is_str(xml_get(root, "Contents/Key"), "a & b!", "the first of a path");
	is_str(xml_get(root, "Owner/ID"), "", "prefixes are gone");
	ok(xml_get(root, "Content") == NULL, "no beginning of a name");
	ok(xml_get(root, "Contents/Keys") == NULL, "no longer name");
	ok(xml_get(root, "Contents/Key/x") == NULL, "nothing below a leaf");
	c = xml_first(root, "Contents");
	ok(c != NULL, "the first of a name");
	c = xml_next(c, "Contents");
	is_str(xml_get(c, "Key"), "<c>", "the next one");
	ok(xml_next(c, "Contents") == NULL, "and no third");
	is_str(xml_name(xml_next(c, NULL)), "Owner", "whatever comes next");
	is_str(xml_name(xml_first(root, NULL)), "IsTruncated", "or first");
	xml_free(root);
	root = parse("<a>one<b/>two</a>");
	is_str(xml_text(root), "onetwo", "text around a child");
	xml_free(root);
	xml_free(NULL);
}

static void
refused(const char *text, const char *why, const char *what)
{
	struct err e = ERR_INIT;
	struct xml *x = (struct xml *)&e;

	ok(xml_parse(&x, text, strlen(text), &e) == -1 && x == NULL &&
		e.kind == ERR_REMOTE && strstr(e.text, why) != NULL,
	    "%s: %s", what, e.text);
}

/* depth elements in each other, or many beside each other. */
static char *
nested(size_t depth, size_t many)
{
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < depth; i++)
		buf_puts(&b, "<a>");
	for (i = 0; i < many; i++)
		buf_puts(&b, "<a/>");
	for (i = 0; i < depth; i++)
		buf_puts(&b, "</a>");
	return buf_take(&b);
}

static void
test_bounds(void)
{
	char *text = nested(32, 0);
	struct xml *x = parse(text);

	ok(x != NULL, "32 levels");
	xml_free(x);
	free(text);
	text = nested(32, 1);
	refused(text, "nested too deeply", "33 levels");
	free(text);
	text = nested(1, 99999);
	x = parse(text);
	ok(x != NULL, "100,000 elements");
	xml_free(x);
	free(text);
	text = nested(1, 100000);
	refused(text, "too many elements", "one more");
	free(text);
}

static void
test_refused(void)
{
	refused("", "no element", "nothing");
	refused("{\"json\": 1}", "line 1", "no XML");
	refused("<a>\n<b></a>", "line 2", "a tag that does not fit");
	refused("<a></a><b/>", "line 1", "two roots");
	refused("<a>\xff</a>", "line 1", "bytes that are not UTF-8");
	refused("<a>&what;</a>", "undefined entity", "an unknown entity");
	refused("<!DOCTYPE a [<!ENTITY l \"lol\"><!ENTITY m \"&l;&l;&l;\">]>"
		"<a>&m;</a>",
	    "declares entities", "laughter");
	refused("<!DOCTYPE a [<!ENTITY f SYSTEM \"file:///etc/passwd\">]>"
		"<a>&f;</a>",
	    "declares entities", "a file");
	refused("<!DOCTYPE a [<!ENTITY % p \"x\">]><a/>", "declares entities",
	    "a parameter");
}

int
main(void)
{
	test_tree();
	test_bounds();
	test_refused();
	return done_testing();
}
