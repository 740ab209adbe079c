#!/bin/sh
# Values in the form hydra of arguments: Hydra's parser, and a configuration that
# Hydra composes of them, have the same values.  COUNT of them, from SEED.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
find_python 'hydra-core>=1.3'

count=${COUNT:-$(often 75 225)}
ok 'they are read' quietly timeout 900 "$python" \
    "$TOP_SRCDIR/tests/peers/params_hydra.py" "$HPOTUNE" "$count" "${SEED:-1}"
is "$(sed '/^compared/d' out)" '' 'no value is another one there' || diag "$(tail -n 5 err)"
like "$(tail -n 1 out)" "^compared $count\$" 'all were compared'
done_testing
