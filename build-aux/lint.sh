#!/bin/sh
# Reads the source with cppcheck, clang-tidy, shellcheck and mandoc; what is not
# installed is skipped, and that is said.  make lint runs it:
#	build-aux/lint.sh SOURCE FOLDER
# FOLDER has compile_commands.json.  Exit status: 0 when nothing was found.
set -u
cd "$1" || exit 2
folder=$2
jobs=$(nproc 2>/dev/null || echo 1)
status=0

have() { # PROGRAM
	command -v "$1" >/dev/null && return
	echo "lint: $1: SKIPPED, it is not installed"
	return 1
}

verdict() { # PROGRAM STATUS
	if [ "$2" -eq 0 ]; then
		echo "lint: $1: clean"
	else
		echo "lint: $1: see above"
		status=1
	fi
}

c_files() {
	find src strategies trials kernels -name '*.c' | LC_ALL=C sort
}

# Scripts that run by themselves, and those that others source.
scripts='.ci/run build-aux/compile-commands.sh build-aux/fresh-debian
build-aux/lint.sh check quickstart'
sourced='build-aux/packages.sh'

if have cppcheck; then
	# The queues of the C library are macros, which it does not look up.
	queue=$(echo '#include <sys/queue.h>' | ${CC:-cc} -E -xc - 2>/dev/null |
	    sed -n 's|^# [0-9]* "\(/.*/sys/queue\.h\)".*|\1|p' | head -n 1)
	cppcheck -q -j "$jobs" --std=c11 --error-exitcode=1 \
	    --enable=warning,performance,portability --inline-suppr \
	    --suppressions-list=build-aux/cppcheck.txt -I. -I"$folder" \
	    ${queue:+--include="$queue"} src strategies trials kernels
	verdict cppcheck $?
fi

if have clang-tidy; then
	# Warnings of the compiler are the build's.
	c_files | sed "s|^|$PWD/|" | xargs -P "$jobs" -n 8 clang-tidy --quiet -p "$folder" \
	    --extra-arg=-Wno-everything 2>/dev/null
	verdict clang-tidy $?
fi

if have shellcheck; then
	found=0
	# shellcheck disable=SC2086
	shellcheck -x $scripts || found=1
	# Quotes in its variables are those of JSON.
	shellcheck -e SC2089,SC2090 trials/sagemaker/sm-run.sh || found=1
	# shellcheck disable=SC2086
	shellcheck -s sh $sourced || found=1
	# What a sourced file of tests sets, its scenario uses, and vice versa.
	shellcheck -s sh -e SC2034,SC2154 tests/support/sh/*.sh || found=1
	verdict shellcheck $found
fi

if have mandoc; then
	found=0
	for page in man/*; do
		# Pages of other packages need not be installed.
		mandoc -Tlint -W style "$page" 2>&1 | grep -v \
		    -e 'referenced manual not found' -e 'outdated mandoc.db' && found=1
	done
	verdict mandoc $found
fi
exit $status
