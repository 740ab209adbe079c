/*
 * Compiles a file of loops once for each kind of processor, with vectors that fit
 * its registers: gcc keeps in memory what is wider than they are, which takes
 * several times as long.  KIND_LOOPS, defined before this file is included, is the
 * name of that file, which uses these macros:
 *
 * KIND(name)	the name of a function or type of this kind
 * KIND_TARGET	the attribute that selects its instructions, or nothing
 * KIND_WIDE	numbers of a vector: 2, 4 or 8
 * KIND_EACH	before a loop over the few vectors of a group: it is unrolled
 *
 * KIND_CALL(name, …) calls a function of the best kind that this processor can run.
 */

#ifndef HPOTUNE_KINDS_H
#define HPOTUNE_KINDS_H

enum kind { KIND_PLAIN, KIND_V3, KIND_V4 };

/* The best kind. */
static inline enum kind
kind_best(void)
{
#ifdef HAVE_TARGET_CLONES
	if (__builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512cd") &&
	    __builtin_cpu_supports("avx512vl"))
		return KIND_V4;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	    __builtin_cpu_supports("bmi2"))
		return KIND_V3;
#endif
	return KIND_PLAIN;
}

#ifdef HAVE_TARGET_CLONES
#define KIND_CALL(name, ...)                                  \
	(kind_best() == KIND_V4	     ? name##_v4(__VA_ARGS__) \
	    : kind_best() == KIND_V3 ? name##_v3(__VA_ARGS__) \
				     : name##_plain(__VA_ARGS__))
#else
#define KIND_CALL(name, ...) name##_plain(__VA_ARGS__)
#endif

/*
 * Instructions are added to those that the compiler was told to use anywhere:
 * otherwise it does not inline what has no target of its own.  How gcc ends the use
 * of wide registers: see target-clones.h.
 */
#define KIND_HAS_V3 "avx2,bmi,bmi2,f16c,fma,lzcnt,movbe"
#define KIND_HAS_V4 KIND_HAS_V3 ",avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
#ifdef __clang__
#define KIND_FOR(has) __attribute__((target(has)))
#define KIND_EACH _Pragma("unroll")
#else
#define KIND_FOR(has) \
	__attribute__((target(has), optimize("expensive-optimizations")))
#define KIND_EACH _Pragma("GCC unroll 8")
#endif

#endif /* HPOTUNE_KINDS_H */

#ifdef KIND_LOOPS

/* SSE2 or NEON, or what the compiler was told. */
#define KIND(name) name##_plain
#define KIND_TARGET
#define KIND_WIDE 2
#include KIND_LOOPS
#undef KIND
#undef KIND_TARGET
#undef KIND_WIDE

#ifdef HAVE_TARGET_CLONES

#define KIND(name) name##_v3
#define KIND_TARGET KIND_FOR(KIND_HAS_V3)
#define KIND_WIDE 4
#include KIND_LOOPS
#undef KIND
#undef KIND_TARGET
#undef KIND_WIDE

#define KIND(name) name##_v4
#define KIND_TARGET KIND_FOR(KIND_HAS_V4)
#define KIND_WIDE 8
#include KIND_LOOPS
#undef KIND
#undef KIND_TARGET
#undef KIND_WIDE

#endif

#undef KIND_LOOPS

#endif
