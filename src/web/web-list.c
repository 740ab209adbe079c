/* Keeps the list of studies, and lets readers renew it. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/base/err.h"
#include "src/base/http/http-server.h"
#include "src/base/mem.h"
#include "src/web/web-address.h"
#include "src/web/web-answer.h"
#include "src/web/web-list.h"
#include "src/web/web-page.h"
#include "src/web/web-reader.h"
#include "src/web/web-sink.h"
#include "src/web/studies/web-studies.h"
#include "src/web/studies/web-summary.h"

enum {
	LOOK_PATIENCE_MS = 200, /* that a request waits for a look */
	READ_PATIENCE_MS = 50, /* and for studies to be read */
	REST_LEAST_MS = 2000, /* after a study that failed */
	REST_TIMES = 50, /* what it took */
	STUCK_MOST =
	    4 /* processes that hang; then nothing that hung is tried */
};

/* Frames of a look: names as for web_studies_set, or what was seen of one. */
enum web_list_frame {
	WEB_LIST_NAMES = 'n',
	WEB_LIST_LOOK = 'l', /* a struct web_look, id, "1" with a note, note */
	WEB_LIST_ROW = 'r' /* a struct web_list_read, id, row, words */
};

struct web_list_read {
	struct web_look of;
	int64_t again_ms;
};

enum web_list_stage {
	STAGE_LOOK, /* waits for a look that began after the request */
	STAGE_READ /* waits for studies to be read */
};

struct web_list_wait {
	struct web_list_wait *next;
	struct web_list *list;
	struct http_server_request *request;
	struct web_address address;
	enum web_list_stage stage;
	uint64_t look; /* the look that it waits for */
	bool all; /* a search waits for all studies */
};

struct web_list {
	struct loop *loop;
	struct web_readers *readers;
	const struct web_access *access;
	struct web_studies *studies;
	struct web_list_wait *first;
	struct web_reader *look, *read;
	uint64_t looks; /* that have begun */
	bool look_again; /* when the present one has ended */
	bool read_is_late;
	bool archived; /* archived studies are read as well */
	struct strv batch; /* ids of those that are read now */
	int64_t search_ms; /* folders that hung are not searched before */
	bool search; /* the look searches them */
};

static void web_list_look_start(struct web_list *);
static void web_list_read_start(struct web_list *);

static void
web_list_wait_free(struct web_list_wait *w)
{
	struct web_list_wait **at;

	for (at = &w->list->first; *at != w; at = &(*at)->next)
		;
	*at = w->next;
	web_address_fini(&w->address);
	free(w);
}

static void
web_list_on_gone(void *arg, struct http_server_request *request)
{
	(void)request;
	web_list_wait_free(arg);
}

/* Answer those in a stage; of those that wait for all, if all are there. */
static void
web_list_release(struct web_list *list, enum web_list_stage stage, bool all)
{
	struct web_list_wait *w, *next;
	struct buf b = { 0 };

	for (w = list->first; w != NULL; w = next) {
		next = w->next;
		if (w->stage != stage || (w->all && !all))
			continue;
		web_page_index(&b, list->access, list->studies, &w->address,
		    list->search_ms > clock_boot_ms());
		web_answer_page(w->request, 200, &b);
		web_list_wait_free(w);
	}
}

static void
web_list_word_put(struct buf *b, const char *word)
{
	buf_add(b, word, strlen(word) + 1);
}

static void
web_list_names_put(const struct web_studies *all, struct web_sink *sink)
{
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < all->n; i++) {
		web_list_word_put(&b, all->studies[i]->id);
		web_list_word_put(&b, all->studies[i]->db);
		web_list_word_put(&b, all->studies[i]->db_dir);
	}
	web_sink_put(sink, WEB_LIST_NAMES, buf_str(&b), b.len);
	buf_free(&b);
}

static bool
web_list_note_same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* In a reader: look at a study, and say what is new. */
static void
web_list_study_look(const struct web_study *s, struct web_sink *sink)
{
	struct web_look look;
	struct buf b = { 0 };
	char *note;

	web_look_read(&look, &note, s->db);
	if (!s->looked || !web_look_same(&look, &s->look) ||
	    !web_list_note_same(note, s->note)) {
		buf_add(&b, (const char *)&look, sizeof look);
		web_list_word_put(&b, s->id);
		web_list_word_put(&b, note != NULL ? "1" : "");
		web_list_word_put(&b, note != NULL ? note : "");
		web_sink_put(sink, WEB_LIST_LOOK, b.data, b.len);
		buf_free(&b);
	}
	free(note);
}

/* In a reader: the studies are a copy of ours. */
static void
web_list_look_work(void *arg, struct web_sink *sink)
{
	struct web_list *list = arg;
	struct web_studies *all = list->studies;
	size_t i;

	if (list->search && web_studies_search(all))
		web_list_names_put(all, sink);
	for (i = 0; i < all->n; i++) {
		web_sink_at(sink, (int64_t)i);
		if (!all->studies[i]->skipped)
			web_list_study_look(all->studies[i], sink);
	}
}

