/* The log of an attempt, in pieces. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/store/store.h"
#include "src/study-files/attempt-log.h"
#include "src/web/web-address.h"
#include "src/web/web-page.h"
#include "src/web/studies/web-studies.h"

enum { PIECE = 65536 };

static int
web_page_log_piece_read(
    struct buf *out, int fd, int64_t from, int64_t *next, struct err *e)
{
	struct stat st;
	char *bytes;
	ssize_t n;
	size_t open;

	if (fstat(fd, &st) != 0)
		return err_set(e, ERR_FILE, "log: %s", strerror(errno));
	if (from < 0)
		from = st.st_size > PIECE ? st.st_size - PIECE : 0;
	if (from > st.st_size)
		from = 0; /* it was replaced by a shorter one */
	bytes = xmalloc(PIECE);
	n = pread(fd, bytes, PIECE, from);
	if (n < 0) {
		free(bytes);
		return err_set(e, ERR_FILE, "log: %s", strerror(errno));
	}
	/* A character that the piece cuts in two comes with the next one. */
	open = text_unfinished(bytes, (size_t)n);
	text_put_harmless(out, bytes, (size_t)n - open, TEXT_LINES);
	*next = from + n - (int64_t)open;
	free(bytes);
	return 0;
}

int
web_page_log(struct buf *out, const struct web_study *s,
    const struct web_address *address, int64_t *next, bool *over, struct err *e)
{
	struct store_attempt row = { 0 };
	struct store *store;
	int64_t attempt = web_address_number(address, "attempt", 1);
	int64_t from = web_address_number(address, "from", -1);
	char *path;
	int fd, rc;

	*next = from > 0 ? from : 0;
	*over = true;
	if (attempt < 1 || attempt > INT32_MAX)
		return err_set(e, ERR_USAGE, "no such attempt");
	if (store_open(&store, s->db, STORE_READ, e) != 0)
		return -1;
	rc = store_attempt_get(store, address->trial, (int)attempt, &row, e);
	store_close(store);
	if (rc != 0)
		return -1;
	*over = row.ended_us != 0;
	if (row.log == NULL) {
		store_attempt_fini(&row);
		return err_set(e, ERR_USAGE, "this attempt has no log");
	}
	path = attempt_log_path(
	    s->db, s->db_dir, row.trial, row.attempt, row.log, 0);
	store_attempt_fini(&row);
	fd = file_open(AT_FDCWD, path);
	if (fd == -1 && errno == ENOENT)
		rc = 0; /* possibly not yet */
	else if (fd == -1)
		rc = err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
	else {
		rc = web_page_log_piece_read(out, fd, from, next, e);
		(void)close(fd);
	}
	free(path);
	return rc;
}
