#!/bin/sh
# The server and the supervisor killed before each system call that changes
# anything, or before each of all with HPOTUNE_SYSCALLS=--all.

# A process that is traced cannot look for leaks.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
exec "$TOP_BUILDDIR/tests/torture/syscalls" ${HPOTUNE_SYSCALLS-}
