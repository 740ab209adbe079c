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
umask 022
made first SOURCE_DATE_EPOCH=1700000000
umask 077
made second SOURCE_DATE_EPOCH=1700000000 TZ=Asia/Tokyo LC_ALL=C
ok 'two tarballs are the same' cmp first second
xz -dc first | tar -tvf - >list
is "$(awk '{ print $2, $4, substr($1, 1, 1) substr($1, 5) }' list | sort -u)" \
    '0/0 2023-11-14 -r--r--
0/0 2023-11-14 -r-xr-x
0/0 2023-11-14 dr-xr-x' 'owners, times and rights are none of this machine'
made third SOURCE_DATE_EPOCH=1700000001
fails 'another time makes another one' 1 cmp -s first third
done_testing
