/*
 * Functions compiled for several processors; the loader selects the best
 * version.  Static functions only: clang before 18 defines no symbol that other
 * files could call.
 */

#ifndef HPOTUNE_TARGET_CLONES_H
#define HPOTUNE_TARGET_CLONES_H

/*
 * gcc ends the use of wide registers (vzeroupper) by an optimization that -O1 lacks:
 * without it all that follows, libm's functions as well, takes up to twenty times as
 * long.
 */
#if defined HAVE_TARGET_CLONES && defined __clang__
#define CLONES          \
	__attribute__(( \
	    target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#elif defined HAVE_TARGET_CLONES
#define CLONES                                                            \
	__attribute__((                                                   \
	    target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"), \
	    optimize("expensive-optimizations")))
#else
#define CLONES
#endif

#endif /* HPOTUNE_TARGET_CLONES_H */
