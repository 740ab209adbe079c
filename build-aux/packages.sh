# Sourced by quickstart and check: install what is missing on Debian 12.
# need_packages NAME... asks apt only for packages that are not there.

need_packages()
{
	missing=
	for package in "$@"; do
		dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
		    grep -qx installed || missing="$missing $package"
	done
	[ -n "$missing" ] || return 0
	echo "installing:$missing"
	root=
	[ "$(id -u)" -eq 0 ] || root=sudo
	# shellcheck disable=SC2015,SC2086 # the end of a failure; words of a list
	$root apt-get update -q >/dev/null &&
	    $root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
	    --no-install-recommends $missing >/dev/null ||
	    { echo "these packages could not be installed:$missing" >&2
	    return 1; }
}

# shellcheck disable=SC2034 # for who sources this
build_packages='autoconf automake gcc libc6-dev libcjson-dev
libcurl4-openssl-dev libevent-dev libexpat1-dev libopenblas-dev libpcre2-dev
libsqlite3-dev libssl-dev libyaml-dev make pkg-config zlib1g-dev'
