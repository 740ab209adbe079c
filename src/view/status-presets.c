/* Which preset of stopping rules the curves of a study would have been best with. */

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/replay/replay-presets.h"
#include "src/store/queries.h"
#include "src/view/status.h"

int
status_put_presets(struct buf *out, struct store *store,
    void (*turn)(void *arg), void *arg, struct err *e)
{
	/* Of more reports it takes longer than the rest of a status. */
	bool whole;

	if (store_curves_whole(store, &whole, e) != 0)
		return -1;
	return whole ? replay_presets_of_study(out, store, turn, arg, e) : 0;
}
