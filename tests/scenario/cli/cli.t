#!/bin/sh
# The command line: usage from the table, one-line errors, exit statuses, valid
# JSON, and the output of the reading commands.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

# Run hpotune; $status, $out and $err say how it went.
run() {
	"$HPOTUNE" "$@" >"$dir/run.out" 2>"$dir/run.err"
	status=$?
	out=$(cat "$dir/run.out")
	err=$(cat "$dir/run.err")
}

# One line on stderr, "hpotune: ...", nothing on stdout, this status.
refused() { # status pattern command ...
	want=$1
	pattern=$2
	shift 2
	run "$@"
	is "$status" "$want" "$*: exit status"
	is "$(wc -l <"$dir/run.err")" 1 "$*: one line"
	like "$err" "^hpotune: .*$pattern" "$*: says why"
	is "$out" '' "$*: nothing on stdout"
}

json_ok() { # command ...: prints one JSON document
	run "$@" --json
	is "$status" 0 "$* --json: exit status"
	is "$(sqlite3 :memory: "SELECT json_valid(readfile('run.out'))")" 1 \
	    "$* --json: is JSON"
}

json() { # path: of the last output
	sqlite3 :memory: "SELECT json_extract(readfile('run.out'), '$1')"
}

commands=$("$HPOTUNE" help | sed -n 's/^  \([a-z]*\) .*/\1/p')

# Usage.

run
is "$status" 2 'no command: exit status'
like "$err" '^usage: hpotune' 'no command: usage on stderr'
run --version
is "$status" 0 '--version: exit status'
like "$out" '^hpotune [0-9]' '--version: name and number'
run --help
is "$status" 0 '--help: exit status'
like "$out" '^  start ' '--help: lists the commands'
for command in $commands; do
	run "$command" --help
	is "$status" 0 "$command --help: exit status"
	like "$out" "^usage: hpotune $command" "$command --help: its usage"
done

# Wrong command lines.

refused 2 'did you mean start' strat
refused 2 'stat: no such command: did you mean status?' stat
refused 2 'sta: no such command: did you mean start or status?' sta
refused 2 'star: no such command: did you mean start?' star
refused 2 'kill: no such command: did you mean stop' kill
refused 2 'list: no such command: did you mean trials' list
refused 2 'run: no such command: did you mean start' run
# What is no study is not passed over, the study of the folder would be meant.
for command in start check status watch trials best pause resume doctor; do
	refused 2 "$command: elsewhere: not a study: expected study.json or NAME.db" \
	    "$command" elsewhere
done
refused 2 'no such command' flabbergast
refused 2 'did you mean --limit' trials --limti 3
refused 2 'no option -z' trials -z
refused 2 'requires a value' trials --limit
refused 2 'takes no value' trials --reverse=yes
refused 2 'one argument too many' version 3
refused 2 'not enough arguments' show
refused 2 'after the command' --json status
refused 2 'did you mean sobol' strategies sobl
refused 2 'did you mean median' rules medain

# No study, several, wrong ones.

refused 2 'neither study.json nor' status
refused 2 'No such file' status nothing.db
refused 2 'No such file' check nothing.json
: >a.db
: >b.db
refused 2 'several' status
rm a.db b.db
echo 'this is no database, whatever its name says' >c.db
refused 1 'c.db' status c.db
rm c.db

# A study without processes.

cat >study.json <<'END'
{
  "study": "demo",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "lr": { "type": "float", "min": 1e-4, "max": 1, "scale": "log" },
    "layers": { "type": "int", "min": 1, "max": 4 },
    "name": { "type": "choice", "values": ["it's", "b c"] }
  },
  "strategy": { "name": "random", "seed": 3 },
  "stopping": { "rule": "median", "warmup_steps": 3, "min_trials": 3 },
  "trial": { "command": ["./train", "{params}"], "max_steps": 30 },
  "backend": { "name": "pretend", "seconds_per_step": 0.01 },
  "limits": { "trials": 30, "parallel": 3 }
}
END
run check
is "$status" 0 'check: exit status'
like "$out" 'lr .*float .*0.0001 to 1 .*log' 'check: the parameters'
like "$out" './train --lr=' 'check: the command of an example'
like "$out" '^trials +30' 'check: the number of trials'
like "$out" '^slots +3' 'check: the slots'
is "$(ls)" "$(printf 'run.err\nrun.out\nstudy.json')" 'check: creates nothing'
json_ok check
is "$(json '$.trials')" 30 'check --json: trials'
refused 2 'start creates it' trials

