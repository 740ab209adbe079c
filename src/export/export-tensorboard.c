/*
 * Event files of TensorBoard: records of tensorboard/compat/proto/event.proto,
 * with the messages of tensorboard/plugins/hparams/{plugin_data,api}.proto and
 * of google/protobuf/struct.proto.
 */

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/atomic-file.h"
#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/tfevents.h"
#include "src/export/export-tensorboard.h"
#include "src/export/protobuf.h"
#include "src/model/goal.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/view/rows.h"

/* Numbers of fields, as in the files above. */
enum { EVENT_TIME = 1, EVENT_STEP, EVENT_VERSION, EVENT_SUMMARY = 5 };
enum { SUMMARY_VALUE = 1 };
enum { VALUE_TAG = 1, VALUE_SIMPLE, VALUE_TENSOR = 8, VALUE_METADATA };
enum { TENSOR_TYPE = 1, TENSOR_SHAPE };
enum { METADATA_PLUGIN = 1 };
enum { PLUGIN_NAME = 1, PLUGIN_CONTENT };
enum { HPARAMS_EXPERIMENT = 2, HPARAMS_START, HPARAMS_END };
enum { START_HPARAMS = 1, START_GROUP = 3, START_TIME = 5 };
enum { END_STATUS = 1, END_TIME };
enum {
	EXPERIMENT_CREATED = 3,
	EXPERIMENT_HPARAMS,
	EXPERIMENT_METRICS,
	EXPERIMENT_NAME
};
enum { HPARAM_NAME = 1, HPARAM_TYPE = 4, HPARAM_DISCRETE, HPARAM_INTERVAL };
enum { TYPE_STRING = 1, TYPE_BOOL, TYPE_NUMBER };
enum { INTERVAL_MIN = 1, INTERVAL_MAX };
enum { METRIC_NAME = 1, METRIC_DISPLAY = 3, METRIC_ABOUT };
enum { NAME_TAG = 2 };
enum { PROTO_NUMBER = 2, PROTO_STRING, PROTO_BOOL };
enum { LIST_VALUES = 1, MAP_KEY = 1, MAP_VALUE };
enum { STATUS_UNKNOWN, STATUS_SUCCESS, STATUS_FAILURE, STATUS_RUNNING };

/* Like that of any writer, but the same in each export. */
#define FILE_NAME "events.out.tfevents.0000000000.hpotune"

struct board {
	struct store *store;
	const char *folder;
	bool replace;
	bool made; /* the folder was not there */
	const struct json *params; /* of study.json */
	struct buf out; /* the file */
	struct rows_cursor metrics;
};

static void
record_put(struct buf *out, const struct buf *event)
{
	unsigned char head[8];
	uint32_t sum;
	size_t i;

	for (i = 0; i < sizeof head; i++)
		head[i] = (unsigned char)((uint64_t)event->len >> 8 * i);
	buf_add(out, (const char *)head, sizeof head);
	sum = tfevents_checksum(head, sizeof head);
	for (i = 0; i < 4; i++)
		buf_putc(out, (char)(sum >> 8 * i & 0xff));
	buf_add(out, buf_str(event), event->len);
	sum = tfevents_checksum(buf_str(event), event->len);
	for (i = 0; i < 4; i++)
		buf_putc(out, (char)(sum >> 8 * i & 0xff));
}

/* A record with one value of a summary, which is emptied. */
static void
tensorboard_value_put(
    struct buf *out, double time, int64_t step, struct buf *value)
{
	struct buf summary = { 0 }, event = { 0 };

	protobuf_put_message(&summary, SUMMARY_VALUE, value);
	protobuf_put_double(&event, EVENT_TIME, time);
	protobuf_put_varint(&event, EVENT_STEP, (uint64_t)step);
	protobuf_put_message(&event, EVENT_SUMMARY, &summary);
	record_put(out, &event);
	buf_free(&summary);
	buf_free(&event);
}

static void
version_put(struct buf *out, double time)
{
	struct buf event = { 0 };

	protobuf_put_double(&event, EVENT_TIME, time);
	protobuf_put_text(&event, EVENT_VERSION, "brain.Event:2");
	record_put(out, &event);
	buf_free(&event);
}

static void
scalar_put(
    struct buf *out, double time, int64_t step, const char *tag, double x)
{
	struct buf value = { 0 };

