#!/bin/sh
# A tarball contains all files of git, so that the two commands of README.md
# work in it, and what is needed to build.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

dist=$dir/hpotune-dist
unset MAKEFLAGS MFLAGS MAKELEVEL
ok 'a tarball is made' quietly make -C "$TOP_BUILDDIR" distdir distdir="$dist" ||
    diag "$(tail -n 20 err)"

# What is tracked of this source: by git, or by the tarball that it came in.
tracked() {
	if [ -e "$TOP_SRCDIR/build-aux/files" ]; then
		cat "$TOP_SRCDIR/build-aux/files"
		return
	fi
	top=$(git -C "$TOP_SRCDIR" rev-parse --show-toplevel 2>/dev/null) &&
	    cmp -s "$top/configure.ac" "$TOP_SRCDIR/configure.ac" &&
	    git -C "$top" ls-files | grep -vx '\.gitignore'
}
if tracked | LC_ALL=C sort >want && [ -s want ]; then
	is "$(LC_ALL=C comm -23 want "$dist/build-aux/files")" '' \
	    'nothing that is tracked is missing in it'
else
	skip 'nothing that is tracked is missing in it' \
	    'NOT COMPARED: this source is of no git and no tarball'
fi
for program in quickstart check .ci/run build-aux/fresh-debian configure; do
	ok "$program can be started" test -x "$dist/$program"
	ok "$program can be read" bash -n "$dist/$program"
done
like "$(cat "$dist/build-aux/files")" '^build-aux/packages\.sh$' \
    'and so is what they need'

# Compiling what is the same file by file would prove no more.
cd "$dist" || exit 99
ok 'it is configured' sh -c './configure -q --without-cuda >conf.log 2>&1' ||
    diag "$(tail -n 20 conf.log)"
ok 'and all that is built of has a rule' sh -c 'make -n >make.log 2>&1' ||
    diag "$(tail -n 20 make.log)"

# After a build there ./check takes what came with the tarball alone.  All that
# it needs is said to be installed, and nothing is built.
mkdir -p "$dir/bin" build/plain
touch leftover.o build/plain/config.status
printf '#!/bin/sh\nexit 0\n' >"$dir/bin/make"
printf '#!/bin/sh\necho installed\n' >"$dir/bin/dpkg-query"
chmod +x "$dir"/bin/*
PATH=$dir/bin:$PATH ./check --quick >"$dir/out" 2>"$dir/err"
ok 'check copies what came with it' test -e build/source/configure.ac \
    -a -x build/source/quickstart
ok '… and nothing that was made there' test ! -e build/source/config.status \
    -a ! -e build/source/leftover.o
cd "$dir" || exit 99
done_testing
