#!/bin/sh
# hpotune report: one page for any study, and its errors.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3

page() { # what file …: of tests/scenario/cli/report_page.py
	python3 "$TOP_SRCDIR/tests/scenario/cli/report_page.py" "$@"
}

# The report of a study is made, and is a page.
made() { # name
	fails "$1: a report is made" 0 quietly "$HPOTUNE" report "$1.db"
	is "$(cat out)" "$dir/$1.html" "$1: it says where"
	is "$(page check "$1.html")" '' "$1: the page is sound"
}

study() { # name trials [sed-expression …]
	study_name=$1
	study_trials=$2
	study_aims=${study_aims-'"objective": { "metric": "acc",
    "goal": "maximize" }'}
	study_one=${study_one-'"sgd"'}
	shift 2
	sed "$@" >"$study_name.json" <<END_OF_STUDY
{ "study": "$study_name",
  $study_aims,
  "parameters": {
    "lr": { "type": "float", "min": 1e-4, "max": 0.3, "scale": "log" },
    "layers": { "type": "int", "min": 1, "max": 4 },
    "opt": { "type": "choice", "values": [$study_one, "adam"] },
    "momentum": { "type": "float", "min": 0, "max": 0.99,
      "when": { "opt": [$study_one] } },
    "beta": { "type": "float", "min": 0.9, "max": 0.9999,
      "scale": "reverse-log" },
    "fixed": { "type": "fixed", "value": 3 } },
  "strategy": { "name": "random", "seed": 5 },
  "stopping": { "rule": "median", "min_trials": 3, "warmup_steps": 3 },
  "trial": { "command": ["true"], "max_steps": 12, "retries": 0 },
  "backend": { "name": "pretend", "seconds_per_step": 0.0001, "noise": 0 },
  "limits": { "trials": $study_trials, "parallel": 3 } }
END_OF_STUDY
}
same=s/nothing/nothing/

# A study with a bit of everything.

study all 60 -e 's/"noise": 0/"noise": 0.02, "fail": 0.1, "nan": 0.05/'
"$HPOTUNE" start -q all.json
before=$(sql all.db 'SELECT count(*), max(seq) FROM t_metric')
made all
text=$(page text all.html)
like "$text" '^maximize acc$' 'all: the goal'
like "$text" "^trial $(sql all.db 'SELECT best_trial FROM study'): acc " \
    'all: the best trial'
like "$text" '% of the steps' 'all: what was saved'
like "$text" "^$("$HPOTUNE" version)\$|by $("$HPOTUNE" version) " 'all: by whom'
for section in History 'Learning curves' 'Parameters that mattered' \
    'Parameters and results' 'Best trials' Stops 'Where and when trials ran' \
    Failures 'Parallel coordinates' 'The study' \
    'The two parameters that matter most'; do
	like "$text" "^$section\$" "all: the section $section"
