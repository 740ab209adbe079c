#!/bin/sh
# What hpotune replay reads of other tools, and what it says of curves whose
# figures mean nothing.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

field() { # field argument ...
	field_name=$1
	shift
	"$HPOTUNE" replay --json "$@" >out.json 2>err || { cat err; return 1; }
	sqlite3 :memory: \
	    "SELECT json_extract(readfile('out.json'), '\$[0].$field_name')"
}
refused() { # pattern argument ...
	refused_want=$1
	shift
	"$HPOTUNE" replay "$@" >out 2>err
	is $? 2 "$*: exit status"
	like "$(cat err)" "^hpotune: .*$refused_want" "$*: says why"
}
upper='{"rule": "threshold", "upper": 15}'

# The same thirty curves of ten reports, level 1 to 30, in several forms.
rows() { # header awk-statement
	echo "$1"
	awk -v OFS=, 'BEGIN { for (s = 1; s <= 10; s++)
	    for (t = 1; t <= 30; t++) { '"$2"' } }'
}
rows trial,step,value 'print t, s, t' >own.csv
rows 'Run_ID,params,_step,val_loss,acc' \
    'print "r-" t, "\"a, \"\"b\"\"\"", s, t, 9' >wandb.csv
rows run_id,key,value,step,timestamp \
    'print "r" t, "loss", t, s, 5; print "r" t, "acc", 9, s, 5' >mlflow.csv
want=$(field saved own.csv --rule "$upper")
like "$want" '^0\.4' 'fifteen of thirty are stopped at their first report'
is "$(cat err)" '' 'thirty curves give no note'
is "$(field saved wandb.csv --metric val_loss --rule "$upper")" "$want" \
    'columns of other names, quoted fields, and rows that alternate'
is "$(field saved mlflow.csv --metric loss --rule "$upper")" "$want" \
    'rows of several metrics'
is "$(field saved mlflow.csv --metric acc --rule "$upper")" 0 'another metric'
refused 'mlflow.csv:3: there are several metrics, "loss" and "acc": choose one' \
    mlflow.csv
refused 'mlflow.csv: no report of "f1"' mlflow.csv --metric f1
refused 'own.csv:1: expected columns for the trial, the step and "loss"' \
    own.csv --metric loss
printf 'trial,step,value\na,1,1\nb,1,1\na,1,2\n' >twice.csv
refused 'twice.csv:4: the steps of a trial do not ascend' twice.csv
printf 'trial,step,value\na,0.5,1\n' >half.csv
refused 'half.csv:2: a step is a whole number' half.csv

# Weights: what a step of each curve costs, beside the curves.
{ echo s1,s2,s3,s4; echo 1,1,1,1; echo 20,20,20,20; } >two.csv
is "$(field saved two.csv --rule "$upper" --seeds 1)" 0.375 \
    'three of eight reports are saved'
printf '1\n9\n' >two.wt
is "$(field saved two.csv --rule "$upper" --seeds 1)" 0.675 \
    'of a curve that costs nine times as much'
gzip two.csv two.wt
is "$(field saved two.csv.gz --rule "$upper" --seeds 1)" 0.675 'compressed'
printf '1\n' >two.wt
refused 'two.wt: 1 weights of 2 curves' two.csv.gz
printf '1\n-1\n' >two.wt
refused 'two.wt: expected a number above 0 on each line, not -1' two.csv.gz

# Curves from a pipe, plain and compressed.
for name in - /dev/stdin; do
	"$HPOTUNE" replay --json $name --rule "$upper" <own.csv >out.json
	is "$(cat out.json)" "$("$HPOTUNE" replay --json own.csv \
	    --rule "$upper")" "curves from $name"
	gzip -c own.csv | "$HPOTUNE" replay --json $name --rule "$upper" \
	    >gz.json
	is "$(cat gz.json)" "$(cat out.json)" "compressed ones from a pipe, $name"
