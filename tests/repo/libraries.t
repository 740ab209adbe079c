#!/bin/sh
# Which libraries the program loads when it starts: those without an archive at
# configure, and none that only some studies need.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

needed=$(readelf -d "$TOP_BUILDDIR/hpotune" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
like "$needed" '^libc\.so' 'the libraries that the program loads are listed'
static=$(sed -n 's/^STATIC_LIBS = *//p' "$TOP_BUILDDIR/Makefile")

# library NAME FILE: whether FILE is loaded is what configure has said
library() {
	case " $static " in
	*" $1 "*) unlike "$needed" "$2" "$2 is linked from its archive" ;;
	*) like "$needed" "$2" "$2 is loaded: it has no archive, or none is wanted" ;;
	esac
}
library EVENT libevent_core
library EVENT libevent_extra
library CJSON libcjson
library SQLITE libsqlite3
library PCRE2 libpcre2-8
library CRYPTO libcrypto
library EXPAT libexpat
library YAML libyaml
library ZLIB "libz\."
for file in libcurl libopenblas liblapack libcuda libnvidia-ml; do
	unlike "$needed" "$file" "$file is not loaded at the start"
done

done_testing
