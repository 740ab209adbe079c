/*
 * The monitor on a fake driver: answers, merged queries, a hanging driver, a
 * program that dies or sends invalid data; probes; one synchronous query.
 */

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "tests/support/tap.h"
#include "trials/gpu/gpu-health-probe.h"
#include "trials/gpu/gpu-monitor.h"
#include "trials/gpu/gpu-snapshot.h"

/* What answers does so within this, on any machine; a test that hangs. */
enum { ANSWERS_MS = 60000, HANGS_S = 300 };

struct heard {
	struct loop *loop;
	struct gpu_monitor *watch;
	int looks, failures; /* how many */
	int wanted; /* callbacks until the loop stops */
	int64_t seq; /* of the last look */
	size_t gpus;
	char why[200];
	char uuid[GPU_UUID]; /* of the last probe */
	bool good;
};

static char dir[] = "/tmp/t_gpu_monitor.XXXXXX";

static void
text_put(const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	char *fresh = xasprintf("%s/%s.new", dir, name);
	FILE *f = fopen(fresh, "we");

	if (f == NULL || fputs(text, f) == EOF || fclose(f) == EOF ||
	    chmod(fresh, 0700) == -1 || rename(fresh, path) == -1)
		printf("# %s cannot be written\n", path);
	free(path);
	free(fresh);
}

static void
gpus_put(const char *text)
{
	text_put("gpus", text);
}

static void
heard_one(struct heard *h)
{
	if (--h->wanted <= 0)
		loop_stop(h->loop);
}

static void
on_look(void *arg, const struct gpu_snapshot *look, const char *why)
{
	struct heard *h = arg;

	(void)snprintf(h->why, sizeof h->why, "%s", why);
	if (look != NULL) {
		h->looks++;
		h->seq = look->seq;
		h->gpus = look->n;
	} else
		h->failures++;
	heard_one(h);
}

static void
on_probe(void *arg, const char *uuid, bool good, const char *why)
{
	struct heard *h = arg;

	(void)snprintf(h->uuid, sizeof h->uuid, "%s", uuid);
	(void)snprintf(h->why, sizeof h->why, "%s", why);
	h->good = good;
	heard_one(h);
}

static void
on_turn(void *arg)
{
	(void)arg;
}

/* Until so many callbacks more. */
static void
hear(struct heard *h, int wanted)
{
	/* A watch that does not mind hanging would hang here. */
	(void)alarm(HANGS_S);
	h->wanted = wanted;
	loop_run(h->loop, on_turn, NULL);
	(void)alarm(0);
}

static void
watch_open(struct heard *h, const char *program)
{
	struct err e = ERR_INIT;

	*h = (struct heard){ 0 };
	(void)setenv("HPOTUNE_GPU", program, 1);
	if (loop_open(&h->loop, LOOP_REAL, &e) != 0 ||
	    gpu_monitor_new(&h->watch, h->loop, on_look, h, &e) != 0) {
		printf("Bail out! %s\n", e.text);
		exit(99);
	}
}

static void
watch_close(struct heard *h)
{
	gpu_monitor_free(h->watch);
	loop_close(h->loop);
}

static void
test_answers(const char *program)
{
	struct heard h;

	gpus_put("gpu\ngpu\n");
	watch_open(&h, program);
	is_int(gpu_monitor_ask(h.watch), 1, "the first question");
	is_int(gpu_monitor_ask(h.watch), 1, "asked again before it was sent");
	hear(&h, 1);
	is_int(h.seq, 1, "its look");
	is_int((long long)h.gpus, 2, "with two GPUs");
	is_int(gpu_monitor_ask(h.watch), 2, "another one is sent");
	is_int(gpu_monitor_ask(h.watch), 3, "the next one waits");
	is_int(gpu_monitor_ask(h.watch), 3, "and others become one with it");
	hear(&h, 2);
	is_int(h.seq, 3, "both are answered in turn");
	is_int(h.looks, 3, "three looks in all");
	is_int(h.failures, 0, "no request has failed");
	watch_close(&h);
}

