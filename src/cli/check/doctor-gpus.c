/* GPUs: processes, health, reasons why no trial could use one. */

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/cli/check/doctor-gpus.h"
#include "src/cli/check/doctor.h"
#include "src/model/study/study.h"
#include "trials/gpu/gpu-lock.h"
#include "trials/gpu/gpu-snapshot.h"
#include "trials/gpu/gpu-visible.h"

enum {
	LOOK_MS = 60 * 1000, /* a driver may have to initialize many GPUs */
	PROBE_MS = 60 * 1000,
	SHOWN_MOST = 4 /* processes of one GPU */
};

/* As long as gpu_busy_memory does not set another value. */
#define BUSY_BYTES (INT64_C(1) << 30)

/* A process on a GPU, as far as its /proc files are readable. */
struct owner {
	char user[64], command[64];
	char trial[128]; /* "trial 3 of NAME", or "" */
	bool there;
};

/* The value of a variable in a process's initial environment. */
static void
environ_value(int64_t pid, const char *name, char *to, size_t n)
{
	char path[64], *line = NULL;
	size_t cap = 0, len = strlen(name);
	FILE *f;

	to[0] = '\0';
	(void)snprintf(path, sizeof path, "/proc/%" PRId64 "/environ", pid);
	if ((f = fopen(path, "re")) == NULL)
		return;
	while (getdelim(&line, &cap, '\0', f) > 0)
		if (strncmp(line, name, len) == 0 && line[len] == '=')
			(void)snprintf(to, n, "%s", line + len + 1);
	free(line);
	(void)fclose(f);
}

static void
owner_find(struct owner *o, int64_t pid)
{
	char path[64], study[64], number[24];
	const struct passwd *user;
	struct stat st;

	*o = (struct owner){ .there = false };
	(void)snprintf(path, sizeof path, "/proc/%" PRId64, pid);
	if (stat(path, &st) == -1)
		return;
	o->there = true;
	user = getpwuid(st.st_uid);
	if (user != NULL)
		(void)snprintf(o->user, sizeof o->user, "%s", user->pw_name);
	else
		(void)snprintf(
		    o->user, sizeof o->user, "user %u", (unsigned)st.st_uid);
	(void)snprintf(path, sizeof path, "/proc/%" PRId64 "/comm", pid);
	(void)doctor_line(path, o->command, sizeof o->command);
	environ_value(pid, "HPOTUNE_STUDY", study, sizeof study);
	environ_value(pid, "HPOTUNE_TRIAL", number, sizeof number);
	if (study[0] != '\0')
		(void)snprintf(
		    o->trial, sizeof o->trial, "trial %s of %s", number, study);
}

static void
size_put(struct buf *b, int64_t bytes)
{
	if (bytes >= 1 << 30)
		buf_printf(b, "%.1f GiB", (double)bytes / 0x1p30);
	else
		buf_printf(b, "%.0f MiB", (double)bytes / 0x1p20);
}

static void
process_put(struct buf *b, const struct gpu_process *p, const struct owner *o)
{
	if (o->trial[0] != '\0')
		buf_puts(b, o->trial);
	else if (o->there)
		buf_printf(b, "%s of %s", o->command, o->user);
	else
		buf_puts(b, "a process that is not visible here");
	buf_printf(
	    b, " (pid %" PRId64 "%s", p->pid, p->memory >= 0 ? ", " : ")");
	if (p->memory >= 0) {
		size_put(b, p->memory);
		buf_putc(b, ')');
	}
}

/* What is not to be had is negative, and null. */
static void
number_put_json(struct json_writer *w, const char *key, int64_t n)
{
	if (n >= 0)
		json_writer_integer(w, key, n);
	else
		json_writer_null(w, key);
}

static void
process_put_json(
    struct json_writer *w, const struct gpu_process *p, const struct owner *o)
{
	json_writer_object(w, NULL);
	json_writer_integer(w, "pid", p->pid);
	number_put_json(w, "memory", p->memory);
	json_writer_text(w, "user", o->user);
	json_writer_text(w, "command", o->command);
	json_writer_text(w, "trial", o->trial);
	json_writer_end(w);
}

/* The MPS daemon works for its clients and is not counted as a user. */
static bool
owner_foreign(const struct owner *o)
{
	return o->there && o->trial[0] == '\0' &&
	       strncmp(o->command, "nvidia-cuda-mps", 15) != 0;
}

/* The visible processes on a GPU, by owner. */
struct company {
	size_t trials, foreign;
};

static void
processes_put(struct buf *found, struct json_writer *more,
    const struct gpu_device *g, struct company *c)
{
	struct owner o;
	size_t i;

	json_writer_array(more, "processes");
	for (i = 0; i < g->n_processes; i++) {
		owner_find(&o, g->processes[i].pid);
		c->trials += o.trial[0] != '\0';
		c->foreign += owner_foreign(&o);
		process_put_json(more, &g->processes[i], &o);
		if (i >= SHOWN_MOST)
			continue;
		buf_puts(found, "; ");
		process_put(found, &g->processes[i], &o);
	}
	if (i > SHOWN_MOST)
		buf_printf(found, "; and %zu more", i - SHOWN_MOST);
	json_writer_end(more);
}

static void
facts_put_json(struct json_writer *w, const struct gpu_device *g)
{
	json_writer_integer(w, "index", g->index);
	json_writer_text(w, "uuid", g->uuid);
	json_writer_text(w, "name", g->name);
	json_writer_text(w, "bus", g->bus);
	number_put_json(w, "node", g->node);
	number_put_json(w, "memory", g->memory);
	number_put_json(w, "used", g->used);
	number_put_json(w, "temperature", g->temperature);
	number_put_json(w, "utilization", g->utilization);
	number_put_json(w, "power", g->power);
}

