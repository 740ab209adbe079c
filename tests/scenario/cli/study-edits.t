#!/bin/sh
# Any two edits of study.json of a study that has trials: both are taken and in
# effect, or refused as one of them is.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need python3 sqlite3

is "$(python3 "$TOP_SRCDIR/tests/scenario/cli/study_edits.py" "$HPOTUNE" edits \
    2>&1)" '18 of 24 edits are taken, most pairs too' \
    'two edits are taken together as each is alone'
done_testing
