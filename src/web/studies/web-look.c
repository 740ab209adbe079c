/* Looks at the files of a study. */

#include "src/study-files/study-files.h"
#include "src/web/studies/web-look.h"
#include "src/web/studies/web-note.h"

bool
web_look_alive(const char *db)
{
	return study_files_served(db);
}

void
web_look_read(struct web_look *look, char **note, const char *db)
{
	*look = (struct web_look){ .alive = web_look_alive(db),
		.archived = web_note_archived(db) };
	web_stamp_read(&look->stamp, db);
	*note = web_note_read(db);
}

bool
web_look_same(const struct web_look *a, const struct web_look *b)
{
	return a->alive == b->alive && a->archived == b->archived &&
	       web_stamp_same(&a->stamp, &b->stamp);
}
