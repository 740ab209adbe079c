/* The choice between the CPU and a GPU by what they have taken. */

#include <stdio.h>

#include "src/worker/worker-devices.h"

/* So many times as fast is not chance, and is not compared again. */
enum { CLEARLY = 4 };

bool
worker_devices_gpu(const struct worker_devices *d, int64_t trials)
{
	return d->there && d->from > 0 && trials >= d->from;
}

bool
worker_devices_compare(const struct worker_devices *d, int64_t trials)
{
	if (!d->there || trials < WORKER_DEVICES_FROM)
		return false;
	if (d->compared == 0)
		return true;
	/* The CPU may have been busy: look again, but seldom. */
	if (d->from > 0)
		return d->cpu < CLEARLY * d->gpu && trials >= 2 * d->compared;
	return 4 * trials >= 5 * d->compared;
}

void
worker_devices_compared(struct worker_devices *d, int64_t trials, double cpu,
    double gpu, char *text, size_t n)
{
	const bool first = d->compared == 0, was = d->from > 0;
	const bool is = gpu < cpu;

	*text = '\0';
	d->compared = trials;
	d->cpu = cpu;
	d->gpu = gpu;
	if (!is)
		d->from = 0;
	else if (!was)
		d->from = trials;
	if (is != was || first)
		(void)snprintf(text, n,
		    "%s from %lld trials on: a suggestion took %.3f s on the "
		    "GPU and %.3f s on the CPU",
		    is ? "the GPU" : "the CPU", (long long)trials, gpu, cpu);
}
