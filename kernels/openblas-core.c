/* Checks whether OpenBLAS chose a good kernel for this processor. */

#include <cblas.h>
#include <stdbool.h>
#include <strings.h>

#include "kernels/alloc.h"
#include "kernels/kernels.h"

/* Whether OpenBLAS chose a good kernel. */

#ifdef __x86_64__
/* What OpenBLAS calls processors without AVX2. */
static bool
core_old(const char *name)
{
	static const char *const old[] = { "Prescott", "Core2", "Penryn",
		"Dunnington", "Atom", "Nehalem", "Sandybridge" };
	size_t i;

	for (i = 0; i < sizeof old / sizeof *old; i++)
		if (strcasecmp(name, old[i]) == 0)
			return true;
	return false;
}

const char *
openblas_core(void)
{
	if (!core_old(openblas_get_corename()))
		return NULL;
	if (__builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512vl"))
		return "SkylakeX";
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return "Haswell";
	return NULL;
}
#else
const char *
openblas_core(void)
{
	return NULL;
}
#endif