static void
test_hang(const char *program)
{
	struct heard h;

	gpus_put("gpu\n");
	watch_open(&h, program);
	gpu_monitor_patience(h.watch, ANSWERS_MS);
	(void)gpu_monitor_ask(h.watch);
	hear(&h, 1);
	gpu_monitor_patience(h.watch, 100);
	gpus_put("gpu\nhang count\n");
	(void)gpu_monitor_ask(h.watch);
	(void)gpu_monitor_ask(h.watch);
	hear(&h, 1);
	is_int(h.failures, 1, "a driver that hangs");
	is_str(h.why, "the driver of the GPUs does not respond",
	    "the failure names the driver");
	gpu_monitor_patience(h.watch, ANSWERS_MS);
	gpus_put("gpu\ngpu\ngpu\n");
	hear(&h, 1);
	is_int(h.seq, 3, "the question that waited has another program");
	is_int((long long)h.gpus, 3, "the new program answers with three GPUs");
	watch_close(&h);
	gpus_put("gpu\nhang count\n");
	watch_open(&h, program);
	(void)gpu_monitor_ask(h.watch);
	gpu_monitor_patience(h.watch, 1);
	hear(&h, 1);
	is_int(h.failures, 1, "one that hangs from the start");
	watch_close(&h);
	gpus_put("gpu\n");
}

/* A program of these lines of shell in place of hpotune-gpu. */
static void
wrong_program(const char *lines, const char *want, const char *what)
{
	char *path = xasprintf("%s/wrong", dir);
	char *text = xasprintf("#!/bin/sh\n%s\n", lines);
	struct heard h;

	text_put("wrong", text);
	watch_open(&h, path);
	(void)gpu_monitor_ask(h.watch);
	hear(&h, 1);
	if (!ok(h.failures == 1 && strstr(h.why, want) != NULL, "%s", what))
		printf("# %s\n", h.why);
	watch_close(&h);
	free(path);
	free(text);
}

static void
test_wrong(void)
{
	struct heard h;
	char *path = xasprintf("%s/wrong", dir);
	char *good = xasprintf("#!/bin/sh\nread q\n"
			       "case $q in *1) kill -9 $$;; *2) exit 3;; esac\n"
			       "exec '%s' watch\n",
	    "/nonexistent");

	wrong_program("read q; echo '{}'; cat >/dev/null", "seq", "nonsense");
	wrong_program("read q; echo '{\"seq\":5,\"source\":\"none\","
		      "\"driver\":\"\",\"why\":\"\",\"gpus\":[],"
		      "\"faults\":[]}'; cat >/dev/null",
	    "unexpected answer", "the answer to another question");
	wrong_program("exec tr '\\0' x </dev/zero", "more output than allowed",
	    "a line without an end");
	wrong_program("read q; kill -9 $$", "signal 9", "one that is killed");
	wrong_program("exit 3", "status 3", "one that does not stay");
	wrong_program("exec >&-; cat >/dev/null", "signal 9",
	    "one that closes its output");
	text_put("wrong", good);
	watch_open(&h, path);
	(void)gpu_monitor_ask(h.watch);
	hear(&h, 1);
	(void)gpu_monitor_ask(h.watch);
	hear(&h, 1);
	is_int(h.failures, 2, "started again, and dead again");
	watch_close(&h);
	watch_open(&h, "/nonexistent/hpotune-gpu");
	(void)gpu_monitor_ask(h.watch);
	hear(&h, 1);
	ok(strstr(h.why, "cannot be started") != NULL, "one that is not there");
	watch_close(&h);
	free(path);
	free(good);
}

static void
probe_hear(struct heard *h, bool good, const char *why, const char *what)
{
	struct err e = ERR_INIT;

	is_int(gpu_health_probe(h->watch, "GPU-0", on_probe, h, &e), 0, what);
	hear(h, 1);
	ok(h->good == good, "… its answer");
	is_str(h->why, why, "… and why");
}

