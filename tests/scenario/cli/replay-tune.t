#!/bin/sh
# hpotune replay --tune: recommends what replay finds best, on CSV curves and on
# those of a study.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

# A part of the JSON of a run.
part() { # path
	sqlite3 :memory: "SELECT json_extract(readfile('out.json'), '\$$1')"
}

# Sixty falling curves of 20 reports: who ends best starts no worse than most.
awk 'BEGIN {
	srand(5)
	print "trial,step,value"
	for (t = 1; t <= 60; t++) {
		end = rand()
		begin = end + 1 + rand() / 2
		for (s = 1; s <= 20; s++)
			printf "%d,%d,%.6f\n", t, s,
			    end + (begin - end) * exp(-s / 4) + rand() / 50
	}
}' >curves.csv

"$HPOTUNE" replay --tune --seeds 5 --trials 40 --json curves.csv >out.json
is "$(part .studies)" 5 'on five studies'
ok 'hundreds of them' test "$(part .settings)" -gt 300
# Of the best ones that killed nobody, the last saves most.
best() { # field
	sqlite3 :memory: "SELECT json_extract(value, '\$.$1')
	    FROM json_each(json_extract(readfile('out.json'), '\$.best'))
	    WHERE json_extract(value, '\$.killed_best') <= 0.01
	    ORDER BY json_extract(value, '\$.saved') DESC LIMIT 1"
}
is "$(part .stopping)" "$(best rule)" \
    'who saves most of those that do not kill is recommended'
is "$(sqlite3 :memory: "SELECT json_extract(b.value, '\$.saved') >
    json_extract(readfile('out.json'), '\$.median.saved')
    FROM json_each(json_extract(readfile('out.json'), '\$.best')) b
    ORDER BY 1 DESC LIMIT 1")" 1 'it saves more than median as it is'
is "$(sqlite3 :memory: "SELECT count(*) FROM (
    SELECT json_extract(value, '\$.saved') s,
	json_extract(value, '\$.killed_best') k,
	lag(json_extract(value, '\$.saved')) OVER (ORDER BY key) t,
	lag(json_extract(value, '\$.killed_best')) OVER (ORDER BY key) l
    FROM json_each(json_extract(readfile('out.json'), '\$.best')))
    WHERE s <= t OR k <= l")" 0 'who saves more kills more'

# The rule itself, report by report, comes to the same.
rule=$(part .stopping)
saved=$(best saved)
"$HPOTUNE" replay --seeds 5 --trials 40 --json --rule "$rule" curves.csv \
    >out.json
is "$(part '[0].saved')" "$saved" 'replay of what is recommended saves as much'

"$HPOTUNE" replay --tune --seeds 5 --trials 40 curves.csv >out
like "$(cat out)" '^median  *last  *last  *reached' 'a table with the default'
like "$(cat out)" '^use ' '… and what is recommended'
sed -n 's/^"stopping": //p' out >block
is "$(sqlite3 :memory: "SELECT json(readfile('block'))")" "$rule" \
    'the block for study.json is the same'

like "$(cat out)" '^Chosen on one half of the curves \(saved .* other half: saved' \
    'with the figures of the half on which a choice was not made'
sed -n '1p; /^[123]\{0,1\}[0-9],/p' curves.csv >few.csv
like "$("$HPOTUNE" replay --tune --seeds 5 --trials 40 few.csv)" \
    '^Chosen on these curves alone: verify .*fewer than 40' \
    'unless there are too few curves'

# A study: what is recommended is a study.json again.
study() { # stopping
	cat <<-END
	{ "study": "past", "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": {
	      "lr": { "type": "float", "min": 1e-4, "max": 1, "scale": "log" } },
	  "strategy": { "name": "random", "seed": 3 },
	  "stopping": $1,
	  "trial": { "command": ["true"], "max_steps": 20, "gpus": 0 },
	  "backend": { "name": "pretend", "steps": 20,
	      "seconds_per_step": 0.001 },
	  "limits": { "trials": 60, "parallel": 8 } }
	END
}
study '"none"' >study.json
ok 'a study runs' "$HPOTUNE" start study.json --quiet
"$HPOTUNE" replay --tune --seeds 4 --trials 30 --json past.db >out.json
is "$(part .studies)" 4 'studies are drawn from its curves'
study "$(part .stopping)" >again.json
ok 'the block fits into study.json' "$HPOTUNE" check again.json
"$HPOTUNE" replay --tune --seeds 4 --json past.db curves.csv >out.json
is "$(part .studies)" 8 'several files'

"$HPOTUNE" replay --tune --rule median curves.csv >out 2>err
is $? 2 'with --rule: a wrong usage'
like "$(cat err)" '^hpotune: .*omit --rule' 'gives the reason'
"$HPOTUNE" replay --tune nothing.csv >out 2>err
is $? 2 'no such file'

done_testing
