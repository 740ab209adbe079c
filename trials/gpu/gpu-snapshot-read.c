/*
 * Parses a snapshot from its JSON line.  Strict: each member must exist exactly
 * once, with its type and within its bounds; other members are errors.
 */

#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "trials/gpu/gpu-snapshot-build.h"
#include "trials/gpu/gpu-snapshot.h"

/* Integers up to here are exact in a double. */
#define NUMBER_MOST (INT64_C(1) << 53)

/* Read a text that will be shown on terminals: printable ASCII. */
static int
snapshot_text_read(const struct json *object, const char *key, char *to,
    size_t n, struct err *e)
{
	const struct json *v = json_need(object, key, e);
	const char *text, *c;

	if (v == NULL || json_read_string(v, &text, e) != 0)
		return -1;
	if (strlen(text) >= n)
		return json_err(v, e, "longer than %zu bytes", n - 1);
	for (c = text; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			return json_err(v, e, "not plain text");
	memcpy(to, text, strlen(text) + 1);
	return 0;
}

static int
snapshot_number_read(const struct json *object, const char *key, int64_t min,
    int64_t max, int64_t *to, struct err *e)
{
	const struct json *v = json_need(object, key, e);

	return v == NULL ? -1 : json_read_integer(v, min, max, to, e);
}

static int
int_read(const struct json *object, const char *key, int min, int max, int *to,
    struct err *e)
{
	int64_t n = 0;

	if (snapshot_number_read(object, key, min, max, &n, e) != 0)
		return -1;
	*to = (int)n;
	return 0;
}

static int
bool_read(const struct json *object, const char *key, bool *to, struct err *e)
{
	const struct json *v = json_need(object, key, e);

	return v == NULL ? -1 : json_read_bool(v, to, e);
}

/* The elements of an array of at most so many. */
static int
array_read(const struct json *object, const char *key, size_t most,
    const struct json **array, struct err *e)
{
	*array = json_need(object, key, e);
	if (*array == NULL || json_want(*array, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(*array) > most)
		return json_err(*array, e, "more than %zu", most);
	return 0;
}

/* Read a UUID, which becomes part of environments and of names of files. */
static int
uuid_read(const struct json *object, const char *key, char *to, struct err *e)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-/";

	if (snapshot_text_read(object, key, to, GPU_UUID, e) != 0)
		return -1;
	if (to[strspn(to, good)] != '\0')
		return json_err(
		    json_get(object, key), e, "not the UUID of a GPU");
	return 0;
}

static int
process_read(struct gpu_process *p, const struct json *v, struct err *e)
{
	static const char *const known[] = { "pid", "memory", NULL };

	*p = (struct gpu_process){ 0 };
	if (json_want(v, JSON_OBJECT, e) != 0 || json_only(v, known, e) != 0 ||
	    snapshot_number_read(v, "pid", 1, INT32_MAX, &p->pid, e) != 0)
		return -1;
	return snapshot_number_read(
	    v, "memory", -1, NUMBER_MOST, &p->memory, e);
}

static int
processes_read(struct gpu_device *g, const struct json *object, struct err *e)
{
	const struct json *array, *v;

	if (array_read(
		object, "processes", GPU_SNAPSHOT_PROCESSES, &array, e) != 0)
		return -1;
	if (json_count(array) == 0)
		return 0;
	g->processes = xcalloc(json_count(array), sizeof *g->processes);
	for (v = json_first(array); v != NULL; v = json_next(v))
		if (process_read(&g->processes[g->n_processes++], v, e) != 0)
			return -1;
	return 0;
}

static int
texts_read(struct gpu_device *g, const struct json *v, struct err *e)
{
	if (uuid_read(v, "uuid", g->uuid, e) != 0 ||
	    uuid_read(v, "parent", g->parent, e) != 0 ||
	    snapshot_text_read(v, "name", g->name, sizeof g->name, e) != 0 ||
	    snapshot_text_read(v, "bus", g->bus, sizeof g->bus, e) != 0 ||
	    snapshot_text_read(v, "cpus", g->cpus, sizeof g->cpus, e) != 0)
		return -1;
	return snapshot_text_read(v, "why", g->why, sizeof g->why, e);
}

static int
snapshot_numbers_read(struct gpu_device *g, const struct json *v, struct err *e)
{
	const int64_t most = NUMBER_MOST;

	if (int_read(v, "node", -1, 65535, &g->node, e) != 0 ||
	    int_read(v, "index", 0, 65535, &g->index, e) != 0 ||
	    int_read(v, "minor", -1, 1 << 20, &g->minor, e) != 0 ||
	    snapshot_number_read(v, "memory", -1, most, &g->memory, e) != 0 ||
	    snapshot_number_read(v, "used", -1, most, &g->used, e) != 0 ||
	    int_read(v, "temperature", -300, 1000, &g->temperature, e) != 0 ||
	    int_read(v, "utilization", -1, 100, &g->utilization, e) != 0 ||
	    snapshot_number_read(v, "power", -1, most, &g->power, e) != 0 ||
	    snapshot_number_read(v, "energy", -1, most, &g->energy, e) != 0)
		return -1;
	return int_read(v, "recovery", 0, 1000, &g->recovery, e);
}

static int
snapshot_seen_read(struct gpu_device *g, const struct json *v, struct err *e)
{
	static const char *const known[] = { "uuid", "name", "bus", "parent",
		"cpus", "node", "index", "minor", "memory", "used",
		"temperature", "utilization", "power", "energy", "recovery",
		"lost", "why", "processes", NULL };

	if (json_want(v, JSON_OBJECT, e) != 0 || json_only(v, known, e) != 0 ||
	    texts_read(g, v, e) != 0 || snapshot_numbers_read(g, v, e) != 0 ||
	    bool_read(v, "lost", &g->lost, e) != 0)
		return -1;
	if (g->uuid[0] == '\0')
		return json_err(json_get(v, "uuid"), e, "empty");
	return processes_read(g, v, e);
}

static int
snapshot_gpus_read(
    struct gpu_snapshot *l, const struct json *root, struct err *e)
{
	const struct json *array, *v;
	struct gpu_device *g;
	size_t i;

	if (array_read(root, "gpus", GPU_SNAPSHOT_GPUS, &array, e) != 0)
		return -1;
	for (v = json_first(array); v != NULL; v = json_next(v)) {
		g = gpu_snapshot_add(l);
		if (snapshot_seen_read(g, v, e) != 0)
			return -1;
		for (i = 0; i + 1 < l->n; i++)
			if (strcmp(l->gpus[i].uuid, g->uuid) == 0)
				return json_err(v, e, "%s twice", g->uuid);
	}
	return 0;
}

static int
faults_read(struct gpu_snapshot *l, const struct json *root, struct err *e)
{
	static const char *const known[] = { "uuid", "xid", NULL };
	const struct json *array, *v;
	struct gpu_fault *f;

	if (array_read(root, "faults", GPU_SNAPSHOT_FAULTS, &array, e) != 0)
		return -1;
	if (json_count(array) > 0)
		l->faults = xcalloc(json_count(array), sizeof *l->faults);
	for (v = json_first(array); v != NULL; v = json_next(v)) {
		f = &l->faults[l->n_faults++];
		if (json_want(v, JSON_OBJECT, e) != 0 ||
		    json_only(v, known, e) != 0 ||
		    uuid_read(v, "uuid", f->uuid, e) != 0 ||
		    int_read(v, "xid", 0, 1 << 20, &f->xid, e) != 0)
			return -1;
	}
	return 0;
}

static int
snapshot_parse(struct gpu_snapshot *l, const struct json *root, struct err *e)
{
	static const char *const known[] = { "seq", "source", "driver", "why",
		"gpus", "faults", NULL };
	const struct json *source;
	size_t word;

	if (json_want(root, JSON_OBJECT, e) != 0 ||
	    json_only(root, known, e) != 0 ||
	    snapshot_number_read(root, "seq", 0, NUMBER_MOST, &l->seq, e) !=
		0 ||
	    (source = json_need(root, "source", e)) == NULL ||
	    json_read_word(source, gpu_source_names, &word, e) != 0)
		return -1;
	l->source = (enum gpu_source)word;
	if (snapshot_text_read(
		root, "driver", l->driver, sizeof l->driver, e) != 0 ||
	    snapshot_text_read(root, "why", l->why, sizeof l->why, e) != 0 ||
	    snapshot_gpus_read(l, root, e) != 0)
		return -1;
	return faults_read(l, root, e);
}

int
gpu_snapshot_read(
    struct gpu_snapshot *l, const char *line, size_t len, struct err *e)
{
	struct json_doc *doc;
	int rc;

	*l = (struct gpu_snapshot){ 0 };
	if (len > GPU_SNAPSHOT_LINE)
		return err_set(e, ERR_REMOTE,
		    "a snapshot of the GPUs of more than %d bytes",
		    GPU_SNAPSHOT_LINE);
	if (json_parse(&doc, line, len, "look", false, e) != 0)
		return -1;
	rc = snapshot_parse(l, json_root(doc), e);
	json_free(doc);
	return rc;
}
