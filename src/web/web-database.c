/* Opens the database of a study and reads it. */

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/html/page-data.h"
#include "src/store/store.h"
#include "src/web/web-database.h"
#include "src/web/studies/web-look.h"
#include "src/web/web-page.h"
#include "src/web/studies/web-studies.h"

int
web_database_open(
    struct page *r, const char *root, const struct web_study *s, struct err *e)
{
	struct store *store;

	*r = (struct page){ .zoomable = true,
		.links = web_page_address(root, s->id, "") };
	if (store_open(&store, s->db, STORE_READ, e) != 0)
		return -1;
	r->store = store;
	if (web_look_alive(s->db))
		r->now = (double)time(NULL);
	if (store_begin(store, e) != 0)
		return -1;
	return page_data_read(r, store, e);
}

void
web_database_close(struct page *r)
{
	struct store *store = r->store;

	page_data_fini(r);
	free(r->zooms);
	free(r->links);
	if (store == NULL)
		return;
	if (store_in_transaction(store))
		store_rollback(store);
	store_close(store);
}

int
web_database_trial(
    size_t *at, const struct page *r, int64_t trial, struct err *e)
{
	/* Trial numbers have no gaps. */
	*at = (size_t)trial - 1;
	if (trial >= 1 && (uint64_t)trial <= r->n)
		return 0;
	return err_set(e, ERR_USAGE, "there is no trial %" PRId64, trial);
}
