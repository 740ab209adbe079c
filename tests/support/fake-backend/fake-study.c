/* A study on fake backends: servers start, iterate and exit. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/log.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/engine/study-row.h"
#include "src/engine/tuner/tuner.h"
#include "src/model/study/study.h"
#include "src/store/store.h"
#include "src/view/rows.h"
#include "tests/support/fake-backend/fake-backend.h"
#include "tests/support/fake-backend/fake-study.h"
#include "tests/support/scratch.h"

const struct backend_type *const backend_types[] = { &backend_near,
	&backend_far, NULL };

const struct backend_type *
backend_type_find(const char *name)
{
	size_t i;

	for (i = 0; backend_types[i] != NULL; i++)
		if (strcmp(backend_types[i]->name, name) == 0)
			return backend_types[i];
	return NULL;
}

static void __attribute__((noreturn)) die(const struct err *e)
{
	printf("Bail out! %s\n", e->text);
	exit(1);
}

void
fake_study_change(struct fake_study *s, const char *members)
{
	char *path = xasprintf("%s/study.json", s->dir), *json;
	struct err e = ERR_INIT;

	study_free(s->study);
	json =
	    xasprintf("{\"study\": \"far\", \"objective\": {\"metric\": "
		      "\"m\", \"goal\": \"minimize\"}, \"parameters\": "
		      "{\"x\": {\"type\": \"int\", \"min\": 8, \"max\": 512, "
		      "\"step\": 8}}, \"strategy\": {\"name\": \"random\", "
		      "\"seed\": 1}, %s}",
		members);
	if (study_parse(&s->study, json, strlen(json), path, &e) != 0)
		die(&e);
	free(json);
	free(path);
}

static void
quiet(void *arg, enum log_level level, const char *area, const char *text)
{
	(void)arg;
	if (getenv("FAR_LOUD") != NULL)
		printf("# %s %s: %s\n", log_level_name(level), area, text);
}

void
fake_study_open(struct fake_study *s, const char *members)
{
	struct err e = ERR_INIT;

	fake_backend_reset();
	log_set_sink(quiet, NULL);
	*s = (struct fake_study){ 0 };
	(void)snprintf(s->dir, sizeof s->dir, "%.40s/hpotune-far-XXXXXX",
	    scratch_folder());
	if (mkdtemp(s->dir) == NULL ||
	    loop_open(&s->loop, LOOP_VIRTUAL, &e) != 0)
		die(&e);
	(void)snprintf(s->db, sizeof s->db, "%s/far.db", s->dir);
	(void)snprintf(s->state_dir, sizeof s->state_dir, "%s/far.d", s->dir);
	(void)mkdir(s->state_dir, 0700);
	fake_study_change(s, members);
}

void
fake_study_close(struct fake_study *s)
{
	char command[128];

	fake_study_server_down(s);
	loop_close(s->loop);
	study_free(s->study);
	(void)snprintf(command, sizeof command, "rm -rf '%s'", s->dir);
	if (system(command) != 0)
		printf("# left: %s\n", s->dir);
	fake_backend_reset();
}

void
fake_study_server_up(struct fake_study *s)
{
	struct tuner_env env = { .loop = s->loop,
		.study = s->study,
		.db = s->db,
		.state_dir = s->state_dir };
	struct err e = ERR_INIT;

	if (study_row_open(&env.store, s->db, s->study, false, STORE_WRITE,
		loop_wall_us(s->loop), &e) != 0 ||
	    tuner_open(&s->tuner, &env, &e) != 0)
		die(&e);
	s->done = false;
	fake_study_run(s, 1);
}

void
fake_study_server_down(struct fake_study *s)
{
	tuner_close(s->tuner);
	s->tuner = NULL;
}

static void
on_turn(void *arg)
{
	struct fake_study *s = arg;
	struct err e = ERR_INIT;

	if (tuner_turn(s->tuner, &e) < 0)
		die(&e);
	s->done = tuner_done(s->tuner);
	if (s->done)
		loop_stop(s->loop);
}

static void
on_time(void *arg)
{
	loop_stop(((struct fake_study *)arg)->loop);
}

void
fake_study_run(struct fake_study *s, int64_t ms)
{
	struct loop_timer *timer = loop_timer_new(s->loop, on_time, s);

	loop_timer_set(timer, ms);
	loop_run(s->loop, on_turn, s);
	loop_timer_free(timer);
}

static bool
query(struct fake_study *s, const char *sql, char *text, size_t n, double *x)
{
	struct store *store;
	struct store_rows *rows;
	struct err e = ERR_INIT;
	int rc;

	if (store_open(&store, s->db, STORE_READ, &e) != 0 ||
	    (rc = rows_first(&rows, store, sql, NULL, &e)) < 0)
		die(&e);
	*x = NAN;
	*text = '\0';
	if (rc == 1) {
		*x = rows_real(rows, 0);
		if (!store_rows_null(rows, 0))
			(void)snprintf(text, n, "%s", store_rows_text(rows, 0));
		store_rows_close(rows);
	}
	store_close(store);
	return rc == 1;
}

double
fake_study_number(struct fake_study *s, const char *sql)
{
	char text[8];
	double x;

	(void)query(s, sql, text, sizeof text, &x);
	return x;
}

const char *
fake_study_text(struct fake_study *s, const char *sql)
{
	static char text[512];
	double x;

	return query(s, sql, text, sizeof text, &x) ? text : NULL;
}

static void
on_reply(void *arg, bool good, const char *text, const char *data)
{
	struct fake_study *s = arg;

	(void)data;
	s->good = good;
	(void)snprintf(s->text, sizeof s->text, "%s", text);
}

void
fake_study_ask(struct fake_study *s, int ask, int64_t trial)
{
	*s->text = '\0';
	tuner_request(
	    s->tuner, (enum tuner_request_kind)ask, trial, NULL, on_reply, s);
	fake_study_run(s, 1);
}
