#!/bin/sh
# hpotune replay: CSV curves in both shapes, compressed or not, recorded
# studies, and errors that say which line.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need gzip sqlite3

# The field of a rule's row in the JSON of a replay.
field() { # field file [option ...]
	field_name=$1
	shift
	"$HPOTUNE" replay --json "$@" >out.json || return 1
	sqlite3 :memory: \
	    "SELECT json_extract(readfile('out.json'), '\$[0].$field_name')"
}

upper='{"rule": "threshold", "upper": 5}'
lower='{"rule": "threshold", "lower": 4}'

# Ten constant curves, 1 to 10, of ten reports.
{
	echo 'config,s0,s1,s2,s3,s4,s5,s6,s7,s8,s9'
	for i in 1 2 3 4 5 6 7 8 9 10; do
		echo "$i,$i,$i,$i,$i,$i,$i,$i,$i,$i,$i"
	done
} >wide.csv

is "$(field saved wide.csv --rule "$upper")" 0.45 \
    'five of ten stopped after one of ten reports'
is "$(field stopped wide.csv --rule "$upper")" 100 'in each of 20 studies'
is "$(field killed_best wide.csv --rule "$upper")" 0 'not the best one'
is "$(field killed_best wide.csv --rule "$lower")" 1 \
    'the best one when small is bad'
is "$(field killed_best wide.csv --goal maximize --rule "$upper")" 1 \
    'the best one when great is good'
is "$(field studies wide.csv wide.csv --seeds 3 --rule none)" 6 \
    'three studies of each file'
is "$(field trials wide.csv --trials 4 --seeds 5 --rule none)" 20 \
    'four trials of each'
is "$(field saved wide.csv --rule none)" 0 'none saves nothing'

# Second looks, by hand: of 1 to 9 the first three are stopped, 27 of 90 reports.
# Of the best five, 4 to 8, the median of the six completed would have stopped 7
# and 8: H is 2 of 5, the budget 12 % of 90 steps, and 9 of these 10 complete
# trial 1.  Then the best are 1, 4, 5, 6 and 7, H is 1 of 5, the budget 6 steps.
grep -v '^10,' wide.csv >nine.csv
is "$(field saved nine.csv --rule "$lower")" 0.3 'three of nine are stopped'
is "$(field second_look.resumed nine.csv --rule "$lower")" 20 \
    'one of them is resumed in each of 20 studies'
is "$(field second_look.saved nine.csv --rule "$lower")" 0.2 \
    'its steps are no longer saved'
is "$(field killed_best nine.csv --rule "$lower")" 1 'the best is stopped'
is "$(field second_look.killed_best nine.csv --rule "$lower")" 0 \
    'and resumed'
is "$(field second_look.hindsight nine.csv --rule "$lower")" 0.4 \
    'the share of the five best that the median would have stopped'
is "$(field second_look.resumed nine.csv --rule none)" 0 \
    'nothing is resumed where nothing is stopped'

# Falling curves: what was stopped counts with what it had reported.
{
	echo 'trial,step,value'
	for i in 1 2 3; do
		for s in 0 1 2 3; do
			echo "$i,$((s * 100)),$((10 * i - i * s))"
		done
	done
} >long.csv
# Results 7 14 21; 21 reports 30 first: above 29, found 30; median 14.
is "$(field skipped long.csv --seeds 1 \
    --rule '{"rule": "threshold", "upper": 29}')" 3 \
    'rows of reports: three of four are skipped'
# Everything above 9 is stopped at once: 10 is found where 7 is there.
is "$(field regret long.csv --seeds 1 \
    --rule '{"rule": "threshold", "upper": 9}')" 0.428571428571429 \
    'regret: (10 - 7) / (14 - 7)'
is "$(field regret long.csv --seeds 1 --rule none)" 0 'no regret'

# Steps that are far apart, as nanoGPT logs them.
for apart in 1 250; do
	awk -v apart=$apart 'BEGIN {
		srand(4)
		print "trial,step,value"
		for (t = 1; t <= 40; t++) {
			level = rand()
			for (k = 0; k <= 50; k++)
				printf "%d,%d,%.9g\n", t, k * apart,
				    level + exp(-k / 10) + 0.02 * rand()
		}
	}' >apart-$apart.csv
done
is "$(field saved apart-250.csv --rule median)" \
    "$(field saved apart-1.csv --rule median)" \
    'a share of the steps is one of steps, not of reports'
like "$(field saved apart-250.csv --rule median)" '^0\.[3-9]' 'and saves much'

gzip -k wide.csv
is "$(field saved wide.csv.gz --rule "$upper")" 0.45 'compressed files'
"$HPOTUNE" replay wide.csv >one
"$HPOTUNE" replay wide.csv >two
ok 'the same draw, the same table' cmp one two
like "$(cat one)" '^median .* %' 'all rules are in the table'
"$HPOTUNE" rules --json >rules.json
is "$(sqlite3 :memory: "SELECT json_extract(value, '\$.name')
    FROM json_each(readfile('rules.json'))" | grep -vE '^(threshold|overfit)$' |
    while read -r rule; do
	grep -q "^$rule " one || echo "$rule"
    done)" '' 'each of them that needs no option'
"$HPOTUNE" replay wide.csv --workers 1 --rule \
    '[{"rule": "median", "warmup_steps": 0, "guard": false}, "patience"]' >one
like "$(cat one)" '%' 'a list of rules'

# Wrong files and rules.
refused() { # pattern argument ...
	refused_want=$1
	shift
	"$HPOTUNE" replay "$@" >out 2>err
	is $? 2 "$*: exit status"
	like "$(cat err)" "^hpotune: .*$refused_want" "$*: says why"
}
refused 'No such file' nothing.csv
refused 'did you mean "median"' --rule medain wide.csv
refused 'did you mean "warmup_steps"' \
    --rule '{"rule": "median", "warmup_step": 3}' wide.csv
