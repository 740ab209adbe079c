/* Which device a worker uses, on machines whose times are formulas. */

#include <string.h>

#include "src/worker/worker-devices.h"
#include "tests/support/tap.h"

/* Seconds of a suggestion on so many trials. */
static double
cpu_takes(double n)
{
	return 0.03 + 3.8e-11 * n * n * n;
}

static double
gpu_takes(double n)
{
	return 0.035 + 8e-9 * n * n;
}

/* What a study of trials so many took, and what comparing took beside it. */
struct story {
	double took, best, compared;
	int64_t first_gpu; /* trials of the first suggestion on the GPU */
	int texts;
	bool
	    slower; /* a suggestion by the slower device, but for its first 25 % */
};

static void
study_tell(
    struct story *s, struct worker_devices *d, int64_t trials, double busy)
{
	char text[200];
	int64_t n;

	memset(s, 0, sizeof *s);
	for (n = 0; n < trials; n++) {
		const double cpu = cpu_takes((double)n) * busy;
		const double gpu = gpu_takes((double)n);
		const bool on_gpu = worker_devices_gpu(d, n);

		s->took += on_gpu ? gpu : cpu;
		s->best += cpu < gpu ? cpu : gpu;
		s->slower = s->slower || (on_gpu ? gpu > cpu : cpu > 1.8 * gpu);
		if (on_gpu && s->first_gpu == 0)
			s->first_gpu = n;
		if (!worker_devices_compare(d, n))
			continue;
		s->compared += on_gpu ? cpu : 2 * gpu;
		worker_devices_compared(d, n, cpu, gpu, text, sizeof text);
		s->texts += *text != '\0';
	}
}

static void
test_pays(void)
{
	struct worker_devices d = { .there = true };
	struct story s;

	study_tell(&s, &d, 4000, 1);
	/* The formulas meet at 593. */
	ok(s.first_gpu > 590 && s.first_gpu < 742,
	    "the GPU computes from where it is faster");
	ok(!s.slower, "the slower device computes nothing for long");
	ok(s.took < 1.02 * s.best, "a study takes as long as by the best");
	ok(s.compared < 0.02 * s.took, "comparing costs little");
	is_int(s.texts, 2, "one text for the CPU, one for the GPU");
}

static void
test_never(void)
{
	struct worker_devices none = { .there = false }, d = { .there = true };
	struct story s;

	study_tell(&s, &none, 2000, 1);
	is_int(s.first_gpu, 0, "without a GPU the CPU computes");
	ok(s.compared == 0, "and nothing is compared");
	study_tell(&s, &d, 600, 1);
	is_int(s.first_gpu, 0, "where it is slower it is not used");
	is_int(s.texts, 1, "which is said once");
}

/* The CPU was busy when they were compared, and is no longer. */
static void
test_busy(void)
{
	struct worker_devices d = { .there = true };
	char text[200];

	worker_devices_compared(&d, 150, 0.06, 0.035, text, sizeof text);
	ok(worker_devices_gpu(&d, 151), "what looks faster is used");
	is_str(text,
	    "the GPU from 150 trials on: a suggestion took 0.035 s on the GPU "
	    "and 0.060 s on the CPU",
	    "and said");
	ok(!worker_devices_compare(&d, 299), "not compared soon again");
	ok(worker_devices_compare(&d, 300), "but at twice as many trials");
	worker_devices_compared(&d, 300, 0.031, 0.036, text, sizeof text);
	ok(!worker_devices_gpu(&d, 301), "and given up when it was chance");
	worker_devices_compared(&d, 400, 0.2, 0.036, text, sizeof text);
	ok(worker_devices_gpu(&d, 401) && !worker_devices_compare(&d, 4000),
	    "what is clearly faster is not compared again");
}

int
main(void)
{
	test_pays();
	test_never();
	test_busy();
	return done_testing();
}
