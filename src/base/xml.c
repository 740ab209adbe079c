/*
 * Builds a tree from expat's events.  The text is untrusted: depth, elements
 * and entities are limited.
 */

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <expat.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/xml.h"

enum { DEPTH_MAX = 32, ELEMENTS_MAX = 100000 };

struct xml {
	struct xml *parent, *next;
	struct xml *first, *last; /* children */
	char *name;
	struct buf text;
};

struct reader {
	XML_Parser parser;
	struct xml *root, *at; /* at: the innermost open element */
	size_t depth, elements;
	const char *wrong; /* why the document is rejected, or NULL */
};

/* Expat may call handlers a few more times after an error. */
static void
refuse(struct reader *r, const char *why)
{
	if (r->wrong == NULL)
		r->wrong = why;
	(void)XML_StopParser(r->parser, XML_FALSE);
}

static struct xml *
element_new(struct xml *parent, const char *name)
{
	struct xml *x = xcalloc(1, sizeof *x);
	const char *colon = strrchr(name, ':');

	x->name = xstrdup(colon != NULL ? colon + 1 : name);
	x->parent = parent;
	if (parent == NULL)
		return x;
	if (parent->last != NULL)
		parent->last->next = x;
	else
		parent->first = x;
	parent->last = x;
	return x;
}

static void
on_start(void *arg, const char *name, const char **attributes)
{
	struct reader *r = arg;
	struct xml *x;

	(void)attributes;
	if (r->wrong != NULL)
		return;
	if (++r->depth > DEPTH_MAX) {
		refuse(r, "it is nested too deeply");
		return;
	}
	if (++r->elements > ELEMENTS_MAX) {
		refuse(r, "it has too many elements");
		return;
	}
	x = element_new(r->at, name);
	if (r->at == NULL)
		r->root = x;
	r->at = x;
}

static void
xml_on_end(void *arg, const char *name)
{
	struct reader *r = arg;

	(void)name;
	if (r->wrong != NULL)
		return;
	r->depth--;
	r->at = r->at->parent;
}

static void
on_text(void *arg, const char *text, int len)
{
	struct reader *r = arg;

	if (r->wrong == NULL)
		buf_add(&r->at->text, text, (size_t)len);
}

static void
on_entity(void *arg, const char *name, int is_parameter, const char *value,
    int value_len, const char *base, const char *system, const char *public,
    const char *notation)
{
	(void)name;
	(void)is_parameter;
	(void)value;
	(void)value_len;
	(void)base;
	(void)system;
	(void)public;
	(void)notation;
	refuse(arg, "it declares entities");
}

/* Where the reader is; newer versions of expat deprecate the other function. */
static unsigned long long
xml_line(const struct reader *r)
{
#if HAVE_DECL_XML_GETCURRENTLINENUMBER64
	return XML_GetCurrentLineNumber64(r->parser);
#else
	return XML_GetCurrentLineNumber(r->parser);
#endif
}

static int
read_all(struct reader *r, const char *text, size_t len, struct err *e)
{
	if (len > INT_MAX)
		return err_set(e, ERR_REMOTE, "the XML is too long");
	XML_SetUserData(r->parser, r);
	XML_SetElementHandler(r->parser, on_start, xml_on_end);
	XML_SetCharacterDataHandler(r->parser, on_text);
	XML_SetEntityDeclHandler(r->parser, on_entity);
	if (XML_Parse(r->parser, text, (int)len, XML_TRUE) == XML_STATUS_OK)
		return 0;
	return err_set(e, ERR_REMOTE, "the XML cannot be read, line %llu: %s",
	    xml_line(r),
	    r->wrong != NULL ? r->wrong
			     : XML_ErrorString(XML_GetErrorCode(r->parser)));
}

int
xml_parse(struct xml **out, const char *text, size_t len, struct err *e)
{
	struct reader r = { .parser = XML_ParserCreate(NULL) };
	int rc;

	if (r.parser == NULL)
		mem_fail();
	rc = read_all(&r, text, len, e);
	XML_ParserFree(r.parser);
	if (rc == -1) {
		xml_free(r.root);
		r.root = NULL;
	}
	*out = r.root;
	return rc;
}

void
xml_free(struct xml *x)
{
	struct xml *child;

	if (x == NULL)
		return;
	while ((child = x->first) != NULL) {
		x->first = child->next;
		xml_free(child);
	}
	buf_free(&x->text);
	free(x->name);
	free(x);
}

const char *
xml_name(const struct xml *x)
{
	return x->name;
}

const char *
xml_text(const struct xml *x)
{
	return buf_str(&x->text);
}

/* x or its first following sibling of this name (len bytes). */
static const struct xml *
xml_find(const struct xml *x, const char *name, size_t len)
{
	while (x != NULL &&
	       (strncmp(x->name, name, len) != 0 || x->name[len] != '\0'))
		x = x->next;
	return x;
}

const struct xml *
xml_first(const struct xml *x, const char *name)
{
	return name == NULL ? x->first : xml_find(x->first, name, strlen(name));
}

const struct xml *
xml_next(const struct xml *x, const char *name)
{
	return name == NULL ? x->next : xml_find(x->next, name, strlen(name));
}

const char *
xml_get(const struct xml *x, const char *path)
{
	size_t len;

	for (;;) {
		len = strcspn(path, "/");
		x = xml_find(x->first, path, len);
		if (x == NULL)
			return NULL;
		if (path[len] == '\0')
			return xml_text(x);
		path += len + 1;
	}
}