static void
doctor_gpus_facts_put(struct buf *b, const struct gpu_device *g)
{
	buf_puts(b, g->name[0] != '\0' ? g->name : "a GPU");
	if (g->memory >= 0) {
		buf_puts(b, ", ");
		size_put(b, g->memory);
	}
	if (g->used >= 0) {
		buf_puts(b, ", ");
		size_put(b, g->used);
		buf_puts(b, " used");
	}
	if (g->temperature >= 0)
		buf_printf(b, ", %d C", g->temperature);
	buf_printf(b, ", %s", g->uuid);
}

/* Whether a GPU works, tested by a separate program. */
static bool
probe_put(
    struct buf *found, struct json_writer *more, const struct gpu_device *g)
{
	struct err e = ERR_INIT;
	bool good = gpu_query_probe(g->uuid, PROBE_MS, &e) == 0;

	buf_printf(found, "; %s", good ? "its test succeeded" : e.text);
	json_writer_text(more, "probe", good ? "good" : e.text);
	return good;
}

/* Why trials could not use a GPU, or "". */
static const char *
gpu_unused(const struct gpu_device *g, const struct company *c)
{
	if (g->lost || g->recovery > 0)
		return "trials cannot use it until this is fixed";
	if (c->foreign > 0)
		return "trials cannot use it while others compute there";
	/* In a container the driver's pids belong to another pid namespace. */
	if (c->trials == 0 && g->used > BUSY_BYTES)
		return "a process that is not visible here uses it: trials "
		       "cannot use it while that is more than "
		       "gpu_busy_memory";
	return g->why[0] != '\0' ? "a GPU that cannot be queried is not checked"
				 : "";
}

static void
gpu_find(struct doctor *d, const struct gpu_device *g)
{
	struct buf found = { 0 }, more = { 0 };
	struct json_writer w = { .out = &more };
	char what[48], who[GPU_OWNER * 2] = "";
	struct company c = { 0 };
	enum finding finding;
	const char *mend;

	(void)snprintf(what, sizeof what, "GPU %d%s", g->index,
	    g->parent[0] != '\0' ? ", a slice" : "");
	doctor_gpus_facts_put(&found, g);
	json_writer_object(&w, "gpu");
	facts_put_json(&w, g);
	processes_put(&found, &w, g, &c);
	if (gpu_lock_owner(g->uuid, who, sizeof who))
		buf_printf(
		    &found, "; booked by %s", who[0] != '\0' ? who : "a study");
	if (g->why[0] != '\0')
		buf_printf(&found, "; %s", g->why);
	json_writer_text(&w, "owner", who);
	json_writer_text(&w, "why", g->why);
	mend = gpu_unused(g, &c);
	finding = mend[0] != '\0' ? FINDING_WARN : FINDING_OK;
	if (d->probe && !probe_put(&found, &w, g)) {
		mend = "no trial would work there: fix this first";
		finding = FINDING_BAD;
	}
	json_writer_text(&w, "unused", mend);
	json_writer_end(&w);
	doctor_add(d, finding, what, buf_str(&found), mend, buf_str(&more));
	buf_free(&found);
	buf_free(&more);
}

/* The state of the driver. */
static void
driver_find(struct doctor *d, const struct gpu_snapshot *l)
{
	char text[256];

	switch (l->source) {
	case GPU_SIMULATED:
	case GPU_NONE:
		if (!gpu_query_driver())
			doctor_add(d, FINDING_OK, "GPUs", "none", "", "");
		else
			doctor_add(d, FINDING_WARN, "GPUs", l->why,
			    "trials get no GPU until this is fixed", "");
		break;
	case GPU_NVML:
		(void)snprintf(text, sizeof text, "%zu, driver %s%s%s", l->n,
		    l->driver, l->why[0] != '\0' ? "; " : "", l->why);
		doctor_add(d,
		    l->why[0] != '\0' || l->n == 0 ? FINDING_WARN : FINDING_OK,
		    "GPUs", text,
		    "look at nvidia-smi: trials get those that it shows", "");
		break;
	case GPU_PROC:
		(void)snprintf(text, sizeof text,
		    "%zu, driver %s, and no NVML: %s", l->n, l->driver, l->why);
		doctor_add(d, FINDING_WARN, "GPUs", text,
		    "install NVML, which belongs to the driver: without "
		    "it users and errors of GPUs are not detected",
		    "");
		break;
	}
}

/* GPUs that trials started from here do not get. */
static void
visible_find(struct doctor *d, const struct gpu_snapshot *look)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	char text[256];
	bool wrong;

	if (visible == NULL || look->n == 0)
		return;
	wrong = gpu_visible_why(text, sizeof text, look, visible);
	if (*text != '\0')
		doctor_add(d, wrong ? FINDING_WARN : FINDING_OK, "hidden GPUs",
		    text, "unset CUDA_VISIBLE_DEVICES, or mend its list", "");
}

void
doctor_gpus(struct doctor *d)
{
	struct err e = ERR_INIT;
	struct gpu_snapshot look;
	size_t i;

	if (gpu_query(&look, LOOK_MS, &e) != 0) {
		doctor_add(d, FINDING_WARN, "GPUs", e.text,
		    "trials get no GPU until this is fixed", "");
		return;
	}
	driver_find(d, &look);
	for (i = 0; i < look.n; i++)
		gpu_find(d, &look.gpus[i]);
	visible_find(d, &look);
	gpu_snapshot_free(&look);
}
