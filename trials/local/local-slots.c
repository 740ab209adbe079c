/* The number of slots: by GPUs, cores and open files. */

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "src/base/log.h"
#include "src/model/study/study.h"
#include "trials/local/local-internal.h"

enum {
	SLOTS_MAX = 65536,
	FILES_EACH = 3,
	FILES_OTHER = 128 /* the store, the loop, clients */
};

static int64_t
local_slots_cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == -1)
		return 1;
	return CPU_COUNT(&set);
}

/*
 * Each attempt that is followed needs three descriptors.  The soft limit is
 * raised only when it is too low, because trials inherit it.  If the hard limit
 * is too low, fewer attempts run at once: without descriptors the ends of
 * trials could not be read.
 */
static int64_t
files_allow(int64_t slots)
{
	rlim_t want = (rlim_t)slots * FILES_EACH + FILES_OTHER;
	struct rlimit files;
	int64_t fit;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= want)
		return slots;
	files.rlim_cur = files.rlim_max < want ? files.rlim_max : want;
	if (setrlimit(RLIMIT_NOFILE, &files) != 0)
		log_warn("local",
		    "the limit on open files cannot be raised: %s",
		    strerror(errno));
	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= want)
		return slots;
	fit = ((int64_t)files.rlim_cur - FILES_OTHER) / FILES_EACH;
	if (fit < 1)
		fit = 1;
	log_warn("local",
	    "%lld of %lld trials run at once: the limit on open files is %llu "
	    "(ulimit -n)",
	    (long long)fit, (long long)slots,
	    (unsigned long long)files.rlim_cur);
	return fit;
}

void
local_slots_count(struct local *l, int64_t places)
{
	int64_t pack = l->pack.size > 0 ? l->pack.size : 1;
	int64_t n;

	n = places >= 0 ? places * pack : (l->cores > 0 ? l->cores : 1) * pack;
	if (l->parallel > 0 && (places < 0 || l->parallel < n))
		n = l->parallel;
	if (places < 0)
		places = (n + pack - 1) / pack;
	/* The number of places stays fixed while GPUs appear and disappear. */
	if (l->pack.places == 0)
		l->pack.places = (int)(places > 0 ? places : 1);
	l->slots = (int)files_allow(n > SLOTS_MAX ? SLOTS_MAX : n);
}

void
local_slots_open(struct local *l, const struct launch_env *env, int64_t places)
{
	l->parallel = env->parallel;
	l->cores = local_slots_cores() / study_cores(env->settings);
	local_slots_count(l, places);
}