run start
is "$status" 0 'start: exit status'
for command in status watch trials best strategies rules doctor \
    'show 1' 'check'; do
	json_ok $command
done

# trials.

run trials
is "$(wc -l <run.out)" 31 'trials: a line for each and one head'
run trials --state stopped --json
is "$(json '$[#-1].state')" stopped 'trials --state'
is "$(sqlite3 :memory: "SELECT json_array_length(readfile('run.out'))")" \
    "$(sql demo.db "SELECT count(*) FROM trials WHERE state = 'stopped'")" \
    'trials --state: all of them'
run trials --sort objective --limit 1 --json
is "$(json '$[0].trial')" "$(sql demo.db "SELECT trial FROM trials
    WHERE objective IS NOT NULL ORDER BY objective LIMIT 1")" \
    'trials --sort objective: the best first'
run trials --sort trial --reverse -n 2 --json
is "$(json '$[0].trial') $(json '$[1].trial')" '30 29' 'trials --reverse -n'
for limit in '--limit 2' --limit=2 '-n 2' -n2 '-rn2'; do
	run trials $limit
	is "$(wc -l <run.out)" 3 "trials $limit"
done
run trials -- demo.db
is "$status" 0 'trials -- demo.db'
refused 2 'did you mean stopped' trials --state stoped
refused 2 'no such column: did you mean seconds' trials --sort second
refused 2 'no such column, there are: trial, objective, .*energy_joules$' \
    trials --sort elephants
refused 2 'no such state, there are: waiting,' trials --state elephants
# What is listed is what there is.
for column in $("$HPOTUNE" trials --sort elephants 2>&1 |
    sed 's/.*: //; s/,//g'); do
	run trials --sort "$column"
	is "$status" 0 "trials --sort $column"
done
refused 2 'whole number' trials --limit 0
is "$("$HPOTUNE" trials demo.db | head -1)" "$("$HPOTUNE" trials | head -1)" \
    'a study by the name of its database'

# best, and a command line that a shell reads back.

run best
best=$(sql demo.db 'SELECT trial FROM best')
like "$out" "^trial $best, completed: loss " 'best: number and value'
like "$out" '^  lr +[0-9.e-]+$' 'best: parameters'
unlike "$out" '^(model|output) *$' 'best: no artifact of a local trial'
again=$(printf '%s\n' "$out" | sed -n 's/^again: .* && env .* \.\/train/.\/train/p')
eval "set -- $again"
is "$1" ./train 'best: the command'
is "${4#--name=}" "$(sql demo.db "SELECT json_extract(params, '\$.name')
    FROM best")" 'best: quoted for a shell'
json_ok importance
is "$(json '$.method')" ped-anova 'importance --json: the method'
ok 'importance --json: shares add up to 1' test "$(sqlite3 :memory: "SELECT
    abs(sum(value) - 1) < 1e-9 FROM json_each(readfile('run.out'),
    '\$.importance')")" = 1
run importance --method fanova --stopped
like "$out" '^fANOVA of [0-9]* trials: single parameters explain [0-9]* %' \
    'importance: fANOVA states what it explains'
refused 2 'expected ped-anova or fanova' importance --method anova
refused 2 'between 0 and 1' importance --quantile 2

# The better half of x is the worse half where the choice is b.
mkdir pairs
cat >pairs/s.json <<'END'
{ "study": "pairs",
  "objective": { "metric": "acc", "goal": "maximize" },
  "parameters": { "x": { "type": "int", "min": 0, "max": 9 },
    "kind": { "type": "choice", "values": ["a", "b"] } },
  "strategy": { "name": "grid" }, "stopping": "none",
  "trial": { "command": ["sh", "-c",
    "v=$0; [ $1 = a ] || v=$((9 - v)); echo hpotune: step=1 acc=$v",
    "{x}", "{kind}"] },
  "limits": { "trials": 20, "parallel": 4 } }
END
"$HPOTUNE" start -q pairs/s.json
json_ok importance pairs/s.json
is "$(json '$.interactions[0].parameters')" '["x","kind"]' \
    'importance --json: the pair that interacts'
ok 'importance --json: it explains most of the variance' awk -v \
    share="$(json '$.interactions[0].share')" 'BEGIN { exit !(share > 0.5) }'
