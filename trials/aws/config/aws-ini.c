/*
 * Parses the shared files line by line.  Input is untrusted, and errors do not
 * quote it: a secret may be in the wrong place.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/mem.h"
#include "trials/aws/config/aws-ini.h"

enum { INI_BYTES_MAX = 1 << 20 };

static const char blanks[] = " \t\r\n\v\f";

struct item {
	size_t section;
	char *key; /* in lower case */
	char *sub; /* NULL for a plain value */
	char *value;
};

struct aws_ini {
	char **sections;
	size_t n_sections;
	struct item *items;
	size_t n;
};

struct parse {
	struct aws_ini *ini;
	const char *file;
	size_t line; /* the current one, from 1 */
	char *key; /* key whose value is being parsed, or NULL */
	size_t key_line;
	size_t indent;
	struct buf value;
};

/* A piece of the text. */
struct span {
	const char *s;
	size_t n;
};

static bool
ini_is_blank(char c)
{
	return c != '\0' && strchr(blanks, c) != NULL;
}

static struct span
trimmed(struct span t)
{
	while (t.n > 0 && ini_is_blank(*t.s)) {
		t.s++;
		t.n--;
	}
	while (t.n > 0 && ini_is_blank(t.s[t.n - 1]))
		t.n--;
	return t;
}

static int
wrong(const struct parse *p, size_t line, const char *what, struct err *e)
{
	return err_set(e, ERR_USAGE, "%s:%zu: %s", p->file, line, what);
}

static char *
ini_lower(struct span t)
{
	char *s = xstrndup(t.s, t.n), *c;

	for (c = s; *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c |= 0x20;
	return s;
}

static void
ini_add(struct parse *p, const char *key, struct span sub, struct span value)
{
	struct aws_ini *ini = p->ini;
	struct item *i;

	ini->items = xreallocarray(ini->items, ini->n + 1, sizeof *i);
	i = &ini->items[ini->n++];
	i->section = ini->n_sections - 1;
	i->key = xstrdup(key);
	i->sub = sub.s != NULL ? xstrndup(sub.s, sub.n) : NULL;
	i->value = xstrndup(value.s, value.n);
}

/* Lines "key = value" below a key that has no value of its own. */
static int
add_nested(struct parse *p, struct span all, struct err *e)
{
	struct span t, key, value;
	const char *end, *eq;

	for (; all.n > 0; all.n -= t.n + 1, all.s += t.n + 1) {
		end = memchr(all.s, '\n', all.n);
		t.s = all.s;
		t.n = end != NULL ? (size_t)(end - all.s) : all.n;
		if (trimmed(t).n > 0) {
			eq = memchr(t.s, '=', t.n);
			if (eq == NULL)
				return wrong(p, p->key_line,
				    "below this key is a line without \"=\"",
				    e);
			key = (struct span){ t.s, (size_t)(eq - t.s) };
			value.s = eq + 1;
			value.n = t.n - key.n - 1;
			ini_add(p, p->key, trimmed(key), trimmed(value));
		}
		if (end == NULL)
			break;
	}
	return 0;
}

static void
ini_wipe(char *s)
{
	if (s != NULL)
		explicit_bzero(s, strlen(s));
	free(s);
}

/* The value is whole. */
static int
end_value(struct parse *p, struct err *e)
{
	struct span v = { p->value.data, p->value.len };
	bool nested = v.n > 0 && *v.s == '\n';
	int rc = 0;

	if (p->key == NULL)
		return 0;
	v = trimmed(v);
	if (v.n > 0 && nested)
		rc = add_nested(p, v, e);
	else
		ini_add(p, p->key, (struct span){ NULL, 0 },
		    v.n > 0 ? v : (struct span){ "", 0 });
	free(p->key);
	p->key = NULL;
	if (p->value.data != NULL)
		explicit_bzero(p->value.data, p->value.cap);
	buf_clear(&p->value);
	return rc;
}

static int
begin_section(struct parse *p, struct span t, struct err *e)
{
	struct aws_ini *ini = p->ini;
	const char *end = memrchr(t.s, ']', t.n);

	if (end == NULL || end == t.s + 1)
		return wrong(p, p->line, "a section is written [name]", e);
	ini->sections = xreallocarray(
	    ini->sections, ini->n_sections + 1, sizeof *ini->sections);
	ini->sections[ini->n_sections++] =
	    xstrndup(t.s + 1, (size_t)(end - t.s - 1));
	return 0;
}

static int
begin_value(struct parse *p, struct span t, struct err *e)
{
	struct span key = { t.s, 0 }, value;

	while (key.n < t.n && t.s[key.n] != '=' && t.s[key.n] != ':')
		key.n++;
	if (key.n == t.n || trimmed(key).n == 0)
		return wrong(
		    p, p->line, "neither a section nor key = value", e);
	if (p->ini->n_sections == 0)
		return wrong(p, p->line, "a key before the first section", e);
	value.s = t.s + key.n + 1;
	value.n = t.n - key.n - 1;
	value = trimmed(value);
	p->key = ini_lower(trimmed(key));
	p->key_line = p->line;
	buf_add(&p->value, value.s, value.n);
	return 0;
}

static int
parse_line(struct parse *p, struct span line, struct err *e)
{
	struct span t = trimmed(line);
	size_t indent = (size_t)(t.s - line.s);

	if (t.n == 0) {
		if (p->key != NULL)
			buf_putc(&p->value, '\n');
		return 0;
	}
	if (*t.s == '#' || *t.s == ';')
		return 0;
	if (p->key != NULL && indent > p->indent) {
		buf_putc(&p->value, '\n');
		buf_add(&p->value, t.s, t.n);
		return 0;
	}
	p->indent = indent;
	if (end_value(p, e) < 0)
		return -1;
	return *t.s == '[' ? begin_section(p, t, e) : begin_value(p, t, e);
}

static int
parse_all(struct parse *p, struct span all, struct err *e)
{
	struct span line;
	const char *end;

	if (all.n >= 3 && memcmp(all.s, "\xef\xbb\xbf", 3) == 0) {
		all.s += 3;
		all.n -= 3;
	}
	if (all.n > 0 && memchr(all.s, '\0', all.n) != NULL)
		return err_set(e, ERR_USAGE, "%s: not a text", p->file);
	while (all.n > 0) {
		end = memchr(all.s, '\n', all.n);
		line.s = all.s;
		line.n = end != NULL ? (size_t)(end - all.s) : all.n;
		p->line++;
		if (parse_line(p, line, e) < 0)
			return -1;
		all.s += line.n + (end != NULL);
		all.n -= line.n + (end != NULL);
	}
	return end_value(p, e);
}

int
aws_ini_parse(struct aws_ini **out, const char *text, size_t len,
    const char *file, struct err *e)
{
	struct parse p = { .file = file };
	int rc;

	p.ini = xcalloc(1, sizeof *p.ini);
	rc = parse_all(&p, (struct span){ text, len }, e);
	free(p.key);
	if (p.value.data != NULL)
		explicit_bzero(p.value.data, p.value.cap);
	buf_free(&p.value);
	if (rc < 0)
		aws_ini_free(p.ini);
	else
		*out = p.ini;
	return rc;
}

/* Read an open file; too large a file is an error. */
static int
ini_read_all(int fd, char *text, size_t *len, const char *path, struct err *e)
{
	ssize_t n;

	for (*len = 0; *len < INI_BYTES_MAX; *len += (size_t)n) {
		n = read(fd, text + *len, INI_BYTES_MAX - *len);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n < 0)
			return err_set(
			    e, ERR_FILE, "%s: %s", path, strerror(errno));
		else if (n == 0)
			return 0;
	}
	return err_set(e, ERR_USAGE, "%s: longer than 1 MiB", path);
}