/* In a reader: the line of a study, and its words, for searches. */
static void
web_list_study_read(const struct web_study *s, struct web_sink *sink)
{
	struct web_list_read read = { .of = s->look };
	int64_t began_ms = clock_boot_ms(), now_ms;
	struct web_summary m;
	struct err e = ERR_INIT;
	struct buf row = { 0 }, b = { 0 };
	int rc = web_summary_read(&m, s->db, &e);

	if (rc != 0) {
		now_ms = clock_boot_ms();
		read.again_ms =
		    now_ms + REST_LEAST_MS + REST_TIMES * (now_ms - began_ms);
	}
	web_page_index_row(&row, s, &m, rc != 0 ? e.text : NULL);
	buf_add(&b, (const char *)&read, sizeof read);
	web_list_word_put(&b, s->id);
	web_list_word_put(&b, buf_str(&row));
	buf_printf(&b, "%s\n%s\n%s", s->id, s->note != NULL ? s->note : "",
	    m.goal != NULL ? m.goal : "");
	buf_add(&b, "", 1);
	web_sink_put(sink, WEB_LIST_ROW, b.data, b.len);
	web_summary_fini(&m);
	buf_free(&row);
	buf_free(&b);
}

static void
web_list_read_work(void *arg, struct web_sink *sink)
{
	struct web_list *list = arg;
	size_t i;

	for (i = 0; i < list->batch.n; i++) {
		web_sink_at(sink, (int64_t)i);
		web_list_study_read(
		    web_studies_known(list->studies, list->batch.v[i]), sink);
	}
}

static void
web_list_looked(struct web_list *list, const char *bytes)
{
	const char *id = bytes + sizeof(struct web_look);
	const char *has = id + strlen(id) + 1, *note = has + strlen(has) + 1;
	struct web_study *s = web_studies_known(list->studies, id);

	if (s == NULL)
		return;
	memcpy(&s->look, bytes, sizeof s->look);
	if (!web_list_note_same(s->note, *has != '\0' ? note : NULL)) {
		free(s->note);
		s->note = *has != '\0' ? xstrdup(note) : NULL;
		s->read = false;
	}
	s->looked = true;
}

static void
web_list_row(struct web_list *list, const char *bytes)
{
	struct web_list_read read;
	const char *id = bytes + sizeof read;
	const char *row = id + strlen(id) + 1, *words = row + strlen(row) + 1;
	struct web_study *s = web_studies_known(list->studies, id);

	if (s == NULL)
		return;
	memcpy(&read, bytes, sizeof read);
	free(s->row);
	free(s->words);
	s->row = xstrdup(row);
	s->words = xstrdup(words);
	s->of = read.of;
	s->again_ms = read.again_ms;
	s->read = read.again_ms == 0;
	s->late = s->hung = false;
}

static void
web_list_on_frame(void *arg, char kind, const char *bytes, size_t len)
{
	struct web_list *list = arg;

	switch ((enum web_list_frame)kind) {
	case WEB_LIST_NAMES:
		web_studies_set(list->studies, bytes, len);
		break;
	case WEB_LIST_LOOK:
		web_list_looked(list, bytes);
		break;
	case WEB_LIST_ROW:
		web_list_row(list, bytes);
		break;
	}
}

/* A study that did not answer: its line says so, and it rests. */
static void
web_list_blame(struct web_study *s, const char *why)
{
	char *trouble = xasprintf("%s %s", s->db, why);
	struct web_summary m = { 0 };
	struct buf row = { 0 };

	web_page_index_row(&row, s, &m, trouble);
	free(s->row);
	s->row = buf_take(&row);
	free(trouble);
	s->hung = true;
	s->late = s->read = false;
	s->again_ms =
	    clock_boot_ms() + REST_LEAST_MS + REST_TIMES * WEB_READER_LIMIT_MS;
}

static bool
web_list_rests(const struct web_list *list, const struct web_study *s)
{
	return clock_boot_ms() < s->again_ms ||
	       (s->hung && web_readers_stuck(list->readers, "") >= STUCK_MOST);
}

/* Which studies are to be read; how many. */
static size_t
web_list_late(struct web_list *list)
{
	struct web_study *s;
	size_t i;

	strv_free(list->batch.v);
	list->batch = (struct strv){ 0 };

	for (i = 0; i < list->studies->n; i++) {
		s = list->studies->studies[i];
		s->late = s->looked &&
			  (!s->read || !web_look_same(&s->look, &s->of)) &&
			  (list->archived || !s->look.archived) &&
			  !web_list_rests(list, s);
		if (s->late)
			strv_add(&list->batch, xstrdup(s->id));
	}
	return list->batch.n;
}