run importance pairs/s.json
like "$out" '^x and kind +0\.[0-9]+ +#' 'importance: the pair that interacts'

# Objective a is x, objective b is y.
cat >pairs/two.json <<'END'
{ "study": "two",
  "objectives": [ { "metric": "a", "goal": "maximize" },
    { "metric": "b", "goal": "minimize" } ],
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 },
    "y": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "sobol", "seed": 3 }, "stopping": "none",
  "trial": { "command": ["sh", "-c",
    "echo hpotune: step=1 a=$0 b=$1", "{x}", "{y}"] },
  "limits": { "trials": 40, "parallel": 4 } }
END
"$HPOTUNE" start -q pairs/two.json
json_ok importance pairs/two.json
is "$(json '$.metric') $(json '$.others[0].metric') $(json '$.others[1]')" \
    'a b ' 'importance --json: each objective'
ok 'importance --json: what matters to each' awk -v x="$(json '$.importance.x')" \
    -v y="$(json '$.others[0].importance.y')" \
    'BEGIN { exit !(x > 0.9 && y > 0.9) }'
is "$(json '$.others[0].trials')" 40 'importance --json: of so many trials'
run importance pairs/two.json
is "$(printf '%s\n' "$out" | sed -n '/^[a-z]*ize /p')" 'maximize a:
minimize b:' 'importance: each objective'
like "$(printf '%s\n' "$out" | sed -n '/^minimize b:$/,$p' | sed -n 3p)" \
    '^y +(1|0\.9)' 'importance: what matters to the second one'
sqlite3 pairs/two.db 'UPDATE t_outcome SET value = NULL WHERE position =
    (SELECT position FROM t_outcome ORDER BY position DESC LIMIT 1)'
run importance pairs/two.json
is "$(printf '%s\n' "$out" | sed -n '/^minimize b:$/,$p')" 'minimize b:
fewer than two trials have a result' 'importance: an objective without results'
json_ok importance pairs/two.json
is "$(json '$.others[0].importance')" '{}' 'importance --json: the same'
run best --json
is "$(json '$.command[0]')" ./train 'best --json: the command'

# show.

stopped=$(sql demo.db "SELECT min(trial) FROM trials WHERE state = 'stopped'")
run show "$stopped"
is "$status" 0 'show: exit status'
like "$out" "^trial $stopped: stopped" 'show: what became of it'
like "$out" '^  trial   [▁▂▃▄▅▆▇█]+' 'show: its curve'
like "$out" '^  median  [▁▂▃▄▅▆▇█]+' 'show: the median beside it'
like "$out" '^ *[0-9]+ +stop +median ' 'show: the judgement'
run show --json "$stopped"
is "$(json '$.stops[#-1].verdict')" stop 'show --json: the judgement'
refused 2 'no trial 31' show 31
refused 2 'whole number' show one
refused 1 "attempt-1" logs 1

# A screen that fits, in the colours that are allowed.

if command -v script >/dev/null; then
	screen=$(TERM=xterm script -qec "stty cols 60; '$HPOTUNE' trials" \
	    /dev/null </dev/null | tr -d '\r')
	is "$(printf '%s\n' "$screen" | sed 's/\x1b\[[0-9;]*m//g; s/…/./g' |
	    awk 'length($0) > 60' | wc -l)" 0 'trials: fits the terminal'
	like "$screen" "$(printf '\033')" 'a terminal gets colours'
	screen=$(NO_COLOR=1 TERM=xterm script -qec "'$HPOTUNE' trials" \
	    /dev/null </dev/null)
	unlike "$screen" "$(printf '\033')" 'NO_COLOR: none'
	screen=$(TERM=xterm script -qec "'$HPOTUNE' watch" /dev/null \
	    </dev/null)
	like "$screen" "^$(printf '\033')\\[H$(printf '\033')\\[J.*demo" \
	    'watch: clears a terminal'
else
	skip 'a terminal' 'script(1) is not installed'
fi
LC_ALL=C run show "$stopped"
unlike "$out" '▁|█' 'without UTF-8, sparklines are ASCII'

run doctor
like "$out" '^(ok|bad) +file system ' 'doctor: the file system'
like "$out" '^(ok|warning) +SQLite +3\.' 'doctor: the version of SQLite'
run strategies grid
like "$out" 'levels = 5 ' 'strategies: options with defaults'
if [ -w /dev/full ]; then
	"$HPOTUNE" trials 2>run.err >/dev/full
	is $? 1 'output that cannot be written is a failure'
