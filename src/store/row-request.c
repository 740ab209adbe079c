/* Writes rows of t_request: what callers asked for. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/store/store-internal.h"

enum { REQUEST_TEXT_MAX = 2000 }; /* bytes of the arguments, or of the answer */

/* A copy that is cut between two characters; NULL for NULL. */
static char *
request_text(const char *text)
{
	size_t n;
	char *copy;

	if (text == NULL)
		return NULL;
	n = strlen(text) < REQUEST_TEXT_MAX ? strlen(text) + 4
					    : REQUEST_TEXT_MAX;
	copy = xmalloc(n);
	text_cut(copy, n, text);
	return copy;
}

int
store_request_add(struct store *s, const struct store_request *r, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_REQUEST_ADD, e);
	char *asked, *answer;
	int rc;

	if (st == NULL)
		return -1;
	asked = request_text(r->asked);
	answer = request_text(r->answer);
	stmt_int(st, 1, r->time_us);
	stmt_line(st, 2, r->caller);
	stmt_text(st, 3, r->request);
	stmt_int_or(st, 4, r->trial, 0);
	stmt_line(st, 5, asked);
	stmt_int_or(st, 6, r->good, -1);
	stmt_line(st, 7, answer);
	rc = stmt_write(s, st, e);
	free(asked);
	free(answer);
	return rc;
}
