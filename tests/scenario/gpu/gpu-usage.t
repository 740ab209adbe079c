#!/bin/sh
# GPU use in all views.  Simulated GPUs: each report takes 100 J, and one second
# with 0.6 s of load.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

make_study() { # name gpus seconds-per-step trials steps
	cat >"$1.json" <<-END
	{ "study": "$1",
	  "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "x": { "type": "float", "min": 0.001, "max": 100,
	      "scale": "log" } },
	  "strategy": { "name": "random", "seed": 4 }, "stopping": "median",
	  "trial": { "command": ["true"], "max_steps": $5 },
	  "backend": { "name": "pretend", "gpus": $2, "slots": 4,
	      "seconds_per_step": $3 },
	  "limits": { "trials": $4 } }
	END
}

# A study whose rule stops some of its trials.
make_study used 2 0.02 20 40
ok 'a study on two GPUs' quietly "$HPOTUNE" start --quiet used.json
steps=$(sql used.db 'SELECT steps_run FROM savings')
skipped=$(sql used.db 'SELECT steps_skipped FROM savings')
ok 'its rule stops trials' test "$skipped" -gt 0
is "$(sql used.db 'SELECT count(*) FROM trials WHERE
    energy_joules IS NOT 100.0 * reports OR
    gpu_memory IS NOT 2147483648 OR abs(gpu_utilization - 60) > 1e-9 OR
    abs(gpu_seconds - seconds) > 1e-9')" 0 'each trial has used what it says'
is "$(sql used.db 'SELECT count(*) FROM attempts WHERE gpus IS NOT 1 OR
    energy_joules IS NULL OR abs(gpu_seconds - seconds) > 1e-9')" 0 \
    'and each attempt'
is "$(sql used.db 'SELECT total(energy_joules) FROM trials')" \
    "${steps}00.0" 'all of them 100 J a step'
is "$(sql used.db "SELECT sum(pace_steps > 0) > 0, abs(1 - energy_saved /
    sum(t.steps_skipped * iif(pace_steps > 0, pace_seconds / pace_steps,
	(SELECT sum(pace_seconds) / sum(pace_steps) FROM t_trial
	WHERE state = 'completed')) * energy_joules / seconds)) < 1e-9
    FROM t_trial AS t, savings")" '1|1' 'and what the skipped steps would have'
is "$(sql used.db 'SELECT gpu, uuid, state, trials, memory FROM gpus')" \
    '0|PRETEND-0|free|0|17179869184
1|PRETEND-1|free|0|17179869184' 'two GPUs, free at the end'

# On screens, in words and as JSON.
"$HPOTUNE" start used.json >out 2>err
like "$(cat out)" '^used [0-9.e-]+ GPU hours, [0-9.]+ kJ$' \
    'the end states what was used'
like "$(cat out)" "^stopping saved .*, $(sql used.db \
    "SELECT printf('%.3g', energy_saved / 1000) FROM savings") kJ" \
    'and what was saved'
like "$("$HPOTUNE" show used.db 1)" '^ *1 +1 +[0-9.e-]+ +[0-9]+00 .* 60$' \
    'show has a row for each attempt'
"$HPOTUNE" show --json used.db 1 >show.json
is "$(sqlite3 :memory: "SELECT round(json_extract(readfile('show.json'),
    '\$.usage[0].gpu_utilization'), 6), json_extract(readfile('show.json'),
    '\$.trial.gpu_memory')")" '60.0|2147483648' 'also as JSON'
"$HPOTUNE" trials --json used.db >trials.json
is "$(sqlite3 :memory: "SELECT count(*) FROM
    json_each(readfile('trials.json')) WHERE
    json_extract(value, '\$.energy_joules') > 0")" 20 'and trials'
"$HPOTUNE" trials --sort energy_joules --json used.db >sorted.json
is "$(sqlite3 :memory: "SELECT json_extract(readfile('sorted.json'),
    '\$[0].energy_joules')")" "$(sql used.db \
    'SELECT CAST(max(energy_joules) AS INTEGER) FROM trials')" \
    'sorted by it, too'
"$HPOTUNE" status --json used.db >status.json
is "$(sqlite3 :memory: "SELECT json_extract(readfile('status.json'),
    '\$.usage.energy_joules'), json_array_length(readfile('status.json'),
    '\$.gpus')")" "${steps}00|2" 'and status'
