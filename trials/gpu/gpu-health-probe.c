/*
 * Health probes: separate programs that check whether a GPU works.  CUDA may
 * hang on a broken one, so each is limited to a minute.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "trials/gpu/gpu-health-probe.h"
#include "trials/gpu/gpu-monitor-internal.h"
#include "trials/gpu/gpu-snapshot-build.h"
#include "trials/gpu/gpu-snapshot.h"

enum { PROBE_MS = 60 * 1000, PROBE_SAYS_MOST = 4096 };

struct gpu_health_probe {
	struct gpu_monitor *watch;
	struct gpu_health_probe *next;
	struct capture *child;
	char uuid[GPU_UUID];
	gpu_health_probe_cb *cb;
	void *arg;
};

static void
probe_unlink(struct gpu_health_probe *p)
{
	struct gpu_health_probe **at = &p->watch->probes;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
}

/* The clause it printed, or what became of it. */
static void
probe_why(char why[GPU_WHY], int status, const char *out, const char *killed)
{
	char text[GPU_WHY * 2];
	size_t n = strcspn(out, "\n");

	if (killed[0] != '\0')
		(void)snprintf(text, sizeof text, "its probe: %s", killed);
	else if (WIFSIGNALED(status))
		(void)snprintf(text, sizeof text,
		    "its probe was killed by signal %d", WTERMSIG(status));
	else if (n > 0)
		(void)snprintf(text, sizeof text, "%.*s", (int)n, out);
	else
		(void)snprintf(text, sizeof text,
		    "its probe ended with status %d", WEXITSTATUS(status));
	gpu_snapshot_set_text(why, GPU_WHY, text);
}

static void
health_probe_on_end(
    void *arg, int status, const char *out, size_t len, const char *killed)
{
	struct gpu_health_probe *p = arg;
	bool good =
	    status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
	char why[GPU_WHY] = "";

	(void)len;
	probe_unlink(p);
	if (!good)
		probe_why(why, status, out, killed);
	p->cb(p->arg, p->uuid, good, why);
	free(p);
}

int
gpu_health_probe(struct gpu_monitor *w, const char *uuid,
    gpu_health_probe_cb *cb, void *arg, struct err *e)
{
	char *argv[] = { w->program, (char *)"probe", (char *)uuid, NULL };
	const struct capture_spec spec = { .argv = argv,
		.timeout_ms = PROBE_MS,
		.most = PROBE_SAYS_MOST,
		.mute = true };
	struct gpu_health_probe *p;

	for (p = w->probes; p != NULL; p = p->next)
		if (strcmp(p->uuid, uuid) == 0)
			return err_set(
			    e, ERR_BUSY, "%s is being probed already", uuid);
	p = xcalloc(1, sizeof *p);
	*p = (struct gpu_health_probe){
		.watch = w, .next = w->probes, .cb = cb, .arg = arg
	};
	gpu_snapshot_set_text(p->uuid, sizeof p->uuid, uuid);
	if (capture_start(
		&p->child, w->loop, &spec, health_probe_on_end, p, e) != 0) {
		free(p);
		return -1;
	}
	w->probes = p;
	return 0;
}

void
gpu_health_probes_end(struct gpu_monitor *w)
{
	struct gpu_health_probe *p;

	while ((p = w->probes) != NULL) {
		w->probes = p->next;
		capture_kill(p->child);
		free(p);
	}
}