done
unlike "$text" '^Front$' 'all: one objective has no front'
is "$(grep -o 'class="m held"[^>]*data-trials="[0-9 ]*"' all.html |
    sed 's/.*data-trials="//; s/"//' | tr ' ' '\n' | grep . | sort -nu)" \
    "$(sql all.db "SELECT DISTINCT trial FROM stops JOIN trials USING (trial)
	WHERE verdict = 'suspended' AND value IS NOT NULL ORDER BY trial")" \
    'all: the curves whose stop a guard suspended have a ring'
ok 'all: there are some' grep -q 'class="m held"[^>]*data-trials' all.html
is "$(page rows all.html 'Best trials' | cut -d '|' -f 1 | sed -n '2,26p')" \
    "$(sql all.db "SELECT trial FROM trials WHERE state = 'completed'
	ORDER BY objective DESC, trial LIMIT 25")" 'all: the best trials'
is "$(page rows all.html Stops | grep -c '|stop|[0-9.]*|[0-9.]*|[0-9]*|.* the median ')" \
    "$(sql all.db "SELECT count(threshold) FROM (SELECT threshold FROM stops
	WHERE verdict = 'stop' ORDER BY time DESC, trial DESC LIMIT 25)")" \
    'all: the stops, each with its numbers and why'
is "$(page rows all.html Stops | grep -c '|stop|[0-9]*|[0-9]*|it was stopped$')" 1 \
    'all: what the verdict means'
is "$(page rows all.html Stops | sed '1,/^trial|/d' | grep -c suspended)" 0 \
    'all: and no others'
is "$(page rows all.html Failures | sed -n 2p | cut -d '|' -f 2)" \
    "$(sql all.db 'SELECT count(*) FROM trials WHERE state = "failed"
	GROUP BY why ORDER BY 1 DESC LIMIT 1')" 'all: failures are counted'
is "$(page count all.html diamond)" "$(sql all.db "SELECT 1 +
    count(*) FILTER (WHERE state = 'stopped' AND objective IS NOT NULL) +
    count(*) FILTER (WHERE state = 'stopped' AND objective IS NOT NULL) * 4 +
    count(*) FILTER (WHERE state = 'stopped' AND objective IS NOT NULL AND
	json_extract(params, '\$.momentum') IS NOT NULL) FROM trials")" \
    'all: each stopped trial is marked, where its parameters are active'
is "$(sql all.db 'SELECT count(*), max(seq) FROM t_metric')" "$before" \
    'all: the database is as it was'
ok 'all: bytes of the database are as they were' \
    sh -c 'cp all.db copy.db && "$HPOTUNE" report all.db >out && cmp all.db copy.db'
fails 'the standard output is - as everywhere' 0 \
    quietly "$HPOTUNE" report all.json --output -
is "$(page check out)" '' 'the page comes out'

# Studies that hardly are.

study empty 4 -e $same
"$HPOTUNE" ask empty.json >out
made empty
like "$(page text empty.html)" 'no trial has a value of acc' \
    'empty: it reports it'
study one 1 -e $same
"$HPOTUNE" start -q one.json
made one
study failed 3 -e 's/"noise": 0/"fail": 1/'
"$HPOTUNE" start -q failed.json
made failed
like "$(page rows failed.html Failures)" '^error\|3\|1\|3\|exit status 1$' \
    'failed: how often, and why'
study dark 4 -e $same
for trial in 1 2 3 4; do
	"$HPOTUNE" ask dark.json >out
	"$HPOTUNE" tell dark.json $trial step=1 acc=nan --done >out
done
made dark
like "$(page text dark.html)" 'no trial has a value of acc' \
    'dark: it reports it'
is "$(page rows dark.html Failures | sed -n 2p | cut -d '|' -f 1,2)" \
    'diverged|4' 'dark: all have diverged'

# Values from one end of the numbers to the other.

study wide 9 -e $same
trial=0
for value in 1e308 -1e308 1e-308 0 -0 1 1.0000000000000002 nan 1e300; do
	trial=$((trial + 1))
	"$HPOTUNE" ask wide.json >out
	"$HPOTUNE" tell wide.json $trial step=1 acc=$value --done >out
done
made wide

# Nothing to be chosen, and more than a page has room for.

study fixed 1 -e '/"lr"/d; /"layers"/d; /"opt"/d; /"momentum"/d; /"when"/d' \
    -e '/"beta"/d; /"scale"/d'
"$HPOTUNE" start -q fixed.json
made fixed
unlike "$(page text fixed.html)" 'Parameters and results|that mattered' \
    'fixed: nothing is reported of parameters'
study plenty 20 -e '/"when"/d' -e 's/"stopping".*/"stopping": "none",/' \
    -e "s|\"momentum.*|$(for i in $(seq 40); do
	printf '"p%d": { "type": "float", "min": 0, "max": 1 }, ' "$i"
done)|"
"$HPOTUNE" start -q plenty.json
made plenty
text=$(page text plenty.html)
like "$text" '^24 of 44 parameters are drawn' 'plenty: not all are drawn'
is "$(page rows plenty.html 'Parameters that mattered' | wc -l)" 25 \
    'plenty: nor in the table'
is "$(page rows plenty.html 'Best trials' | cut -d '|' -f 1 | head -n 7 | tr '\n' ' ')" \
    'trial state acc step seconds lr layers ' \
    'plenty: each parameter has a line in the table of the best trials'
is "$(page rows plenty.html 'Best trials' | sed -n 1p | cut -d '|' -f 2-)" \
    "$(sql plenty.db "SELECT group_concat(trial, '|') FROM (SELECT trial FROM
	trials ORDER BY objective DESC, trial LIMIT 8)")" \
    'plenty: and each of the best eight a column'