refused 'guard: expected true, false or a whole number from 0 to 100' \
    --rule '{"rule": "median", "guard": 101}' wide.csv
refused 'needs "lower"' --rule threshold wide.csv
echo 'a,b' >bad.csv
refused 'bad.csv:1: expected columns' bad.csv
printf 's0,s1\n1,2\n3\n' >bad.csv
refused 'bad.csv:3: expected as many fields' bad.csv
printf 's0,s1\n1,x\n' >bad.csv
refused 'bad.csv:2: expected numbers' bad.csv
: >bad.csv
refused 'bad.csv: empty' bad.csv
refused 'minimize or maximize' --goal up wide.csv

# A study as it was recorded: ten trials, one at a time, none stopped.
cat >study.json <<'END'
{ "study": "demo", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "int", "min": 1, "max": 10 } },
  "strategy": { "name": "grid" }, "stopping": "none",
  "trial": { "command": ["sh", "-c",
      "for s in 1 2 3 4; do echo hpotune: step=$s loss=$1; done", "sh", "{x}"],
      "max_steps": 4, "gpus": 0 },
  "limits": { "trials": 10, "parallel": 1 } }
END
if "$HPOTUNE" start study.json --quiet >start.out 2>&1; then
	is "$(field reports demo.db --rule none)" 40 'all reports of a study'
	is "$(field skipped demo.db --rule "$upper")" 15 \
	    'five of its trials after one of four reports'
	is "$(field killed_best demo.db --rule "$lower")" 1 'and the best one'
else
	diag "$(cat start.out)"
	ok 'a study to replay' false
fi

# Steps beyond what study.json says, and none said at all.
sed 's/"max_steps": 4/"max_steps": 2/; s/"demo"/"beyond"/' study.json >beyond.json
sed 's/"max_steps": 4, //; s/"demo"/"without"/' study.json >without.json
if "$HPOTUNE" start beyond.json --quiet >start.out 2>&1 &&
    "$HPOTUNE" start without.json --quiet >>start.out 2>&1; then
	note=': its steps go to 4, beyond trial.max_steps, which is 2: nothing'
	for tune in '' --tune; do
		"$HPOTUNE" replay beyond.db $tune >out 2>err
		like "$(cat err)" "^hpotune: note: beyond\.db$note" \
		    "steps beyond max_steps are told of $tune"
	done
	"$HPOTUNE" replay without.db >out 2>err
	is $? 0 'a study without max_steps is replayed'
	like "$(cat err)" '^hpotune: note: without.db: without curve: .*max_steps' \
	    'a rule that needs it is left out, with a word'
	unlike "$(cat out)" '^curve' 'of the table'
	like "$(cat out)" '^median' 'others are there'
	"$HPOTUNE" replay without.db --rule curve >out 2>err
	is $? 2 'asked for, it is refused'
else
	diag "$(cat start.out)"
	ok 'studies to replay' false
fi

# The rule that a study had decides again what it decided.
cat >again.json <<'END'
{ "study": "again", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
      "lr": { "type": "float", "min": 1e-4, "max": 1, "scale": "log" } },
  "strategy": { "name": "random", "seed": 3 },
  "stopping": { "rule": "median", "warmup_steps": 3, "second_look": 0 },
  "trial": { "command": ["true"], "max_steps": 20, "gpus": 0 },
  "backend": { "name": "pretend", "steps": 20, "seconds_per_step": 0.1 },
  "limits": { "trials": 200, "parallel": 16 } }
END
rule='{"rule": "median", "warmup_steps": 3}'
if "$HPOTUNE" start again.json --quiet >start.out 2>&1; then
	stops=$(sql again.db "SELECT count(*) FROM stops WHERE verdict = 'stop'")
	ok 'some trials were stopped' test "$stops" -gt 5
	is "$(field stopped again.db --rule "$rule")" "$stops" \
	    'replay stops as many'
	is "$(field skipped again.db --rule "$rule")" 0 \
	    'at the same steps: nothing more is saved'
	unlike "$(field skipped again.db --rule vizier)" '^0$' \
	    'another rule stops others'
else
	diag "$(cat start.out)"
	ok 'another study to replay' false
fi

# A stranger's database says what it likes.
damaged() { # pattern sql: what replay says of again.db after it
	cp again.db bad.db
	sqlite3 bad.db "PRAGMA writable_schema = ON;
	    PRAGMA ignore_check_constraints = ON; $2"
	"$HPOTUNE" replay bad.db --rule none >out 2>err
	is $? 1 "$2: exit status"
	is "$(wc -l <err)" 1 "$2: one line"
	like "$(cat err)" "bad.db: the database is damaged: $1" "$2: says where"
}
stops_view() { # trial
	printf '%s' "DROP VIEW stops; CREATE VIEW stops AS " \
	    "SELECT $1 AS trial, 7 AS step, 'stop' AS verdict"
}
for n in -72340172838076672 -1 0 201 4611686018427387904 NULL 1.5 "'x'"; do
	damaged 'stops, row .*, column trial: ' "$(stops_view "$n")"
done
damaged 't_trial, row 0, column trial: 0 ' \
    'UPDATE t_trial SET trial = 0 WHERE trial = 1'
damaged 't_trial, row 4611686018427387904, column trial: 461' \
    'UPDATE t_trial SET trial = 1 << 62 WHERE trial = 200'
damaged 't_block, row 3, column step: -5 cannot be' \
    'UPDATE t_block SET step = -5 WHERE trial = 3'

done_testing
