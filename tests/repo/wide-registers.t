#!/bin/sh
# What works with wide registers of a processor ends their use: otherwise all that
# follows in the process is many times as slow, mathematics of the C library first.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need objdump

# wide FILE: its functions with wide registers, each with "ends" or "goes on".
wide() {
	objdump -d --no-show-raw-insn "$1" | awk '
	/^[0-9a-f]+ <.*>:$/ { name = $2 }
	/%[yz]mm/ { wide[name] = 1 }
	/vzero(upper|all)/ { ends[name] = 1 }
	END { for (name in wide) print name, name in ends ? "ends" : "goes on" }'
}
clones=$(sed -n 's/^#define HAVE_TARGET_CLONES //p' "$TOP_BUILDDIR/config.h")
for program in hpotune hpotune-worker; do
	wide "$TOP_BUILDDIR/$program" >functions
	is "$(grep 'goes on$' functions)" '' "$program: each ends their use"
done
if [ "$clones" = 1 ]; then
	wide "$TOP_BUILDDIR/hpotune" >functions
	like "$(cat functions)" '_v4>: ends' 'there are some'
else
	skip 'there are some' 'this compiler makes no clones of functions'
fi

done_testing