done
"$HPOTUNE" replay --tune --seeds 1 own.csv >want 2>err
"$HPOTUNE" replay --tune --seeds 1 - <own.csv 2>err >out
is "$(cat out)" "$(cat want)" 'a file by its name --tune, too'

# Runs of 5 and of 10 steps that fall by equal shares: the best has 5.
rows trial,step,value 'n = t % 2 ? 5 : 10
    if (s <= n) print t, s, 1 - s / n + t / 100' >lengths.csv
late='{ "rule": "median", "warmup_steps": "20%", "min_trials": 2,
    "guard": false, "second_look": 0 }'
whole=$(field stopped lengths.csv --trials 30 --seeds 10 --rule "$late")
own=$(field stopped lengths.csv --trials 30 --seeds 10 --rule "$late" \
    --own-steps)
ok 'by steps the long ones are behind, by shares they need not be' \
    test "$whole" != "$own"
is "$(field killed_best lengths.csv --trials 30 --seeds 10 --rule "$late" \
    --own-steps)" 0 'by shares the best one is never behind'
sed 's/,10,/,2000000000,/' lengths.csv >long.csv
refused 'long.csv: steps go to 2000000000: at most 1000000000 can be compared' \
    long.csv --own-steps

# Each rule's row is printed as it ends.
refused 'rule .* reads another metric' own.csv --rule none \
    --rule '{"rule": "median", "metric": "acc", "goal": "maximize"}'
like "$(cat out)" '^none ' 'a rule has its row before the next one is read'

# Which preset suits: where curves never cross, the one that saves most.
"$HPOTUNE" replay --presets --seeds 10 own.csv >out
is "$(sed -n '2,4s/ .*//p' out)" 'begun
short
careful' 'three rules are compared'
like "$(cat out)" '^short suits these curves best' 'one of them is named'
like "$(cat out)" '^  short saves [0-9.]* to [0-9.]* % and loses the best trial in 0\.000 to 0\.278 of such studies$' \
    'with the intervals of ten studies'
refused 'presets is a list of rules' own.csv --presets --rule none

# TensorBoard: a folder of event files is a trial.
mkdir -p runs/a runs/b/deep empty
data=$TOP_SRCDIR/tests/data/metrics
cp "$data/tensorboardx.tfevents" runs/a/events.out.tfevents.1
cp "$data/tensorboardx.tfevents" runs/b/deep/events.out.tfevents.1
cp "$data/tensorboardx.tfevents" runs/b/deep/events.out.tfevents.2
: >runs/notes.txt
is "$(field trials runs --metric val/loss --seeds 1 --rule none)" 2 \
    'two folders are two trials'
is "$(field reports runs --metric val/loss --seeds 1 --rule none)" 12 \
    'with the steps 0 to 5, each once'
is "$(field reports runs --metric acc_top_1 --seeds 1 --goal maximize \
    --rule none)" 10 'another tag'
refused 'runs: there are several metrics, "val/loss" and "acc_top_1": choose' \
    runs
refused 'runs: no event file has a report of "loss"' runs --metric loss
refused 'empty: no event file has a report' empty
head -c 100 "$data/tensorboardx.tfevents" >runs/a/events.out.tfevents.1
ok 'a file that ends within a record is read up to there' \
    "$HPOTUNE" replay runs --metric val/loss --rule none

# Curves of which the figures mean nothing.
noted() { # pattern file
	"$HPOTUNE" replay "$2" --rule median >out 2>err
	is $? 0 "$2: exit status"
	like "$(cat err)" "^hpotune: note: (.*/)?${2%.json}[^ ]*: $1" "$2: $1"
}
rows trial,step,value 'if (t <= 19) print t, s, t' >few.csv
noted 'it has 19 trials: figures from fewer than 20 are not reliable' few.csv
rows trial,step,value 'print t, s, 4 - s / 10' >equal.csv
noted 'all trials have the same best value: none can be lost' equal.csv
rows trial,step,value 'print t, s, "nan"' >nan.csv
noted 'no value is finite' nan.csv
rows trial,step,value 'if (t == 1 || s < 4) print t, s, t' >uneven.csv
noted 'its steps go to 10, but half of the trials end at 3 or before: shares' \
    uneven.csv

