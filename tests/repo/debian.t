#!/bin/sh
# debian/ agrees with the source: its version, what it builds with; and the unit
# of systemd is one.  dpkg-buildpackage and lintian are run by hand.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

cd "$TOP_SRCDIR" || exit 99
is "$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)" \
    "$(sed -n 's/^AC_INIT(\[hpotune\], \[\(.*\)\])/\1/p' configure.ac)" \
    'the package has the version of the source'
# What debhelper itself needs is not named.
is "$(sed -n '/^Build-Depends:/,/^[A-Z]/{s/^Build-Depends://; /^[A-Z]/d; p}' \
    debian/control | tr -d ' ' | tr ',' '\n' | grep -v '^debhelper\|^$' | sort)" \
    "$(sh -c '. build-aux/packages.sh; echo $build_packages' | tr ' ' '\n' |
    grep -vx 'autoconf\|automake\|gcc\|libc6-dev\|make' | sort)" \
    'and builds with the same packages'
ok 'its rules can be started' test -x debian/rules
cd "$dir" || exit 99
unit='hpotune@.service'
if command -v systemd-analyze >/dev/null; then
	cp "$TOP_SRCDIR/build-aux/$unit" .
	is "$(systemd-analyze verify --user --man=no "./$unit" 2>&1 |
	    grep "$unit")" '' 'the unit is valid'
else
	skip 'the unit is valid' 'NOT CHECKED: systemd-analyze is not installed'
fi
done_testing