	protobuf_put_text(&value, VALUE_TAG, tag);
	protobuf_put_float(&value, VALUE_SIMPLE, (float)x);
	tensorboard_value_put(out, time, step, &value);
	buf_free(&value);
}

/* A message of the HParams plug-in, which is emptied. */
static void
hparams_put(struct buf *out, double time, const char *tag, int field,
    struct buf *message)
{
	struct buf data = { 0 }, plugin = { 0 }, meta = { 0 }, tensor = { 0 };
	struct buf value = { 0 }, none = { 0 };

	protobuf_put_message(&data, field, message);
	protobuf_put_text(&plugin, PLUGIN_NAME, "hparams");
	protobuf_put_message(&plugin, PLUGIN_CONTENT, &data);
	protobuf_put_message(&meta, METADATA_PLUGIN, &plugin);
	protobuf_put_varint(&tensor, TENSOR_TYPE, 1);
	protobuf_put_message(&tensor, TENSOR_SHAPE, &none);
	protobuf_put_text(&value, VALUE_TAG, tag);
	protobuf_put_message(&value, VALUE_TENSOR, &tensor);
	protobuf_put_message(&value, VALUE_METADATA, &meta);
	tensorboard_value_put(out, time, 0, &value);
	buf_free(&data);
	buf_free(&plugin);
	buf_free(&meta);
	buf_free(&tensor);
	buf_free(&value);
}

/* The type of all values of a parameter: mixed ones are texts. */
static int
type_of_values(const struct json *j)
{
	int type = 0, one;

	for (; j != NULL; j = json_next(j)) {
		one = json_type(j) == JSON_NUMBER ? TYPE_NUMBER
		      : json_type(j) == JSON_BOOL ? TYPE_BOOL
						  : TYPE_STRING;
		if (type != 0 && type != one)
			return TYPE_STRING;
		type = one;
	}
	return type == 0 ? TYPE_STRING : type;
}

static int
tensorboard_type_of(const struct json *param)
{
	const struct json *value = json_get(param, "value");

	if (json_get(param, "min") != NULL)
		return TYPE_NUMBER;
	if (value == NULL)
		return type_of_values(json_first(json_get(param, "values")));
	return json_type(value) == JSON_NUMBER ? TYPE_NUMBER
	       : json_type(value) == JSON_BOOL ? TYPE_BOOL
					       : TYPE_STRING;
}

/* A value of struct.proto in the type of its parameter. */
static void
json_value_put(struct buf *out, int field, const struct json *j, int type)
{
	struct buf value = { 0 }, text = { 0 };
	bool is = false;
	double x = 0;

	if (type == TYPE_NUMBER && json_number(j, &x))
		protobuf_put_double(&value, PROTO_NUMBER, x);
	else if (type == TYPE_BOOL && json_bool(j, &is))
		protobuf_put_varint(&value, PROTO_BOOL, is);
	else if (json_string(j) != NULL)
		protobuf_put_text(&value, PROTO_STRING, json_string(j));
	else {
		json_write(&text, j);
		protobuf_put_text(&value, PROTO_STRING, buf_str(&text));
	}
	protobuf_put_message(out, field, &value);
	buf_free(&value);
	buf_free(&text);
}

static void
tensorboard_param_put(struct buf *experiment, const struct json *param)
{
	const struct json *j = json_first(json_get(param, "values"));
	struct buf info = { 0 }, domain = { 0 };
	int type = tensorboard_type_of(param);
	double min, max;

	protobuf_put_text(&info, HPARAM_NAME, json_key(param));
	protobuf_put_varint(&info, HPARAM_TYPE, (uint64_t)type);
	if (json_number(json_get(param, "min"), &min) &&
	    json_number(json_get(param, "max"), &max)) {
		protobuf_put_double(&domain, INTERVAL_MIN, min);
		protobuf_put_double(&domain, INTERVAL_MAX, max);
		protobuf_put_message(&info, HPARAM_INTERVAL, &domain);
	} else {
		if (json_get(param, "value") != NULL)
			json_value_put(&domain, LIST_VALUES,
			    json_get(param, "value"), type);
		for (; j != NULL; j = json_next(j))
			json_value_put(&domain, LIST_VALUES, j, type);
		protobuf_put_message(&info, HPARAM_DISCRETE, &domain);
	}
	protobuf_put_message(experiment, EXPERIMENT_HPARAMS, &info);
	buf_free(&info);
	buf_free(&domain);
}

