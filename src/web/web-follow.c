/* Looks at a study again and again, and draws what has changed. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/clock.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/html/page.h"
#include "src/web/web-database.h"
#include "src/web/web-follow.h"
#include "src/web/studies/web-look.h"
#include "src/web/web-sink.h"
#include "src/web/studies/web-studies.h"

enum {
	LOOK_MS = 200, /* between two looks at a database */
	ROUND_SHARE = 50,
	PART_SHARE = 100,
	PARTS = 20
};

struct web_follow_part {
	char *html; /* as drawn last; NULL = not yet */
	bool stale; /* something has changed since */
	int64_t due_ms;
};

struct web_follow {
	const struct web_study *study;
	struct web_sink *sink;
	bool draws;
	struct web_stamp stamp;
	bool alive;
	struct web_follow_part parts[PARTS];
	uint32_t asked; /* the last question that was seen */
	int64_t due_ms; /* of the next round */
};

static void
web_follow_part_put(
    struct web_follow *f, const char *name, const char *html, bool changed)
{
	struct buf data = { 0 };
	struct json_writer writer = { .out = &data };

	json_writer_object(&writer, NULL);
	json_writer_text(&writer, "name", name);
	json_writer_text(&writer, "html", html);
	json_writer_end(&writer);
	web_sink_put(f->sink, changed ? WEB_FOLLOW_PART : WEB_FOLLOW_SAME,
	    data.data, data.len);
	buf_free(&data);
}

static int
web_follow_part_draw(
    struct web_follow *f, struct page *r, size_t i, int64_t now)
{
	struct web_follow_part *part = &f->parts[i];
	int64_t start = clock_cpu_us();
	bool changed;

	buf_clear(&r->h.out);
	if (page_sections[i]->put(r, NULL) == -1)
		return -1;
	part->stale = false;
	part->due_ms = now + (clock_cpu_us() - start) / 1000 * PART_SHARE;
	changed =
	    part->html == NULL || strcmp(part->html, buf_str(&r->h.out)) != 0;
	web_follow_part_put(
	    f, page_sections[i]->name, buf_str(&r->h.out), changed);
	if (changed) {
		free(part->html);
		part->html = xstrdup(buf_str(&r->h.out));
	}
	return 0;
}

/* Whether a part waits to be drawn whose time has come. */
static bool
web_follow_part_is_due(const struct web_follow *f, size_t i, int64_t now)
{
	return f->parts[i].stale && now >= f->parts[i].due_ms;
}

static void
web_follow_round(struct web_follow *f, int64_t now)
{
	int64_t start = clock_cpu_us();
	uint32_t asked = f->asked;
	struct page r;
	size_t i;
	int rc;

	rc = web_database_open(&r, "../", f->study, NULL);
	r.turn = web_sink_beat;
	r.turn_arg = f->sink;
	for (i = 0; rc == 0 && page_sections[i] != NULL; i++)
		if (web_follow_part_is_due(f, i, now))
			rc = web_follow_part_draw(f, &r, i, now);
	web_database_close(&r);
	for (i = 0; rc == 0 && page_sections[i] != NULL; i++)
		if (f->parts[i].stale)
			rc = 1; /* not all of them were due */
	if (rc == 0)
		web_sink_put(f->sink, WEB_FOLLOW_ROUND, &asked, sizeof asked);
	f->due_ms =
	    now + LOOK_MS + (clock_cpu_us() - start) / 1000 * ROUND_SHARE;
}

static void
web_follow_stale(struct web_follow *f)
{
	size_t i;

	for (i = 0; i < PARTS; i++)
		f->parts[i].stale = true;
}

static void
web_follow_look(struct web_follow *f, int64_t now)
{
	uint32_t asked = web_sink_asked(f->sink);
	struct web_stamp stamp;
	bool alive, due = false;
	size_t i;

	if (now < f->due_ms)
		return;
	if (asked != f->asked)
		web_follow_stale(f);
	f->asked = asked;
	web_stamp_read(&stamp, f->study->db);
	alive = web_look_alive(f->study->db);
	if (!web_stamp_same(&stamp, &f->stamp) || alive != f->alive) {
		f->stamp = stamp;
		f->alive = alive;
		web_follow_stale(f);
		web_sink_put(f->sink, WEB_FOLLOW_TICK, "", 0);
	}
	for (i = 0; page_sections[i] != NULL; i++)
		due |= web_follow_part_is_due(f, i, now);
	if (due && f->draws)
		web_follow_round(f, now);
}

void
web_follow(
    struct web_studies *all, const char *id, bool parts, struct web_sink *sink)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
	struct web_follow f = { .sink = sink, .draws = parts };

	f.study = web_studies_find(all, id);
	web_sink_put(
	    sink, f.study == NULL ? WEB_FOLLOW_NONE : WEB_FOLLOW_FOUND, "", 0);
	web_follow_stale(&f);
	while (f.study != NULL) {
		web_follow_look(&f, clock_boot_ms());
		web_sink_beat(sink);
		(void)nanosleep(&pause, NULL);
	}
}