fi

# A study all of whose trials fail at once says why in its last words.
mkdir bad
cat >bad/study.json <<'END'
{ "study": "bad",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "trial": { "command": ["sh", "-c", "exit 7"], "retries": 100 },
  "limits": { "trials": 30, "parallel": 1 } }
END
run start bad/study.json
is "$status" 1 'all trials fail: exit status'
like "$out" ' 20 trials, 0 completed, .* 20 waiting$' 'it ends early'
like "$out" '^nothing works: 20 different trials failed at once, and none has reported; the last, trial 20, with: exit status 7$' \
    'and the reason is reported'
sed -i 's/exit 7/echo hpotune: loss=1/' bad/study.json
run start --quiet bad/study.json
is "$(sql bad/bad.db "SELECT count(*), min(state), max(state)
    FROM trials WHERE trial <= 20 AND attempts > 1")" '20|completed|completed' \
    'mended, it continues with these trials'
is "$(sql bad/bad.db "SELECT completed + failed FROM study")" 30 \
    'none is missing'
sed -i 's/"bad"/"far"/' bad/study.json
json_ok start --detach bad/study.json
is "$(json '$.study')" far 'start --detach --json: the study'
ok 'and its server, which ran it' retry sql_is bad/far.db \
    'SELECT completed FROM study' 30
retry sql_is bad/far.db 'SELECT state FROM study' finished

# A study whose database is elsewhere is named by that.
mkdir away there
sed 's/"far"/"away"/' bad/study.json >away/study.json
run start --quiet --state there away/study.json
is "$status $(ls there | tr '\n' ' ')" '0 away.d away.db ' 'start --state'
for command in status best stop pause 'enqueue x=0'; do
	set -- $command
	name=$1
	shift
	refused 2 'does not exist yet: .* --state DIR, give DIR/away\.db$' \
	    "$name" away/study.json "$@"
done
is "$(ls away)" study.json 'nothing is made there'
refused 2 'there/away\.db stays in its own folder' \
    start there/away.db --state away
run start --quiet there/away.db --state there
is "$status" 0 'start NAME.db --state: where it is'
run status there/away.db
is "$status" 0 'status NAME.db'

# What sqlite3 leaves when a study is looked at before its start.
mkdir early
sed 's/"far"/"early"/' bad/study.json >early/study.json
: >early/early.db
run start --quiet early/study.json
is "$status $(sql early/early.db 'SELECT completed FROM study')" '0 30' \
    'an empty file is no study: start makes one'
rm -r early/early.*
: >early/early.db
run ask early/study.json
is "$status $(sql early/early.db 'SELECT count(*) FROM trials')" '0 1' \
    'so does ask'

# A path that SQLite cannot have.
long=$dir/$(printf '%0200d/%0200d/%0200d' 0 0 0)
mkdir -p "$long"
cat >"$long/study.json" <<'END'
{ "study": "deep", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "backend": { "name": "pretend", "seconds_per_step": 0.001 },
  "trial": { "command": ["true"], "max_steps": 2 }, "stopping": "none",
  "limits": { "trials": 1 } }
END
"$HPOTUNE" start "$long/study.json" >out 2>err
is $? 1 'start: a path that is too long: exit status'
like "$(cat err)" \
    'limited to 504 bytes, this one has [0-9]*: choose another folder with --state' \
    'start: and what to do'
"$HPOTUNE" start "$long/study.json" --detach >out 2>err
is $? 1 'start --detach: the same'
is "$(ls "$long")" study.json 'start: nothing is left behind'
ok 'start: --state does' "$HPOTUNE" start "$long/study.json" --state . --quiet

# Another study's database under a name of one's own.
mkdir linked
cat >linked/real.json <<'END'
{ "study": "real", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "backend": { "name": "pretend", "seconds_per_step": 0.001 },
  "trial": { "command": ["true"], "max_steps": 2 }, "stopping": "none",
  "limits": { "trials": 1 } }
END
"$HPOTUNE" start linked/real.json --quiet
sed 's/"real"/"mine"/' linked/real.json >linked/mine.json
ln -s real.db linked/mine.db
"$HPOTUNE" start linked/mine.json >out 2>err
is $? 2 'a link to the database of another study: exit status'
like "$(cat err)" 'real.db: holds the study real and not mine' \
    'which study it holds'

done_testing