static int
tensorboard_folder_make(const char *path, struct err *e)
{
	if (mkdir(path, 0777) == 0 || errno == EEXIST)
		return 0;
	return err_set(e, errno == ENOSPC ? ERR_FULL : ERR_FILE, "%s: %s", path,
	    strerror(errno));
}

static int
tensorboard_on_entry(
    const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	(void)remove(path);
	return 0;
}

/* After a failure: the same command begins anew when there is room. */
static void
tensorboard_folder_remove(const struct board *b)
{
	enum { FOLDERS = 8 }; /* descriptors */

	if (b->made)
		(void)nftw(b->folder, tensorboard_on_entry, FOLDERS,
		    FTW_DEPTH | FTW_PHYS);
}

/* Write the file of out into a folder below ours ("" = ours). */
static int
tensorboard_file_write(struct board *b, const char *below, struct err *e)
{
	char *folder =
	    xasprintf("%s%s%s", b->folder, *below != '\0' ? "/" : "", below);
	char *path = xasprintf("%s/%s", folder, FILE_NAME);
	int rc = tensorboard_folder_make(folder, e);

	if (rc == 0)
		rc = atomic_file_write(path, b->replace, &b->out, e);
	buf_clear(&b->out);
	free(folder);
	free(path);
	return rc;
}

static void
tensorboard_metric_put(struct buf *experiment, const char *name, bool maximize)
{
	struct buf metric = { 0 }, full = { 0 };

	protobuf_put_text(&full, NAME_TAG, name);
	protobuf_put_message(&metric, METRIC_NAME, &full);
	protobuf_put_text(&metric, METRIC_DISPLAY, name);
	protobuf_put_text(&metric, METRIC_ABOUT, goal_name(maximize));
	protobuf_put_message(experiment, EXPERIMENT_METRICS, &metric);
	buf_free(&metric);
	buf_free(&full);
}

static const char aims_sql[] =
    "SELECT metric, goal = 'maximize' FROM " STORE_SQL_AIMS
    " WHERE goal IS NOT NULL";

static int
experiment_write(
    struct board *b, const struct store_study *study, struct err *e)
{
	double created = (double)study->created_us / 1e6;
	struct buf experiment = { 0 };
	struct store_rows *rows;
	const struct json *j;
	int rc;

	rc = store_rows_open(&rows, b->store, aims_sql, NULL, e);
	if (rc != 0)
		return -1;
	protobuf_put_text(&experiment, EXPERIMENT_NAME, study->name);
	protobuf_put_double(&experiment, EXPERIMENT_CREATED, created);
	for (j = json_first(b->params); j != NULL; j = json_next(j))
		tensorboard_param_put(&experiment, j);
	while ((rc = store_rows_next(rows, e)) == 1)
		tensorboard_metric_put(&experiment, store_rows_text(rows, 0),
		    store_rows_int(rows, 1) != 0);
	store_rows_close(rows);
	version_put(&b->out, created);
	hparams_put(&b->out, created, "_hparams_/experiment",
	    HPARAMS_EXPERIMENT, &experiment);
	buf_free(&experiment);
	return rc == 0 ? tensorboard_file_write(b, "", e) : -1;
}

enum { COL_TRIAL, COL_STATE, COL_PARAMS, COL_STARTED, COL_ENDED };

static const char trials_sql[] =
    "SELECT trial, state, params, started_us / 1e6, ended_us / 1e6 "
    "FROM " STORE_SQL_TRIALS
    " WHERE started_us > 0 AND forgotten = 0 ORDER BY trial";

enum { COL_STEP = 1, COL_NAME, COL_VALUE, COL_TIME };

static int
tensorboard_status_of(const char *state)
{
	if (strcmp(state, "failed") == 0)
		return STATUS_FAILURE;
	if (strcmp(state, "completed") == 0 || strcmp(state, "stopped") == 0)
		return STATUS_SUCCESS;
	if (strcmp(state, "cancelled") == 0)
		return STATUS_UNKNOWN;
	return STATUS_RUNNING;
}