is "$(grep -o 'data-axis="[^"]*"' plenty.html | sed 's/.*="//; s/"//' |
    grep -v acc | sort)" "$(page rows plenty.html 'Parameters that mattered' |
    sed 's/|.*//' | head -n 12 | sort)" \
    'plenty: the axes are those of the parameters that matter most'

# Several objectives.

study_aims='"objectives": [ { "metric": "acc", "goal": "maximize" },
    { "metric": "cost", "goal": "minimize" } ],
  "constraints": [ { "metric": "size", "max": 0.4 } ]'
study pair 20 -e '/stopping/d'
unset study_aims
"$HPOTUNE" start -q pair.json
made pair
is "$(page rows pair.html Front | sed 1d | cut -d '|' -f 1)" \
    "$(sql pair.db 'SELECT trial FROM front ORDER BY acc DESC')" \
    'pair: the front'
ok 'pair: some break the constraint' test "$(sql pair.db \
    'SELECT count(*) FROM outcomes WHERE violation > 0')" -gt 3
is "$(page text pair.html | grep ', breaks a constraint$' | sort -u | wc -l)" \
    "$(sql pair.db "SELECT count(DISTINCT trial) FROM outcomes JOIN trials
	USING (trial) WHERE violation > 0 AND trials.objective IS NOT NULL")" \
    'pair: trials that violate a constraint are marked'
is "$(page count pair.html pick)" \
    "$(sql pair.db 'SELECT count(*) FROM front')" 'pair: each has its ring'
text=$(page text pair.html)
for section in 'Parallel coordinates' 'Parameters that mattered: acc' \
    'Parameters that mattered: cost'; do
	like "$text" "^$section\$" "pair: the section $section"
done
is "$(grep -o 'class="axis aim" [^>]* data-axis="[a-z]*"' pair.html |
    sed 's/.*="//; s/"//' | tr '\n' ' ')" 'acc cost ' \
    'pair: each objective has an axis'
is "$(page text pair.html | sed -n 's/^acc against //p' | head -n 1)" \
    "$(page rows pair.html 'Parameters that mattered: acc' | head -n 1 |
    cut -d '|' -f 1)" 'pair: the charts are in the order of the first objective'

# Whatever is said in a study is text.

evil='<script>alert("1")</script>&amp;'"'x"
odd=']]>--><!-- \u202e \uffff'
study_one="\"$(printf %s "$evil$odd" | sed 's/"/\\"/g')\""
study evil 3 -e $same
for trial in 1 2 3; do
	"$HPOTUNE" ask evil.json >out
	"$HPOTUNE" tell evil.json $trial step=1 acc=0.$trial >out
done
"$HPOTUNE" tell evil.json 1 --done >out
"$HPOTUNE" tell evil.json 2 --done >out
"$HPOTUNE" tell evil.json 3 --failed \
    --why "$(printf '</td>%s\033[2J\tand\nmore' "$evil")" >out
sqlite3 evil.db "INSERT INTO t_event (time_us, level, area, text) VALUES
    (1, 'error', 'a', '<iframe src=\"//x\"></iframe>' || char(0x85) ||
    CAST(x'fffe' AS TEXT))"
made evil
text=$(page text evil.html | tee text)
ok 'evil: a choice is as it was written, but for what would be obeyed' \
    quietly grep -Fx "$evil]]>--><!-- \xe2\x80\xae \xef\xbf\xbf" text
like "$text" '</td><script>.*\\x1b\[2J\\x09and\\x0amore$' 'evil: so is why a trial failed'
like "$text" '<iframe src="//x"></iframe>\\xc2\\x85\\xff\\xfe' \
    'evil: and bytes that are no text'
is "$(grep -c '<script' evil.html)" 1 'evil: one script, ours'
"$HPOTUNE" report --no-script --output bare.html evil.db >/dev/null
is "$(page check bare.html)" '' 'evil: the page without a script is sound'
unlike "$(cat bare.html)" '<script|<iframe|<!-- \\|]]>' \
    'evil: nothing of it is markup'

# Other metrics, and the study itself.

