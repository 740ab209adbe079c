#!/bin/sh
# Servers and supervisors killed at random, in studies with each of the modes, too,
# against an independent ledger, and the bugs that the ledger must show; with TEST_LONG
# ten times as often.  $HPOTUNE_TORTURE may give options:
#	HPOTUNE_TORTURE='--kills 1000000 --no-controls' make check TESTS=tests/torture/torture.t
#
# Servers are $TOP_BUILDDIR/tests/torture/hpotune-fail, supervisors
# $TOP_BUILDDIR/tests/torture/hpotune-shim-fail, trials
# $TOP_BUILDDIR/tests/torture/ledger-trial.

exec "$TOP_BUILDDIR/tests/torture/torture" ${HPOTUNE_TORTURE-}