static int
session_start_put(struct board *b, const struct store_rows *rows,
    const char *name, struct err *e)
{
	const char *params = store_rows_text(rows, COL_PARAMS);
	struct buf start = { 0 }, entry = { 0 };
	double began = store_rows_real(rows, COL_STARTED);
	struct json_doc *doc;
	const struct json *j;

	if (json_parse(&doc, params, strlen(params), name, false, e) != 0)
		return -1;
	for (j = json_first(json_root(doc)); j != NULL; j = json_next(j)) {
		protobuf_put_text(&entry, MAP_KEY, json_key(j));
		json_value_put(&entry, MAP_VALUE, j,
		    tensorboard_type_of(json_get(b->params, json_key(j))));
		protobuf_put_message(&start, START_HPARAMS, &entry);
	}
	protobuf_put_text(&start, START_GROUP, name);
	protobuf_put_double(&start, START_TIME, began);
	hparams_put(&b->out, began, "_hparams_/session_start_info",
	    HPARAMS_START, &start);
	json_free(doc);
	buf_free(&start);
	buf_free(&entry);
	return 0;
}

static void
session_end_put(struct board *b, const struct store_rows *rows)
{
	double ended = store_rows_null(rows, COL_ENDED)
			   ? store_rows_real(rows, COL_STARTED)
			   : store_rows_real(rows, COL_ENDED);
	struct buf end = { 0 };
	int status = tensorboard_status_of(store_rows_text(rows, COL_STATE));

	protobuf_put_varint(&end, END_STATUS, (uint64_t)status);
	if (status != STATUS_RUNNING)
		protobuf_put_double(&end, END_TIME, ended);
	hparams_put(
	    &b->out, ended, "_hparams_/session_end_info", HPARAMS_END, &end);
	buf_free(&end);
}

/* Metrics of trials that are left out are passed over. */
static int
tensorboard_metrics_put(struct board *b, int64_t trial, struct err *e)
{
	const struct store_rows *rows = b->metrics.rows;

	while (b->metrics.there && store_rows_int(rows, 0) <= trial) {
		if (store_rows_int(rows, 0) == trial)
			scalar_put(&b->out,
			    store_rows_real(rows, COL_TIME) / 1e6,
			    store_rows_int(rows, COL_STEP),
			    store_rows_text(rows, COL_NAME),
			    rows_real(rows, COL_VALUE));
		if (rows_cursor_next(&b->metrics, e) != 0)
			return -1;
	}
	return 0;
}

static int
trials_write(struct board *b, struct err *e)
{
	struct store_rows *rows;
	char *name;
	int rc;

	rc = store_rows_open(&rows, b->store, trials_sql, NULL, e);
	if (rc != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		name = xasprintf(
		    "trial-%" PRId64, store_rows_int(rows, COL_TRIAL));
		version_put(&b->out, store_rows_real(rows, COL_STARTED));
		rc = session_start_put(b, rows, name, e);
		if (rc == 0)
			rc = tensorboard_metrics_put(
			    b, store_rows_int(rows, COL_TRIAL), e);
		if (rc == 0) {
			session_end_put(b, rows);
			rc = tensorboard_file_write(b, name, e);
		}
		free(name);
		if (rc != 0)
			break;
	}
	store_rows_close(rows);
	return rc;
}

int
export_tensorboard(
    struct store *store, const char *folder, bool replace, struct err *e)
{
	struct board b = {
		.store = store, .folder = folder, .replace = replace
	};
	struct store_study study = { 0 };
	struct json_doc *doc = NULL;
	int rc;

	rc = store_study_get(store, &study, e);
	if (rc == 0)
		rc = json_parse(&doc, study.json, strlen(study.json),
		    "study.json", true, e);
	if (rc == 0) {
		b.params = json_get(json_root(doc), "parameters");
		rc = store_list_reports_by_time(&b.metrics.rows, store, e);
		if (rc == 0)
			rc = rows_cursor_next(&b.metrics, e);
	}
	b.made = rc == 0 && mkdir(folder, 0777) == 0;
	if (rc == 0)
		rc = experiment_write(&b, &study, e);
	if (rc == 0)
		rc = trials_write(&b, e);
	if (rc != 0)
		tensorboard_folder_remove(&b);
	rows_cursor_close(&b.metrics);
	buf_free(&b.out);
	json_free(doc);
	store_study_fini(&study);
	return rc;
}