int
aws_ini_load(struct aws_ini **out, const char *path, struct err *e)
{
	int fd = file_open_user(path), rc;
	char *text;
	size_t len;

	if (fd < 0 && errno != ENOENT && errno != ENOTDIR && errno != EINVAL &&
	    errno != EISDIR)
		return err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
	if (fd < 0)
		return aws_ini_parse(out, "", 0, path, e);
	text = xmalloc(INI_BYTES_MAX);
	rc = ini_read_all(fd, text, &len, path, e);
	if (rc == 0)
		rc = aws_ini_parse(out, text, len, path, e);
	explicit_bzero(text, len);
	free(text);
	close(fd);
	return rc;
}

void
aws_ini_free(struct aws_ini *ini)
{
	size_t i;

	if (ini == NULL)
		return;
	for (i = 0; i < ini->n_sections; i++)
		free(ini->sections[i]);
	for (i = 0; i < ini->n; i++) {
		free(ini->items[i].key);
		free(ini->items[i].sub);
		ini_wipe(ini->items[i].value);
	}
	free(ini->sections);
	free(ini->items);
	free(ini);
}

/* Whether the title of a section is "kind name", or "name" alone. */
static bool
ini_is_named(const char *title, const char *kind, const char *name)
{
	size_t n = kind != NULL ? strlen(kind) : 0;
	struct span t = { title, strlen(title) };

	if (kind != NULL) {
		if (strncmp(title, kind, n) != 0 || !ini_is_blank(title[n]))
			return false;
		t = trimmed((struct span){ title + n, t.n - n });
		if (t.n >= 2 && (*t.s == '"' || *t.s == '\'') &&
		    t.s[t.n - 1] == *t.s) {
			t.s++;
			t.n -= 2;
		}
	}
	return t.n == strlen(name) && memcmp(t.s, name, t.n) == 0;
}

bool
aws_ini_has(const struct aws_ini *ini, const char *kind, const char *name)
{
	size_t i;

	for (i = 0; i < ini->n_sections; i++)
		if (ini_is_named(ini->sections[i], kind, name))
			return true;
	return false;
}

const char *
aws_ini_get(const struct aws_ini *ini, const char *kind, const char *name,
    const char *key, const char *sub)
{
	const struct item *x;
	size_t i;

	for (i = ini->n; i-- > 0;) {
		x = &ini->items[i];
		if (strcmp(x->key, key) == 0 &&
		    (x->sub == NULL) == (sub == NULL) &&
		    (sub == NULL || strcmp(x->sub, sub) == 0) &&
		    ini_is_named(ini->sections[x->section], kind, name))
			return x->value;
	}
	return NULL;
}

bool
aws_ini_at(const struct aws_ini *ini, size_t i, struct aws_ini_item *out)
{
	const struct item *x;

	if (i >= ini->n)
		return false;
	x = &ini->items[i];
	*out = (struct aws_ini_item){ ini->sections[x->section], x->key, x->sub,
		x->value };
	return true;
}
