/*
 * Reads from the database the GPUs that were out of service when the last
 * server ended, for the launcher.
 */

#include <stdlib.h>

#include "src/base/mem.h"
#include "src/server/tuner/tuner-internal.h"
#include "src/store/store.h"
#include "trials/launcher.h"

int
broken_gpus_read(
    struct gpu_status **gpus, size_t *n, struct store *store, struct err *e)
{
	struct store_rows *rows = NULL;
	int rc;

	*gpus = NULL;
	*n = 0;
	if (store_rows_open(&rows, store,
		"SELECT uuid, coalesce(why, state) FROM gpus "
		"WHERE state IN ('suspect', 'quarantined')",
		NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		*gpus = xreallocarray(*gpus, *n + 1, sizeof **gpus);
		(*gpus)[(*n)++] = (struct gpu_status){
			.uuid = xstrdup(store_rows_text(rows, 0)),
			.why = xstrdup(store_rows_text(rows, 1)),
		};
	}
	store_rows_close(rows);
	return rc;
}

void
broken_gpus_free(struct gpu_status *gpus, size_t n)
{
	while (n-- > 0) {
		free((char *)gpus[n].uuid);
		free((char *)gpus[n].why);
	}
	free(gpus);
}
