/*
 * Allocation that ends the program on failure, growing strings and lists of
 * strings.
 */

#ifndef HPOTUNE_MEM_H
#define HPOTUNE_MEM_H

#include <stdarg.h>
#include <stddef.h>

/* Say that there is no memory, and abort. */
void mem_fail(void) __attribute__((noreturn));

/* Tune malloc for a long-running program; call once at the start. */
void mem_settle(void);
/* The same for a program whose matrices take some MiB: hpotune-worker. */
void mem_settle_matrices(void);
/* As the C library's, but abort with a message when memory runs out. */
void *xmalloc(size_t);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *, size_t);
/* Resize to n elements of size bytes, checked for overflow. */
void *xreallocarray(void *, size_t n, size_t size);
/*
 * Make room for one more element behind the n that an array has, of cap that
 * fit: cap doubles.  The arguments are read more than once.
 */
#define XGROW(array, n, cap)                                          \
	do {                                                          \
		if ((n) == (cap)) {                                   \
			(cap) = (cap) < 16 ? 16 : (cap)*2;            \
			(array) = xreallocarray(                      \
			    (array), (size_t)(cap), sizeof *(array)); \
		}                                                     \
	} while (0)
char *xstrdup(const char *);
char *xstrndup(const char *, size_t);
/* A new string, formatted; the caller frees it. */
char *xasprintf(const char *, ...) __attribute__((format(printf, 1, 2)));

/*
 * A growing byte string, always NUL-terminated once anything was added.
 * Start with { 0 }; the owner calls buf_free.
 */
struct buf {
	char *data; /* NULL while empty */
	size_t len; /* bytes, without the final NUL */
	size_t cap;
};

void buf_add(struct buf *, const void *, size_t);
void buf_puts(struct buf *, const char *);
void buf_putc(struct buf *, char);
void buf_printf(struct buf *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *, const char *, va_list)
    __attribute__((format(printf, 2, 0)));
void buf_clear(struct buf *);
void buf_free(struct buf *);
/* The text ("" when empty), borrowed until the next change. */
const char *buf_str(const struct buf *);
/* Return the text, which the caller frees, and empty the buffer. */
char *buf_take(struct buf *);

/* A growing list of strings.  Start with { 0 }; strv_free(l.v) frees it. */
struct strv {
	char **v; /* ends with NULL; NULL while empty */
	size_t n, cap;
};

/* Takes ownership of the string. */
void strv_add(struct strv *, char *);
/* Append copies of the strings of a list that ends with NULL, or is NULL. */
void strv_add_all(struct strv *, char *const *);
/* A copy of a list and its strings; NULL when it is NULL. */
char **strv_copy(char *const *);
/* Free a list that ends with NULL, or is NULL, and its strings. */
void strv_free(char **);

#endif /* HPOTUNE_MEM_H */