rows trial,step,value 'if (s == 1) print t, s, t' >single.csv
refused 'single.csv: each trial has one report: there is nothing that a rule' \
    single.csv
refused 'single.csv: each trial has one report' single.csv --tune

# A study by its study.json, whose trials have one report each.
cat >one.json <<'END'
{ "study": "one", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "trial": { "command": ["true"], "max_steps": 1 },
  "backend": { "name": "pretend", "seconds_per_step": 0 },
  "limits": { "trials": 20 } }
END
ok 'a study to be replayed' "$HPOTUNE" start -q one.json
"$HPOTUNE" replay one.db --rule median >want 2>err
noted 'each trial has one report: there is nothing that a rule could save' \
    one.db
noted 'each trial has one report' one.json
is "$(cat out)" "$(cat want)" 'one.json is the study in one.db'
refused 'nothing.json' nothing.json

# The chart: the best trial on top, and where the others end.
LC_ALL=C "$HPOTUNE" replay own.csv --trials 30 --chart --rule \
    '{"rule": "threshold", "upper": 29, "second_look": 0}' >out 2>err
is "$(sed -n '/^trial/,$p' out | awk 'NR > 1 { print $2, length($3), $4 }' |
    sed -n '1p;29p;30p' | tr '\n' ' ')" '1 50  29 50  30 50 stopped ' \
    'a bar for each trial, the best first'
is "$(sed -n '/^trial/,$p' out | awk '$4 == "stopped" { print $3 }')" \
    "#####$(printf '%045d' 0 | tr 0 .)" 'with what is run and what is not'
# Of nine trials three are stopped, and one of them has a second look.
awk -F , 'NR == 1 || $1 <= 9' own.csv >nine.csv
quietly "$HPOTUNE" replay nine.csv --output own.html --rule \
    '{"rule": "threshold", "lower": 4}'
ok 'a page with the curves' grep -q \
    '9 trials. Thin: run to the end. Orange: .* (3). Grey: .* (1).' own.html
is "$(grep -o '<path class="[a-z]*"' own.html | sort | uniq -c |
    awk '{ n[$3] = $1 } END { print n["class=\"curve\""], n["class=\"cut\""],
	n["class=\"bad\""], n["class=\"top\""] }')" '6 3 2 1' \
    'whole ones, parts that are run, not run, and run later'
if command -v xmllint >/dev/null; then
	ok 'it is XML' xmllint --noout own.html
fi
# Every study of every rule and file: in late.csv the first trial is the best one,
# and above the threshold until its end.
awk -F , 'NR == 1 || $1 <= 9' own.csv >some.csv
sed 's/^1,\([0-9]\),.*/1,\1,99/; s/^1,10,.*/1,10,0/' some.csv >late.csv
upper='{"rule": "threshold", "upper": 50, "second_look": 0}'
again='{"rule": "threshold", "lower": 4}'
LC_ALL=C quietly "$HPOTUNE" replay some.csv late.csv --seeds 62 --chart --rule none \
    --rule "$upper" --rule "$again" --output all.html
fate() { # rule file: the kinds of marks, and how many studies are not drawn
	awk -v r="$1" -v f="$2" '/^The best trial/ { there = 1 }
	    /^One study/ { there = 0 }
	    there && index($0, r) == 1 && index($0, f) {
		sub(".*" f " *", ""); n = length($1); gsub(/(.)\1*/, "&", $1)
		print n, substr($1, 1, 1), $3 }' out
}
is "$(fate none late.csv)" '60 . 2' 'without a rule the best trials are kept'
is "$(fate "$upper" some.csv)" '60 . 2' 'as on curves below the threshold'
is "$(fate "$upper" late.csv)" '60 x 2' 'a late one is lost in every study'
is "$(fate "$again" some.csv)" '60 o 2' 'another one found by a second look'
is "$(grep -c '^One study of .*\.csv with ' out)" 6 \
    'the first study of each file under each rule is drawn'
