/* What pages of a study share: its database, read once. */

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "src/base/err.h"
#include "src/html/page-data.h"
#include "src/store/store.h"
#include "src/web/web-frame.h"
#include "src/web/web-page.h"
#include "src/web/web-studies.h"

int
web_page_open(struct page *r, const struct web_study *s, struct err *e)
{
	struct store *store;

	*r = (struct page){ .zoomable = true,
		.links = web_frame_address(s->id, "") };
	if (store_open(&store, s->db, STORE_READ, e) != 0)
		return -1;
	r->store = store;
	if (web_study_alive(s))
		r->now = (double)time(NULL);
	if (store_begin(store, e) != 0)
		return -1;
	return page_data_read(r, store, e);
}

void
web_page_close(struct page *r)
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
web_page_find(size_t *at, const struct page *r, int64_t trial, struct err *e)
{
	/* Trial numbers have no gaps. */
	*at = (size_t)trial - 1;
	if (trial >= 1 && (uint64_t)trial <= r->n)
		return 0;
	return err_set(e, ERR_USAGE, "there is no trial %" PRId64, trial);
}
