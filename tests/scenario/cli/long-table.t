#!/bin/sh
# hpotune trials of more trials than it holds at a time: it reads them twice and
# prints them in parts, with the columns and widths of the whole table.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

trials=4100

cat >long.json <<END
{ "study": "long", "objective": { "metric": "v", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "trial": { "command": ["none"], "max_steps": 1 },
  "backend": { "name": "pretend", "seconds_per_step": 0, "slots": 64 },
  "limits": { "trials": $trials } }
END
ok 'a long study' quietly "$HPOTUNE" start long.json
# Only the last row has this column.
ok 'a note' quietly "$HPOTUNE" note long.json $trials 'the last one'

"$HPOTUNE" trials long.json >table
is $? 0 'trials: exit status'
is "$(wc -l <table)" $((trials + 1)) 'a line for each trial, and the head'
like "$(head -n 1 table)" ' parameters  .* note$' \
    'the head has a column that is empty in all parts but the last'
like "$(tail -n 1 table)" "^ *$trials .*  the last one\$" 'and the last row it'
is "$(awk 'NR == 1 { at = index($0, "parameters"); next }
    substr($0, at, 2) != "x=" { n++ } END { print n + 0 }' table)" 0 \
    'the columns of all parts are those of the head'

"$HPOTUNE" trials long.json --reverse >reversed
sed 1d table | sort -n >upwards
sed 1d reversed | sort -n >downwards
is "$(head -n 2 reversed | tail -n 1 | awk '{ print $1 }')" $trials \
    'sorted downwards'
ok 'the same lines in the other order' cmp upwards downwards

"$HPOTUNE" trials long.json --json >json
is "$(sqlite3 :memory: "SELECT json_array_length(readfile('json')),
    json_extract(readfile('json'), '\$[$((trials - 1))].note')")" \
    "$trials|the last one" '--json: all of them'

done_testing
