#!/bin/sh
# Clang compiles the kernels, too: functions compiled for several processors are
# found by other files, and their results are correct.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

command -v clang >/dev/null || skip_all 'NOT COMPILED: clang is not installed'
need pkg-config
grep -q '^#define HAVE_TARGET_CLONES 1' "$TOP_BUILDDIR/config.h" ||
    skip_all 'NOT COMPILED: this processor has no clones of functions'

link() {
	(cd "$TOP_SRCDIR" && clang -w -std=gnu11 -O2 -fno-math-errno \
	    -fno-trapping-math -include "$TOP_BUILDDIR/config.h" -I. \
	    $(pkg-config --cflags openblas) -o "$dir/kernels" \
	    $(find kernels -name '*.c') tests/unit/kernels/t_kernels.c \
	    tests/support/gp-reference.c src/base/err.c src/base/fail.c \
	    src/base/mem.c src/base/rng.c src/base/text.c \
	    $(pkg-config --libs openblas) -lpthread -lm)
}
ok 'the kernels are linked' link
ok 'and compute what they should' quietly ./kernels ||
    diag "$(grep -v '^ok' out)"
done_testing