is "$(grep -o '<h[23]' all.html | sort | uniq -c | tr -s ' \n' ' ')" \
    ' 3 <h2 6 <h3 ' 'the page has them all'
is "$(grep -o '<code>[×○·]*' all.html | cut -c 7-9 | sort -u | wc -l)" 3 \
    'with the same marks'
if command -v xmllint >/dev/null; then
	ok 'it is XML, too' xmllint --noout all.html
fi
LC_ALL=C quietly "$HPOTUNE" replay some.csv --chart
is "$(grep -c '^One study' out)" 1 'of all rules only median is drawn'
ok 'but each has its marks' test \
    "$(sed -n '/^The best/,/^One study/p' out | grep -c some.csv)" -gt 12

echo mine >mine.html
"$HPOTUNE" replay own.csv --rule none --output mine.html >out 2>err
is "$?|$(cat mine.html)" '1|mine' 'another file is not replaced'
like "$(cat err)" 'mine.html: exists and is not a report' 'and it is said'
awk 'BEGIN { print "trial,step,value"; for (t = 1; t <= 50; t++)
    for (s = 1; s <= 4; s++) print t "," s "," t }' >fifty.csv
like "$("$HPOTUNE" replay fifty.csv --chart --rule none 2>err)" \
    '^and 10 trials with worse results$' 'the others are counted'

# --tune over files: what is recommended holds on the half it was not chosen on.
curves() { # seed crossing
	awk -v seed="$1" -v crossing="$2" 'BEGIN {
		srand(seed)
		print "trial,step,value"
		for (t = 1; t <= 40; t++) {
			end = rand()
			begin = crossing ? 3 - end : end + 1
			for (s = 1; s <= 20; s++) {
				far = crossing ? s < 18 : exp(-s / 4)
				printf "%d,%d,%.6f\n", t, s,
				    end + (begin - end) * far + rand() / 90
			}
		}
	}'
}
part() {
	sqlite3 :memory: "SELECT json_extract(readfile('out.json'), '\$$1')"
}
for i in 1 3; do curves $i 0 >plain-$i.csv; done
for i in 2 4; do curves $i 1 >crossing-$i.csv; done
"$HPOTUNE" replay --tune --seeds 10 --json plain-1.csv plain-3.csv >out.json
is "$(part .studies)" 20 'the studies of both halves count'
ok 'the choice saves much where it was not chosen' test \
    "$(sqlite3 :memory: "SELECT json_extract(readfile('out.json'),
	'\$.held_out.saved') > 0.5")" = 1
is "$(part .held_out.killed_best)" 0 'and loses nothing there'
is "$(part .held_out.rule)" "$(part .stopping)" 'the held-out rule is the recommended one'
"$HPOTUNE" replay --tune --seeds 10 plain-1.csv plain-3.csv >out
like "$(cat out)" '^Chosen on one half of the files .saved .*; on the other half: saved' \
    'the table says both'
"$HPOTUNE" replay --tune --seeds 10 --json plain-1.csv crossing-2.csv plain-3.csv \
    crossing-4.csv >out.json
ok 'what the other half contradicts is not recommended' test \
    "$(part .held_out.killed_best | cut -c1-4)" = 0
"$HPOTUNE" replay --tune --seeds 10 plain-1.csv >out
like "$(cat out)" '^Chosen on one half of the curves .saved .*; on the other half: saved' \
    'the curves of one file are halved'
awk -F , 'NR == 1 || $1 <= 39' plain-1.csv >plain.csv
"$HPOTUNE" replay --tune --seeds 10 plain.csv >out
like "$(cat out)" '^Chosen on these curves alone: verify' '39 curves are not'

done_testing