study metrics 2 $same
"$HPOTUNE" ask metrics.json >/dev/null
"$HPOTUNE" tell metrics.db 1 step=1 acc=0.5 loss=0.7 >/dev/null
"$HPOTUNE" tell metrics.db 1 step=2 acc=0.6 loss=0.4 >/dev/null
"$HPOTUNE" tell --done metrics.db 1 >/dev/null
made metrics
like "$(cat metrics.html)" 'aria-label="loss of 1 trial by step"' \
    'metrics: the other metric is drawn'
is "$(page rows metrics.html 'The study' | sed -n '1,3p;6p')" \
    'parameter|type|range|default|only when
lr|float|0.0001 to 0.3, logarithmic||
layers|int|1 to 4||
beta|float|0.9 to 0.9999, logarithmic near 1||' 'metrics: the parameters with their ranges'

# Files that are there.

echo 'my own' >mine.html
fails 'what is no report is not overwritten' 1 \
    quietly "$HPOTUNE" report one.db --output mine.html
is "$(cat mine.html)" 'my own' 'it is as it was'
like "$(cat err)" '^hpotune: mine.html: .*--output' \
    'and the error gives the reason'
ln -s one.html link.html
fails 'nor is a link' 1 quietly "$HPOTUNE" report one.db -o link.html
fails 'nor a device' 1 quietly "$HPOTUNE" report one.db -o /dev/null
fails 'a folder that is not there is an error' 1 \
    quietly "$HPOTUNE" report one.db -o nowhere/one.html
cp one.html before.html
cp all.html one.html
fails 'an earlier report is replaced' 0 quietly "$HPOTUNE" report one.db
is "$(page text one.html)" "$(page text before.html)" 'by the new one'
is "$(find . -name '*.part')" '' 'nothing is left beside them'

# Many trials: a page that is not larger than it can be.

study many 3000 -e 's/"noise": 0/"noise": 0.05, "slots": 32/' \
    -e 's/0.0001/0/'
"$HPOTUNE" start -q many.json
made many
text=$(page text many.html)
like "$text" '^60 of 3000 curves are drawn' 'many: most curves are left out'
like "$text" '^3000 trials: marks that would cover' 'many: so are marks'
like "$text" '^3000 attempts: bars' 'many: and bars'
like "$text" '^The best 25 of ' 'many: and rows'
ok 'many: so it is small' test "$(wc -c <many.html)" -lt 300000

# GPUs: a row for each, in the order of their numbers.

cat >gpus.json <<'END'
{ "study": "gpus", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "trial": { "command": ["sh", "-c",
      "echo hpotune: step=1 loss=0.$HPOTUNE_TRIAL"], "gpus": 2 },
  "backend": { "name": "local",
    "gpus": { "simulate": 12, "memory": "16GiB" } },
  "limits": { "trials": 12 } }
END
"$HPOTUNE" start -q gpus.json
made gpus
is "$(grep -o '>gpu [0-9]*<' gpus.html | tr -dc '0-9\n' | sort -n | tr '\n' ' ')" \
    '0 1 2 3 4 5 6 7 8 9 10 11 ' 'GPUs: each has a row'
is "$(grep -o 'y="[0-9.]*">gpu [0-9]*<' gpus.html | tr -d 'y="<' |
    sort -n | sed 's/.*>gpu //' | tr '\n' ' ')" \
    '0 1 2 3 4 5 6 7 8 9 10 11 ' 'GPUs: from the first to the last'
is "$(grep -o 'b-ok"[^>]*><title>[^<]* gpu 0,1, 2 GPUs<' gpus.html | wc -l)" \
    "$(($(sql gpus.db "SELECT 2 * count(*) FROM attempts WHERE
    place LIKE '% gpu 0,1'")))" 'GPUs: a trial on two of them stands in both rows'

# A study that runs is read without a server's leave.

study running 100000 -e 's/0.0001/0.05/'
server running.json -q
retry sql_is running.db 'SELECT count(*) FROM attempts
    WHERE started IS NOT NULL AND ended IS NULL' 3
made running
like "$(page text running.html)" '^running, as of 2' 'running: its state'
like "$(page text running.html)" '^runs$' 'running: attempts that run'
is "$(page count running.html b-bad)" 0 'running: and none that failed'
"$HPOTUNE" stop running.json >out
reap "$server"

done_testing
