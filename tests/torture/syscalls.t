#!/bin/sh
# The server and the supervisor killed before every fourth system call that changes
# anything, others each time; with TEST_LONG before each of them, and with
# HPOTUNE_SYSCALLS=--all before each of all.
#
# Servers are $TOP_BUILDDIR/tests/torture/hpotune-fail, supervisors
# $TOP_BUILDDIR/tests/torture/hpotune-shim-fail, trials
# $TOP_BUILDDIR/tests/torture/ledger-trial.

# A process that is traced cannot look for leaks.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
exec "$TOP_BUILDDIR/tests/torture/syscalls" ${HPOTUNE_SYSCALLS-}
