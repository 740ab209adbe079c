#!/bin/sh
# Samples and steps per second: an objective, a constraint, a view.

. "$TOP_SRCDIR/tests/lib.sh"
need sqlite3

cat >train <<'END'
#!/bin/sh
# Twice the batch, half the steps; the largest are too slow to be wanted.
for step in 1 2 3; do
	echo "hpotune: step=$step loss=1 samples_per_second=$((100 * $1))" \
	    "steps_per_second=$((8 / $1))"
done
END
chmod +x train
cat >fast.json <<'END'
{ "study": "fast",
  "objective": { "metric": "samples_per_second", "goal": "maximize" },
  "constraints": [ { "metric": "steps_per_second", "min": 2 } ],
  "parameters": { "batch": { "type": "choice", "values": [1, 2, 4, 8] } },
  "strategy": "grid", "stopping": "none",
  "trial": { "command": ["./train", "{batch}"] },
  "limits": { "trials": 4, "parallel": 2 } }
END
ok 'a study of throughput' "$HPOTUNE" start fast.json --quiet
is "$(sql fast.db 'SELECT objective, json_extract(params, "$.batch")
    FROM best')" '400.0|4' 'the fastest of those that keep the constraint'
is "$(sql fast.db 'SELECT json_extract(params, "$.batch"), steps_per_second,
    samples_per_second FROM throughput JOIN trials USING (trial)
    ORDER BY 1')" '1|8.0|100.0
2|4.0|200.0
4|2.0|400.0
8|1.0|800.0' 'both in the view'

# A trial that says nothing of it has its own pace.
sqlite3 fast.db "UPDATE t_name SET name = 'other' WHERE name = 'steps_per_second';
    UPDATE t_trial SET pace_steps = 30, pace_seconds = 4 WHERE trial = 1"
is "$(sql fast.db 'SELECT steps_per_second FROM throughput WHERE trial = 1')" \
    7.5 'steps by the pace of its reports'
done_testing
