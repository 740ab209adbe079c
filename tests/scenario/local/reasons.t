#!/bin/sh
# A trial without a result: its reason names what its output shows, in every
# place that prints one.  tests/unit/trials/t_metric_unread.c has each finding.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

# One trial of a program that prints text; keys of trial may follow.
reason() { # name text [keys-of-trial]
	printf '%s\n' "$2" >"$1.txt"
	cat >"$1.json" <<-EOF
	{ "study": "$1", "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "trial": { "command": ["cat", "{study_dir}/$1.txt"], "retries": 0${3-} },
	  "limits": { "trials": 1 } }
	EOF
	"$HPOTUNE" start "$1.json" >"$1.out" 2>&1
	sql "$1.db" 'SELECT why FROM trials'
}
begin='it ended without a report of loss'

# What a pattern found is no number: in every place that prints a reason.
want="$begin; the pattern of loss in trial.metrics matched, but the text of its \
group, \"0.5,\", is not a number; its last line: epoch 1 loss 0.5, acc 0.9"
is "$(reason matched 'epoch 1 loss 0.5, acc 0.9' \
    ', "metrics": [ { "name": "loss", "regex": "loss (.*,)" } ]')" "$want" \
    'a pattern that matched what is no number'
text='the text of its group, "0.5,", is not a number'
for command in 'trials matched.db' 'show matched.db 1' 'try matched.json x=0.5' \
    'check --log matched.txt matched.json'; do
	# shellcheck disable=SC2086
	COLUMNS=400 "$HPOTUNE" $command >out 2>&1
	ok "hpotune $command has it" grep -qF "$text" out
done
ok 'start has it' grep -qF "$text" matched.out
ok 'and the report' sh -c '"$HPOTUNE" report -o page.html matched.db &&
    grep -q "the text of its group, &quot;0.5,&quot;, is not a number" page.html'
ok 'nothing says that it matched no line' \
    sh -c '! grep -l "matched no line" matched.out out page.html'

# Each of the others, by its reader.
is "$(reason none 'all is well' \
    ', "metrics": [ { "name": "loss", "regex": "loss (.*)" } ]')" \
    "$begin; the pattern of loss in trial.metrics matched no line; its last \
line: all is well" 'a pattern that matched no line'
like "$(reason word 'hpotune: loss=half')" \
    "^$begin; the line \"hpotune: loss=half\" was not read: a value is not" \
    'a tagged line with a text'
like "$(reason prefix 'it was said hpotune: loss=1 all')" \
    "^$begin; loss stands " 'a report in the middle of a line'
like "$(reason nested '{"val": {"loss": {"mean": "x"}, "it": 1}, "loss": "n/a"}' \
    ', "reads": "json"')" \
    "^$begin; .*loss stands in a line of JSON with the text \"n/a\"" \
    'JSON with a text'
like "$(reason json '{"step": 1, "loss": 0.5}')" \
    "^$begin; loss stands in a line of JSON, .* which trial.reads \"json\" would" \
    'JSON that is not read'

# A file: not there, or there without a number.
file() { # name text
	cat >"$1.json" <<-EOF
	{ "study": "$1", "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "trial": { "command": ["sh", "-c", "[ -z '$2' ] || printf '$2' >\$HPOTUNE_OUTPUT_DIR/m.csv"],
	    "retries": 0,
	    "metrics": [ { "from": "csv", "path": "{output_dir}/m.csv" } ] },
	  "limits": { "trials": 1 } }
	EOF
	"$HPOTUNE" start -q "$1.json" 2>/dev/null
	sql "$1.db" 'SELECT why FROM trials'
}
nothing='nothing that trial.reads and trial.metrics name was found'
is "$(file away '')" "it ended without a report: $nothing" 'no file'
like "$(file text 'step,loss\\n1,n/a\\n')" \
    "^$begin; .*/m\\.csv was read, and has no number of loss: the text \"n/a\" in its column loss is not a number\$" \
    'a file with a text in its place'
like "$(file long 'step,name,value\\n1,loss,0.5\\n')" \
    "has no number of loss: loss is a cell of its column name, and not the name of a column\$" \
    'a file with the names in a column'
like "$(file zip '\\037\\213\\010abc')" \
    "has no number of loss: it is compressed by gzip\$" 'a file that is no text'
like "$(file bare '1,0.5\\n2,0.4\\n')" \
    "^$begin; .*/m\\.csv was read, and has no number of loss: it has no line with the names of its columns\$" \
    'a file without names'

# Not a number, now and then, and always.
cat >values <<'EOF'
#!/bin/sh
for v; do echo "hpotune: loss=$v"; done
EOF
chmod +x values
not_finite() { # name keys-of-objective value …
	name=$1 keys=$2
	shift 2
	cat >"$name.json" <<-EOF
	{ "study": "$name", "objective": { "metric": "loss", "goal": "minimize"$keys },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "trial": { "command": ["{study_dir}/values", $(printf '"%s", ' "$@")"nan"],
	    "retries": 0 }, "stopping": "none", "limits": { "trials": 1 } }
	EOF
	"$HPOTUNE" start -q "$name.json" 2>/dev/null
	sql "$name.db" 'SELECT state, why FROM trials'
}
is "$(not_finite last ', "value": "last"' 0.5 0.4)" \
    'failed|its last report of loss was not a finite number, and objective.value is last (2 of 3 steps have one)' \
    'the last one is no number: the others are counted'
is "$(not_finite never '' inf nan)" \
    'failed|loss was a finite number at no step of 3' 'none is a number'
"$HPOTUNE" try last.json x=0.5 >out 2>&1
like "$(cat out)" '^missing: objective loss: its last report is not a finite number$' \
    'try names the last one, too'

# The server that read the line was killed: the next one still knows.
cat >slow <<'EOF'
#!/bin/sh
echo 'loss 0.5,'
: >"$1"
while [ ! -e "$2" ]; do sleep 0.05; done
EOF
chmod +x slow
cat >kill.json <<EOF
{ "study": "kill", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "trial": { "command": ["{study_dir}/slow", "{study_dir}/up", "{study_dir}/go"],
    "retries": 0, "metrics": [ { "name": "loss", "regex": "loss (.*)" } ] },
  "limits": { "trials": 1 } }
EOF
server kill.json
retry test -e up
cursor_moved() {
	[ "$(sql kill.db 'SELECT log_offset FROM t_attempt')" -gt 0 ]
}
retry cursor_moved
kill -9 "$child"
wait "$child" 2>/dev/null
: >go
"$HPOTUNE" start -q kill.json 2>/dev/null
is "$(sql kill.db 'SELECT why FROM trials')" \
    "$begin; the pattern of loss in trial.metrics matched, but the text of its \
group, \"0.5,\", is not a number; its last line: loss 0.5," 'a line that an earlier server has read'
done_testing
