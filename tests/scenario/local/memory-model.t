#!/bin/sh
# Trials that run out of memory: the peaks of all are recorded, and once some have,
# suggestions keep below the largest that fitted, which the view suggestions says.  A
# server that begins again reads the same peaks.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

# Holds width * batch MiB; above 48 it ends as Python does.
cat >trial.sh <<'END'
mib=$(($1 * $2))
if [ $mib -gt 48 ]; then
	echo 'MemoryError: no room'
	exit 1
fi
dd if=/dev/zero of=/dev/null bs=${mib}M count=1 2>/dev/null
echo "hpotune: loss=$((200 - mib))"
END
study() { # trials
	cat >study.json <<END
{ "study": "m",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "width": { "type": "int", "min": 1, "max": 16 },
    "batch": { "type": "int", "min": 1, "max": 16 },
    "rate": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "gp", "seed": 4 },
  "stopping": "none",
  "trial": { "command": ["sh", "trial.sh", "{width}", "{batch}"],
      "retries": 0 },
  "limits": { "trials": $1, "parallel": 1 } }
END
}

study 12
ok 'a study runs' "$HPOTUNE" start --quiet study.json
study 24
ok 'it goes on in another server' "$HPOTUNE" start --quiet study.json

over="trial IN (SELECT trial FROM attempts WHERE why LIKE '%MemoryError%')"
is "$(sql m.db "SELECT count(*) > 0 FROM trials WHERE $over")" 1 \
    'trials ran out of memory'
is "$(sql m.db 'SELECT count(*) FROM attempts WHERE memory > 0')" 24 \
    'the peak of each attempt is recorded'
is "$(sql m.db "SELECT count(*) FROM attempts AS a JOIN parameters AS w ON
    w.trial = a.trial AND w.parameter = 'width' JOIN parameters AS b ON
    b.trial = a.trial AND b.parameter = 'batch' WHERE exit_code = 0 AND
    memory / 1048576.0 NOT BETWEEN w.value * b.value AND
    w.value * b.value + 40")" 0 'it is what the trial held'
is "$(sql m.db 'SELECT count(*) FROM suggestions WHERE trial <= 6 AND
    (fits IS NOT NULL OR memory IS NOT NULL)')" 0 \
    'the first suggestions know nothing of it'
is "$(sql m.db 'SELECT count(*) FROM suggestions WHERE trial > 12 AND
    fits > 0 AND fits <= 1 AND memory > 0')" 12 \
    'after the restart all say what they expect'
is "$(sql m.db "SELECT count(*) <= 3 FROM trials WHERE trial > 12 AND $over")" \
    1 'and few run out of memory'
is "$(sql m.db 'SELECT objective < 170 FROM best')" 1 \
    'the best holds much of what fits'
"$HPOTUNE" check study.json >out
like "$(grep '^memory ' out)" \
    '^memory     up to (3[0-9]|4[0-9]|5[0-9]) MiB of memory is likely to fit, such as (width|batch)=[0-9]+, (width|batch)=[0-9]+; [0-9]+ trials? ran out of it$' \
    'check names a setting that is likely to fit'
product=$(sed -n 's/^memory.*such as [a-z]*=\([0-9]*\), [a-z]*=\([0-9]*\);.*/\1 * \2/p' out)
is "$((product <= 52 && product >= 24))" 1 'which fits, or nearly'

done_testing
