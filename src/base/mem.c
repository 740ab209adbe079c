/*
 * Allocation that ends the program on failure, growing strings and lists of
 * strings.
 */

#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"

/*
 * A server runs for long and its big arrays grow: fix malloc's mmap and trim
 * thresholds, so that the kernel moves and frees large blocks, and the top of
 * the heap is not returned and requested again in each turn.
 */
void
mem_settle(void)
{
#ifdef M_MMAP_THRESHOLD
	(void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
	(void)mallopt(M_TRIM_THRESHOLD, 8 << 20);
#endif
}

/*
 * A suggestion evaluates some hundred likelihoods, each with matrices of its
 * own: up to a thousand rows they stay in the heap, as page faults take as long
 * as the arithmetic.
 */
void
mem_settle_matrices(void)
{
#ifdef M_MMAP_THRESHOLD
	(void)mallopt(M_MMAP_THRESHOLD, 8 << 20);
	(void)mallopt(M_TRIM_THRESHOLD, 32 << 20);
#endif
}

void
mem_fail(void)
{
	(void)fputs("hpotune: out of memory\n", stderr);
	abort();
}

static void
mem_check(const void *p, size_t n)
{
	if (p != NULL || n == 0)
		return;
	fprintf(stderr, "hpotune: out of memory for %zu bytes\n", n);
	abort();
}

void *
xmalloc(size_t n)
{
	void *p = malloc(n);

	mem_check(p, n);
	return p;
}

void *
xcalloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	mem_check(p, n > 0 ? size : 0);
	return p;
}

void *
xrealloc(void *old, size_t n)
{
	void *p = realloc(old, n);

	mem_check(p, n);
	return p;
}

void *
xreallocarray(void *old, size_t n, size_t size)
{
	if (size != 0 && n > SIZE_MAX / size)
		mem_check(NULL, SIZE_MAX);
	return xrealloc(old, n * size);
}

char *
xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *
xstrndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *p = xmalloc(len + 1);

	memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

char *
xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *p = NULL;

	va_start(ap, fmt);
	if (vasprintf(&p, fmt, ap) < 0)
		mem_check(NULL, strlen(fmt));
	va_end(ap);
	return p;
}

static void
buf_reserve(struct buf *b, size_t more)
{
	size_t want = b->len + more + 1;

	if (want <= b->cap)
		return;
	b->cap = b->cap < 64 ? 64 : b->cap;
	while (b->cap < want)
		b->cap += b->cap / 2;
	b->data = xrealloc(b->data, b->cap);
}

void
buf_add(struct buf *b, const void *p, size_t n)
{
	buf_reserve(b, n);
	if (n > 0)
		memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void
buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void
buf_putc(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void
buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		return;
	buf_reserve(b, (size_t)n);
	(void)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void
buf_clear(struct buf *b)
{
	b->len = 0;
	if (b->data != NULL)
		b->data[0] = '\0';
}

void
buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}

const char *
buf_str(const struct buf *b)
{
	return b->data != NULL ? b->data : "";
}

char *
buf_take(struct buf *b)
{
	char *p = b->data != NULL ? b->data : xstrdup("");

	*b = (struct buf){ 0 };
	return p;
}

void
strv_add(struct strv *l, char *s)
{
	if (l->n + 1 >= l->cap) {
		l->cap = l->cap < 16 ? 16 : l->cap * 2;
		l->v = xreallocarray(l->v, l->cap, sizeof *l->v);
	}
	l->v[l->n++] = s;
	l->v[l->n] = NULL;
}

void
strv_add_all(struct strv *l, char *const *list)
{
	for (; list != NULL && *list != NULL; list++)
		strv_add(l, xstrdup(*list));
}

char **
strv_copy(char *const *list)
{
	struct strv l = { 0 };

	if (list == NULL)
		return NULL;
	strv_add_all(&l, list);
	return l.v != NULL ? l.v : xcalloc(1, sizeof *l.v);
}

void
strv_free(char **list)
{
	size_t i;

	for (i = 0; list != NULL && list[i] != NULL; i++)
		free(list[i]);
	free(list);
}