/* The watch is one for programs that are asked to probe, too. */
static void
test_probe(void)
{
	char *path = xasprintf("%s/wrong", dir);
	struct err e = ERR_INIT;
	struct heard h;

	text_put("wrong", "#!/bin/sh\n[ $1 = probe ] && [ $2 = GPU-0 ]\n");
	watch_open(&h, path);
	probe_hear(&h, true, "", "a probe");
	is_str(h.uuid, "GPU-0", "the probe's result names the GPU");
	text_put("wrong", "#!/bin/sh\necho it burns; echo more; exit 1\n");
	probe_hear(&h, false, "it burns", "one that fails");
	text_put("wrong", "#!/bin/sh\nkill -11 $$\n");
	probe_hear(&h, false, "its probe was killed by signal 11",
	    "one that does not live");
	text_put("wrong", "#!/bin/sh\nexit 4\n");
	probe_hear(&h, false, "its probe ended with status 4",
	    "one that says nothing");
	text_put("wrong", "#!/bin/sh\nexec cat /dev/zero\n");
	is_int(gpu_health_probe(h.watch, "GPU-0", on_probe, &h, &e), 0,
	    "one that writes too much");
	is_int(gpu_health_probe(h.watch, "GPU-1", on_probe, &h, &e), 0,
	    "another GPU beside it");
	is_int(gpu_health_probe(h.watch, "GPU-0", on_probe, &h, &e), -1,
	    "not two on one GPU");
	is_int(e.kind, ERR_BUSY, "a second probe of one GPU fails as busy");
	hear(&h, 2);
	ok(strstr(h.why, "more than 4096 bytes") != NULL,
	    "probes that print too much are killed");
	text_put("wrong", "#!/bin/sh\nexec sleep 1000\n");
	is_int(gpu_health_probe(h.watch, "GPU-0", on_probe, &h, &e), 0,
	    "a probe that hangs is started");
	watch_close(&h);
	ok(true, "closing the watch ends a probe that hangs");
	free(path);
}

static void
test_ask(const char *program)
{
	struct err e = ERR_INIT;
	struct gpu_snapshot l;
	char *path = xasprintf("%s/wrong", dir);

	(void)setenv("HPOTUNE_GPU", program, 1);
	gpus_put("gpu\ngpu\nprocess 7\n");
	is_int(gpu_query(&l, ANSWERS_MS, &e), 0, "one look, waited for");
	is_int((long long)l.n, 2, "two GPUs");
	is_int((long long)l.gpus[1].n_processes, 1,
	    "the process on the second GPU is listed");
	gpu_snapshot_free(&l);
	gpus_put("hang init\n");
	is_int(gpu_query(&l, 200, &e), -1, "a driver that hangs");
	is_str(e.text, "the driver of the GPUs does not respond",
	    "the query's error names the driver");
	(void)setenv("HPOTUNE_GPU", path, 1);
	text_put("wrong", "#!/bin/sh\necho '{}'\n");
	is_int(gpu_query(&l, ANSWERS_MS, &e), -1, "nonsense");
	text_put("wrong", "#!/bin/sh\nexit 1\n");
	is_int(gpu_query(&l, ANSWERS_MS, &e), -1, "nothing");
	text_put("wrong", "#!/bin/sh\nexec tr '\\0' x </dev/zero\n");
	is_int(gpu_query(&l, ANSWERS_MS, &e), -1, "no end");
	(void)setenv("HPOTUNE_GPU", "/nonexistent", 1);
	is_int(gpu_query(&l, ANSWERS_MS, &e), -1, "no program");
	(void)setenv("HPOTUNE_NVML", "", 1);
	is_int(gpu_query(&l, ANSWERS_MS, &e), 0, "none wanted");
	is_int((long long)l.n, 0, "is none");
	gpu_snapshot_free(&l);
	free(path);
}

int
main(void)
{
	const char *program = getenv("HPOTUNE_GPU");
	const char *build = getenv("TOP_BUILDDIR");
	char *lib, *file, *rm;

	if (program == NULL || build == NULL || mkdtemp(dir) == NULL)
		return 99;
	(void)signal(SIGPIPE, SIG_IGN);
	program = xstrdup(program);
	lib = xasprintf("%s/tests/fake/libnvidia-ml.so.1", build);
	file = xasprintf("%s/gpus", dir);
	(void)setenv("HPOTUNE_NVML", lib, 1);
	(void)setenv("FAKE_GPUS_FILE", file, 1);
	test_answers(program);
	test_hang(program);
	test_wrong();
	test_probe();
	test_ask(program);
	rm = xasprintf("rm -rf %s", dir);
	if (system(rm) != 0)
		printf("# %s is left\n", dir);
	free(rm);
	free(lib);
	free(file);
	free((char *)program);
	return done_testing();
}
