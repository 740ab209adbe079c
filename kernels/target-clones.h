/*
 * Functions compiled for several processors; the loader selects the best
 * version.  Static functions only: clang before 18 defines no symbol that other
 * files could call.
 */

#ifndef HPOTUNE_TARGET_CLONES_H
#define HPOTUNE_TARGET_CLONES_H

#ifdef HAVE_TARGET_CLONES
#define CLONES          \
	__attribute__(( \
	    target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define CLONES
#endif

#endif /* HPOTUNE_TARGET_CLONES_H */
