#!/bin/sh
# The CUDA kernels under the four tools of compute-sanitizer, on a real GPU; skipped
# without one.  On a machine with a GPU and a build with CUDA:
#	make check TESTS=tests/scenario/gpu/sanitizers.t
# or, for a build that was copied there, in its folder:
#	TOP_SRCDIR=. TOP_BUILDDIR=. sh tests/scenario/gpu/sanitizers.t

TOP_SRCDIR=$(cd "$TOP_SRCDIR" && pwd)
TOP_BUILDDIR=$(cd "$TOP_BUILDDIR" && pwd)
. "$TOP_SRCDIR/tests/support/sh/lib.sh"

PATH=$PATH:/usr/local/cuda/bin:/opt/cuda/bin
need compute-sanitizer timeout
twins=$TOP_BUILDDIR/tests/unit/kernels
for program in t_twins t_mlp_batch_twins; do
	[ -x "$twins/$program" ] || skip_all "$program is not built"
done
"$twins/t_mlp_batch_twins" >plain 2>&1
status=$?
! grep -q '# SKIP' plain || skip_all "$(sed -n 's/.*# SKIP //p' plain)"
is $status 0 'the twins agree'

# sanitize TOOL PROGRAM: no error.  racecheck of t_twins needs minutes: what it has
# found after four of them counts.
sanitize() {
	timeout 240 compute-sanitizer --tool "$1" --error-exitcode 99 \
	    "$twins/$2" >"$1-$2" 2>&1
	status=$?
	[ $status -ne 124 ] || {
		diag "$1 of $2 has not ended in 240 s"
		grep -q '^=* \(Error\|Invalid\|Uninitialized\)' "$1-$2" ||
		    status=0
	}
	is $status 0 "$1 finds nothing in $2"
	[ $status -eq 0 ] || diag "$(grep '^===' "$1-$2" | head -n 40)"
}

for tool in memcheck initcheck racecheck synccheck; do
	sanitize $tool t_mlp_batch_twins
	sanitize $tool t_twins
done

done_testing