/* Requests go on to the reading of studies, which may have nothing to do. */
static void
web_list_on_looked(struct web_list *list)
{
	struct web_list_wait *w;
	bool wanted = false;

	for (w = list->first; w != NULL; w = w->next) {
		if (w->stage == STAGE_LOOK && w->look <= list->looks)
			w->stage = STAGE_READ;
		wanted |= w->stage == STAGE_READ;
	}
	if (list->look_again)
		web_list_look_start(list);
	if (list->read != NULL) {
		if (list->read_is_late)
			web_list_release(list, STAGE_READ, false);
		return;
	}
	if (wanted)
		web_list_read_start(list);
}

static void
web_list_on_look_end(void *arg, const char *why, int64_t at)
{
	struct web_list *list = arg;
	struct web_study *s = NULL;

	/* The reader's studies are ours: it has sent those that it found. */
	if (at >= 0 && (uint64_t)at < list->studies->n)
		s = list->studies->studies[at];
	list->look = NULL;
	if (why != NULL && s != NULL) {
		web_list_blame(s, why);
		list->looks--;
		web_list_look_start(list);
		return;
	}
	if (why != NULL)
		list->search_ms = clock_boot_ms() + REST_LEAST_MS +
				  REST_TIMES * WEB_READER_LIMIT_MS;
	web_list_on_looked(list);
}

static void
web_list_on_look_late(void *arg)
{
	web_list_release(arg, STAGE_LOOK, false);
}

static void
web_list_look_start(struct web_list *list)
{
	struct web_study *s;
	size_t i;

	list->look_again = false;
	list->looks++;
	list->search = clock_boot_ms() >= list->search_ms &&
		       (list->search_ms == 0 ||
			   web_readers_stuck(list->readers, "") < STUCK_MOST);
	for (i = 0; i < list->studies->n; i++) {
		s = list->studies->studies[i];
		s->skipped = s->hung && web_list_rests(list, s);
	}
	list->look = web_reader_start(list->readers,
	    &(struct web_reader_spec){ .work = web_list_look_work,
		.frame = web_list_on_frame,
		.late = web_list_on_look_late,
		.patience_ms = LOOK_PATIENCE_MS,
		.end = web_list_on_look_end,
		.arg = list,
		.study = "" });
}

static void
web_list_on_read_end(void *arg, const char *why, int64_t at)
{
	struct web_list *list = arg;
	struct web_study *s = NULL;

	if (at >= 0 && (uint64_t)at < list->batch.n)
		s = web_studies_known(list->studies, list->batch.v[at]);
	list->read = NULL;
	if (why != NULL && s != NULL)
		web_list_blame(s, why);
	web_list_read_start(list);
}

static void
web_list_on_read_late(void *arg)
{
	struct web_list *list = arg;

	list->read_is_late = true;
	web_list_release(list, STAGE_READ, false);
}

/* Read what is late; when nothing is, the requests are answered. */
static void
web_list_read_start(struct web_list *list)
{
	if (web_list_late(list) == 0) {
		list->archived = false;
		web_list_release(list, STAGE_READ, true);
		return;
	}
	list->read_is_late = false;
	list->read = web_reader_start(list->readers,
	    &(struct web_reader_spec){ .work = web_list_read_work,
		.frame = web_list_on_frame,
		.late = web_list_on_read_late,
		.patience_ms = READ_PATIENCE_MS,
		.end = web_list_on_read_end,
		.arg = list,
		.study = "" });
}

struct web_list *
web_list_open(struct loop *loop, struct web_readers *readers,
    const struct web_access *access, struct web_studies *studies)
{
	struct web_list *list = xcalloc(1, sizeof *list);

	list->loop = loop;
	list->readers = readers;
	list->access = access;
	list->studies = studies;
	return list;
}

/* The clients have been disconnected: nobody waits. */
void
web_list_close(struct web_list *list)
{
	if (list == NULL)
		return;
	strv_free(list->batch.v);
	free(list);
}

void
web_list_look(struct web_list *list)
{
	if (list->look == NULL)
		web_list_look_start(list);
	else
		list->look_again = true;
}

void
web_list_answer(struct web_list *list, struct http_server_request *request,
    struct web_address *address)
{
	struct web_list_wait *w = xcalloc(1, sizeof *w);

	w->list = list;
	w->request = request;
	w->address = *address;
	*address = (struct web_address){ 0 };
	w->all = web_address_param(&w->address, "find", 0) != NULL;
	list->archived |= web_address_number(&w->address, "archived", 0) == 1;
	w->next = list->first;
	list->first = w;
	http_server_watch(request, web_list_on_gone, w);
	web_list_look(list);
	/* The present look may have begun before the last change. */
	w->look = list->look_again ? list->looks + 1 : list->looks;
}
