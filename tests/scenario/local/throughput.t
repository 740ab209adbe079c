#!/bin/sh
# Samples and steps per second: an objective, a constraint, a view.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
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

is "$(sql fast.db 'SELECT DISTINCT steps_from FROM throughput')" reported \
    'and that they were reported'

# A trial that says nothing of it has the pace of its reports.  Each waits until
# the line before is recorded, so each interval is one that the server saw.
cat >quiet <<'END'
#!/bin/sh
n=0
for step in 10 20 40; do
	n=$((n + 1))
	echo "hpotune: step=$step loss=$1"
	until [ "0$(sqlite3 -cmd '.timeout 5000' "$2" "SELECT count(*)
	    FROM metrics WHERE trial = $3" 2>/dev/null)" -ge $n ]
	do :; done
done
END
chmod +x quiet
computed() { # name objective constraint
	cat >$1.json <<END
{ "study": "$1", "objective": $2, $3
  "parameters": { "batch": { "type": "choice", "values": [1, 2] } },
  "strategy": "grid", "stopping": "none",
  "trial": { "command": ["./quiet", "{batch}", "$dir/$1.db", "{trial}"] },
  "limits": { "trials": 2, "parallel": 1 } }
END
	ok "$1: a study" "$HPOTUNE" start $1.json --quiet
	is "$(sql $1.db "SELECT count(*) FROM trials
	    WHERE state = 'completed' AND objective > 0")" 2 "$1: has results"
	is "$(sql $1.db "SELECT group_concat(steps_from) FROM throughput")" \
	    computed,computed "$1: the view says how"
	# The second report to the last: 20 steps.
	is "$(sql $1.db "SELECT CASE WHEN abs(steps_per_second -
	    20e3 / (b.time_us / 1000 - a.time_us / 1000))
	    < 1e-9 * steps_per_second THEN 'same' ELSE trial || ': ' ||
	    steps_per_second || ' from ' || a.time_us || ' to ' || b.time_us END
	    FROM throughput AS t JOIN t_metric AS a
	    USING (trial) JOIN t_metric AS b USING (trial) JOIN t_name AS n
	    ON n.id = a.name_id AND n.id = b.name_id
	    WHERE n.name = 'loss' AND a.step = 20 AND b.step = 40")" "same
same" "$1: steps over time, without the first"
	is "$(sql $1.db "SELECT group_concat(step || coalesce(attempt, '-') ||
	    (m.value = t.steps_per_second)) FROM metrics AS m
	    JOIN throughput AS t USING (trial) WHERE name = 'steps_per_second'")" \
	    40-1,40-1 "$1: recorded as a report of nobody's"
}
computed rate '{ "metric": "steps_per_second", "goal": "maximize" }' ''
computed bound '{ "metric": "loss", "goal": "minimize" }' \
    '"constraints": [ { "metric": "steps_per_second", "min": 1e-9 } ],'
is "$(sql bound.db 'SELECT count(*) FROM outcomes WHERE violation < 0')" 2 \
    'the constraint is kept by what was computed'
before=$(sql rate.db 'SELECT * FROM metrics ORDER BY 1, 2, 3, 4;
    SELECT * FROM throughput; SELECT trial, objective FROM trials')
sed -i 's/"trials": 2/"trials": 3/' rate.json
timeout 300 "$HPOTUNE" start rate.json --quiet >/dev/null 2>&1
is "$(sql rate.db 'SELECT * FROM metrics ORDER BY 1, 2, 3, 4;
    SELECT * FROM throughput; SELECT trial, objective FROM trials')" "$before" \
    'another start changes nothing'

# Reports of one moment, steps that come again, other attempts.
sqlite3 rate.db "DELETE FROM t_block WHERE trial = 1;
    INSERT INTO t_block (name_id, trial, seq, attempt, reports, step,
	last_step, old, time_us, last_us, steps, seqs, times, v0)
    SELECT (SELECT id FROM t_name WHERE name = 'loss'), 1, 100000 + column1,
	column3, 1, column2, column2, 0, 1000 * column4, 1000 * column4, 0, 0,
	0, 1 FROM (VALUES
	(1, 0, 1, 0), (2, 5, 1, 5000), (3, 6, 1, 5000), (4, 3, 1, 6000),
	(5, 26, 1, 15000), (6, 20, 2, 20000), (7, 30, 2, 24000))"
is "$(sql rate.db 'SELECT steps_per_second FROM throughput WHERE trial = 1')" \
    "$(sqlite3 :memory: 'SELECT 30 / 14.0')" 'steps by the pace of its reports'
done_testing
