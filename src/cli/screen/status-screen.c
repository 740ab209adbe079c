/* One screen of a study, as text or JSON, and whether a server runs it. */

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/screen/status-screen.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"
#include "src/view/status.h"

int
status_screen_life(const struct study_files *found, struct store *store,
    enum study_life *life, struct err *e)
{
	struct store_study study = { 0 };

	if (store_study_get(store, &study, e) != 0)
		return -1;
	*life = LIFE_OVER;
	if (study.state == STUDY_RUNNING || study.state == STUDY_PAUSED)
		*life =
		    study_files_served(found->db) ? LIFE_SERVED : LIFE_ALONE;
	store_study_fini(&study);
	return 0;
}

int
status_screen_put(struct buf *out, const struct cli *cli, struct store *store,
    enum study_life life, int width, bool brief, struct err *e)
{
	struct json_writer w = { .out = out };
	size_t len;

	if (!cli->json) {
		if (status_render(out, store, width, cli->colour, e) != 0)
			return -1;
		len = out->len;
		if (life == LIFE_SERVED &&
		    status_put_blocked(out, store, e) != 0)
			return -1;
		if (out->len > len)
			buf_putc(out, '\n');
		if (life == LIFE_ALONE)
			buf_puts(out, "no server runs this study: hpotune "
				      "start resumes it\n");
		return 0;
	}
	json_writer_object(&w, NULL);
	if ((brief ? status_json_brief : status_json)(&w, store, e) != 0)
		return -1;
	json_writer_line(&w);
	json_writer_bool(&w, "server", life == LIFE_SERVED);
	json_writer_end(&w);
	buf_putc(out, '\n');
	return 0;
}
