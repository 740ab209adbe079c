#!/bin/sh
# The same source makes the same tarball, in another zone and with other rights.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need xz tar

unset MAKEFLAGS MFLAGS MAKELEVEL
made() { # file [variable=value …]: a tarball
	made_file=$1
	shift
	# How hard xz tries is not what is compared.
	quietly env XZ_OPT=-0 "$@" make -s -C "$TOP_BUILDDIR" dist-xz || diag "$(cat err)"
	mv "$TOP_BUILDDIR"/hpotune-*.tar.xz "$made_file"
}
# Any time but now: the tarball has it to the second.
time=$(($(date +%s) - 86399))
umask 022
made first SOURCE_DATE_EPOCH=$time
umask 077
made second SOURCE_DATE_EPOCH=$time TZ=Asia/Tokyo LC_ALL=C
ok 'two tarballs are the same' cmp first second
xz -dc first | tar --full-time --utc -tvf - >list
time=$(date -u -d "@$time" '+%F %T')
is "$(awk '{ print $2, $4, $5, substr($1, 1, 1) substr($1, 5) }' list | sort -u)" \
    "0/0 $time -r--r--
0/0 $time -r-xr-x
0/0 $time dr-xr-x" 'owners and rights are none of this machine, the time is the one given'
done_testing