unlike "$("$HPOTUNE" status used.db)" '^gpu' \
    'a study that is over has no GPUs on its screen'

# A server that dies: what was recorded stays, and counts.
make_study lost 3 0.01 3 100000
server --quiet lost.json
at_work() {
	[ "$(sql lost.db 'SELECT count(*) FROM attempts
	    WHERE energy_joules >= 300' 2>/dev/null)" = 3 ]
}
ok 'three trials are at work' retry at_work
like "$("$HPOTUNE" status lost.db)" \
    '^gpu 2  held         pretended  60 C  2.0 of 16.0 GiB  1 trial$' \
    'status has a line for each GPU'
is "$(sql lost.db 'SELECT count(*) FROM trials
    WHERE energy_joules IS NULL AND gpu_seconds IS NULL')" 3 \
    'trials count attempts that have ended'
kill -9 $server
reap $server 2>err
now=$(sql lost.db 'SELECT group_concat(energy_joules) FROM attempts')
make_study lost 1 0.0001 3 100000
sed -i 's/"seconds_per/"steps": 3, "seconds_per/' lost.json
ok 'the next server' quietly "$HPOTUNE" start --quiet lost.json
is "$(sql lost.db "SELECT group_concat(energy_joules) FROM attempts
    WHERE attempt = 1 AND end_class = 'lost'")" "$now" \
    'leaves lost attempts what they had used'
is "$(sql lost.db 'SELECT count(*) FROM attempts AS a WHERE
    energy_joules IS NOT 100.0 * (SELECT count(*) FROM metrics AS m
    WHERE m.trial = a.trial AND m.attempt = a.attempt)')" 0 \
    'which is what they have reported'
is "$(sql lost.db 'SELECT count(*) FROM attempts
    WHERE abs(gpu_seconds - seconds) > 1e-9 OR gpu_seconds IS NULL')" 0 \
    'and their GPU seconds'
is "$(sql lost.db 'SELECT count(*), sum(t.energy_joules = (SELECT
    sum(energy_joules) FROM attempts AS a WHERE a.trial = t.trial))
    FROM trials AS t')" '3|3' 'a trial has used what its attempts have'
is "$(sql lost.db 'SELECT group_concat(uuid) FROM gpus')" PRETEND-0 \
    'GPUs of the server before are forgotten'

# Screens of GPUs that no pretended machine has.
sqlite3 lost.db "UPDATE t_study SET state = 'paused'; DELETE FROM t_gpu;
    INSERT INTO t_gpu VALUES ('GPU-a', 0, 'NVIDIA Fast', 85899345920,
	2147483648, 71, 3, 90.5, 'quarantined',
	'Xid 79: it has fallen off the bus', NULL, 0, 1),
    ('GPU-b', 1, NULL, NULL, NULL, NULL, NULL, NULL, 'reserved', NULL,
	'other-study', 0, 1)"
status=$("$HPOTUNE" status lost.db)
like "$status" '^gpu 0  quarantined  Fast  71 C  2.0 of 80.0 GiB  Xid 79: it ' \
    'a GPU out of service, and why'
like "$status" '^gpu 1  reserved     other-study$' 'one that another has'
sqlite3 lost.db "WITH n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n
    WHERE i < 63) INSERT INTO t_gpu (uuid, gpu, state, trials, time_us)
    SELECT printf('GPU-%d', i), i, iif(i < 40, 'held', 'free'), 1, 1 FROM n"
status=$("$HPOTUNE" status lost.db)
like "$status" '^gpus 38 held, 24 free, 1 quarantined, 1 reserved$' \
    'many are counted'
is "$(printf '%s\n' "$status" | grep -c '^gpu ')" 2 \
    'with a line for those out of service'

# Without GPUs none of this is there.
make_study none 0 0.001 2 3
"$HPOTUNE" start none.json >out 2>err
unlike "$(cat out)" '^used|GPU| [kJ]' 'no GPU, no word of any'
is "$(sql none.db 'SELECT count(*), sum(gpus), sum(gpu_seconds),
    sum(energy_joules) FROM attempts')" '2|||' 'attempts without GPUs have NULL in the columns of GPUs'
is "$(sql none.db 'SELECT energy_saved FROM savings')" '' 'energy_saved is NULL without GPUs'
unlike "$("$HPOTUNE" show none.db 1)" GPU 'show prints nothing about GPUs'

done_testing
