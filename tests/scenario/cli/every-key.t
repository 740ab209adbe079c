#!/bin/sh
# Every command on studies that together have every key of study.json: each ends by
# itself, with its status and at most one line of an error; sanitizers report nothing.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need python3

# Without sanitizers only those that read all of study.json.
commands='check try start ask'
grep -q __asan_init "$HPOTUNE" && commands=
# shellcheck disable=SC2086 # words of a list
python3 "$TOP_SRCDIR/tests/scenario/cli/every_key.py" "$HPOTUNE" \
    "$TOP_BUILDDIR/tests/tools/packed-program" $commands 3>wrong ||
    echo "it ended with status $?" >>wrong
is "$(cat wrong)" '' 'every command takes every key'
done_testing
